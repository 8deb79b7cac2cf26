import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { newName } from '../support/run/new-name.ts';
import { axeFaults } from './support/axe.ts';
import { atPresent, post, report, turn } from './support/calls.ts';
import { reader, useBrowser } from './support/visit.ts';

/* What is done with several rows of the list at once. */

const visit = useBrowser();
const second = 1000;
const link = (project: string, search = '') => `traces?project=${encodeURIComponent(project)}${search}`;

/** A project of its own with so many traces, the newest with a tree. */
const seed = async (kind: string, count: number, from = 0): Promise<string> => {
  const project = newName(`page/bulk-${kind}`);
  await report(
    project,
    Array.from({ length: count }, (_, at) => ({
      id: `row-${at}`,
      name: `Row ${String(at).padStart(2, '0')}`,
      at: from + at * second,
      inputs: { question: `What is ${at}?` },
      ...(at === 1 && { attributes: { tags: ['reported'] } }),
    })),
  );
  await report(project, turn('turn', from + 100 * second));
  return project;
};

const bar = (page: Page) => page.getByRole('toolbar', { name: 'Selected rows' });
const box = (page: Page, name: string) => page.getByLabel(`Select ${name}`, { exact: true });
const names = (page: Page): Promise<string[]> => page.locator('.row-link').allInnerTexts();
const selected = (page: Page, count: string) => bar(page).getByText(`${count} selected`).waitFor();

/** What is stored of a project's calls, by their ids. */
const storedIds = async (project: string): Promise<string[]> => {
  const { count } = (await post('/calls/query_stats', { project_id: project })) as { count: number };
  const ids = Array.from({ length: 60 }, (_, at) => `row-${at}`);
  const reads = ids.map(async (id) => {
    const { call } = (await post('/call/read', { project_id: project, id })) as { call: object | null };
    return call ? [id] : [];
  });
  return [String(count), ...(await Promise.all(reads)).flat()];
};

describe('rows', () => {
  let project: string;
  beforeAll(async () => {
    project = await seed('select', 8);
  });

  it('are selected one by one, in ranges, by keyboard and all at once', async () => {
    const page = await visit(link(project));
    await box(page, 'Row 06').click();
    await box(page, 'Row 03').click({ modifiers: ['Shift'] });
    await selected(page, '4');
    await box(page, 'Row 05').click();
    await selected(page, '3');
    await bar(page).getByRole('button', { name: 'Select all 9 loaded' }).click();
    await selected(page, '9');
    await bar(page).getByRole('button', { name: 'Clear selection' }).click();
    await bar(page).waitFor({ state: 'detached' });
    for (const key of ['j', 'x', 'j', 'j', 'Shift+X']) await page.keyboard.press(key);
    await selected(page, '3');
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(3);
    await page.keyboard.press('x');
    await bar(page).getByRole('button', { name: 'Compare the two' }).waitFor();
  });

  it('are selected in their list: not in that of another filter, and still in theirs', async () => {
    const page = await visit(link(project));
    await box(page, 'Row 06').click();
    await selected(page, '1');
    await page.getByLabel('Search in all calls').fill('Row 05');
    await page.keyboard.press('Enter');
    await page.waitForURL(/text=/);
    await bar(page).waitFor({ state: 'detached' });
    await page.goBack();
    await selected(page, '1');
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(1);
  });

  it('are only looked at with a key that may read', async () => {
    const page = await visit(link(project), { as: reader });
    await box(page, 'Row 06').click();
    await bar(page).getByText('Changing them takes a key with the role write.').waitFor();
    expect(await bar(page).getByRole('button').allInnerTexts()).toEqual(['Select all 9 loaded', '']);
  });

  it('have a bar and dialogs without faults that axe knows, also on a phone', async () => {
    const page = await visit(link(project));
    await box(page, 'Row 06').click();
    await bar(page).getByRole('button', { name: 'Tag' }).click();
    await page.getByRole('dialog', { name: 'Tag' }).getByText('Nobody has tagged them yet.').waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
    await page.keyboard.press('Escape');
    await bar(page).getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog', { name: 'Delete 1 trace?' }).waitFor();
    await page.keyboard.press('Escape');
    await selected(page, '1');
  });
});

describe('deleting', () => {
  it('says what goes, takes what is below, and closes what is beside the list', async () => {
    const project = await seed('delete', 3);
    const page = await visit(link(project));
    await page.getByRole('link', { name: 'Turn turn' }).click();
    await page.getByRole('treeitem').nth(3).waitFor();
    await box(page, 'Turn turn').check();
    await box(page, 'Row 01').check();
    await bar(page).getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete 2 traces?' });
    await dialog.getByText('5 calls in all').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await names(page)).toHaveLength(4);
    await bar(page).getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete 2 traces' }).click();
    await bar(page).getByText('2 traces are deleted.').waitFor();
    expect(await names(page)).toEqual(['Row 02', 'Row 00']);
    await page.getByRole('complementary', { name: 'Trace beside the list' }).waitFor({ state: 'detached' });
    expect(await storedIds(project)).toEqual(['2', 'row-0', 'row-2']);
  });

  it('goes in batches, tries again when the service is busy, and leaves what failed selected', async () => {
    const project = await seed('batches', 60);
    const page = await visit(link(project), { expected: /status 50[03]|calls\/delete|50[03]/ });
    const statuses = [503, undefined, 500];
    await page.route('**/calls/delete', async (route) => {
      const status = statuses.shift();
      if (status === undefined) await route.continue();
      else await route.fulfill({ status, body: '{}' });
    });
    await page.getByText('61 rows', { exact: true }).waitFor();
    await page.getByLabel('Select all loaded rows').check();
    await bar(page).getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete 61 traces' }).click();
    await bar(page).getByText('What is still selected was not deleted.').waitFor();
    await selected(page, '11');
    expect(await names(page)).toHaveLength(11);
    expect((await storedIds(project)).length).toBe(12);
    await bar(page).getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete 11 traces' }).click();
    await bar(page).getByText('11 traces are deleted.').waitFor();
    expect(await storedIds(project)).toEqual(['0']);
  });

  it('is stopped after the batch that is under way', async () => {
    const project = await seed('stopped', 60);
    const page = await visit(link(project));
    const { promise: isStopped, resolve } = Promise.withResolvers<void>();
    await page.route('**/calls/delete', async (route) => {
      await isStopped;
      await route.continue();
    });
    await page.getByText('61 rows', { exact: true }).waitFor();
    await page.getByLabel('Select all loaded rows').check();
    await bar(page).getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete 61 traces' }).click();
    await bar(page).getByText('Deleting 61 traces…').waitFor();
    await bar(page).getByRole('button', { name: 'Stop' }).click();
    resolve();
    await bar(page).getByText('Stopped: 50 of 61 traces are deleted.').waitFor();
    await selected(page, '11');
    expect(await names(page)).toHaveLength(11);
  });
});

describe('tags', () => {
  it('are given to rows, shown beside reported ones, found by the filter, and removed', async () => {
    const project = await seed('tags', 4);
    const page = await visit(link(project));
    for (const name of ['Row 01', 'Row 02']) await box(page, name).check();
    await bar(page).getByRole('button', { name: 'Tag' }).click();
    const dialog = page.getByRole('dialog', { name: 'Tag' });
    const tag = async (text: string) => {
      await dialog.getByLabel('Tag', { exact: true }).fill(text);
      await dialog.getByRole('button', { name: 'Tag 2 rows' }).click();
      await dialog.getByRole('button', { name: `Remove the tag ${text}` }).waitFor();
    };
    await tag('Überprüfen 🔍');
    await tag('true');
    await page.keyboard.press('Escape');
    const row = (name: string) => page.getByRole('row').filter({ hasText: name });
    await row('Row 02').getByText('Überprüfen 🔍').waitFor();
    await expect
      .poll(() => row('Row 01').locator('.tag').allInnerTexts())
      .toEqual(['reported', 'Überprüfen 🔍', 'true']);
    await bar(page).getByRole('button', { name: 'Clear selection' }).click();
    await page.getByRole('button', { name: '+ Filter' }).click();
    await page.getByRole('button', { name: 'Tag', exact: true }).click();
    await page.getByRole('button', { name: /^Überprüfen/ }).click();
    await page.getByText('2 rows', { exact: true }).waitFor();
    expect(await names(page)).toEqual(['Row 02', 'Row 01']);
    await page.getByText('Tag is Überprüfen 🔍').waitFor();
    // Another visit has the column by the filter, and the same tag twice is one.
    const other = await visit(page.url());
    await other.getByRole('row').filter({ hasText: 'Row 02' }).getByText('Überprüfen 🔍').waitFor();
    for (const name of ['Row 01', 'Row 02']) await box(other, name).check();
    await bar(other).getByRole('button', { name: 'Tag' }).click();
    const again = other.getByRole('dialog', { name: 'Tag' });
    await again.getByRole('button', { name: 'Remove the tag true' }).click();
    await again.getByRole('button', { name: 'Remove the tag true' }).waitFor({ state: 'detached' });
    const { result } = (await post('/feedback/query', { project_id: project })) as {
      result: { feedback_type: string; payload: object }[];
    };
    expect(result.map(({ feedback_type, payload }) => [feedback_type, payload])).toEqual([
      ['tag.Überprüfen 🔍', { value: true }],
      ['tag.Überprüfen 🔍', { value: true }],
    ]);
  });
});

describe('a queue of chosen calls', () => {
  it('is made of selected rows, and takes more of them', async () => {
    const project = await seed('queue', 5);
    const val = { _type: 'AnnotationSpec', name: 'Correct', field_schema: { type: 'boolean' } };
    await post('/obj/create', { obj: { project_id: project, object_id: 'Correct', val } });
    const page = await visit(link(project));
    for (const name of ['Row 01', 'Row 02']) await box(page, name).check();
    await bar(page).getByRole('button', { name: 'Add to queue' }).click();
    await page.getByRole('link', { name: 'New queue with these 2' }).click();
    const form = page.getByRole('form', { name: 'New queue' });
    await form.getByText('Only from the 2 chosen calls.').waitFor();
    await form.getByLabel('Name', { exact: true }).fill('Odd ones');
    await form.getByLabel('Correct (yes or no)').check();
    await form.getByRole('button', { name: 'Save the queue' }).click();
    await page.getByRole('link', { name: 'Review 2' }).waitFor();
    await page.getByText('2 chosen calls').waitFor();
    const more = await visit(link(project));
    for (const name of ['Row 02', 'Row 04']) await box(more, name).check();
    await bar(more).getByRole('button', { name: 'Add to queue' }).click();
    await more.getByRole('dialog').getByRole('button', { name: 'Add to queue' }).click();
    await more.getByText('1 call was added to Odd ones.').waitFor();
    await more.getByRole('link', { name: 'Open Odd ones' }).click();
    await more.getByRole('link', { name: 'Review 3' }).waitFor();
  });
});

describe('columns and filters', () => {
  it('have the scores of the project, and suggest its values', async () => {
    const project = await seed('scores', 3, atPresent() - 3600 * second);
    const score = (id: string, feedback_type: string, payload: object) =>
      post('/feedback/create', {
        project_id: project,
        svc_ref: `svc:///${project}/call/${id}`,
        feedback_type,
        payload,
      });
    await score('row-1', 'evaluation.helpful', { value: 0.75 });
    await score('row-2', 'thumbs', { up: true });
    const page = await visit(link(project));
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'helpful' }).check();
    await page.getByRole('checkbox', { name: 'thumbs' }).check();
    await page.keyboard.press('Escape');
    await page.getByRole('row').filter({ hasText: 'Row 01' }).getByText('0.75').waitFor();
    await page.getByRole('row').filter({ hasText: 'Row 02' }).getByText('true').waitFor();
    await page.getByRole('button', { name: 'helpful' }).click();
    await page.waitForURL(/sort=-feedback/);
    await page.getByRole('button', { name: '+ Filter' }).click();
    await page.getByRole('combobox', { name: 'Value' }).click();
    await page.getByRole('option', { name: 'agent.turn' }).click();
    await page.getByRole('button', { name: 'Add filter' }).click();
    await page.getByText('Operation contains agent.turn').waitFor();
  });
});
