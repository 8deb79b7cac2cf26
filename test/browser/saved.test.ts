import { beforeAll, describe, expect, it } from 'vitest';
import { axeFaults } from './support/axe.ts';
import { report, turn } from './support/calls.ts';
import { useBrowser } from './support/visit.ts';

/* Filters with values to choose from, and views that are saved under a name. */

const visit = useBrowser();
const project = 'page/saved';
const link = (search = '') => `traces?project=${encodeURIComponent(project)}${search}`;

/** An hour ago, as tests count their time: values are counted in the last seven days. */
const recent = Date.now() - 3_600_000 - Date.parse('2026-10-01T12:00:00Z');

beforeAll(async () => {
  const attributes = (user: string) => ({
    user: { id: user },
    environment: 'production',
    release: '1.2',
    tags: ['beta', `of-${user}`],
  });
  const [root, first, tool, second] = turn('turn-1', recent);
  if (!root || !first || !tool || !second) throw new Error('a turn has four calls');
  await report(project, [
    { ...root, attributes: attributes('ada') },
    { ...first, attributes: { kind: 'model' } },
    { ...tool, attributes: { kind: 'tool' } },
    second,
    { id: 'other', name: 'Other', at: recent + 5000, attributes: attributes('grace') },
  ]);
  // A single project would be opened at once.
  await report('page/another', turn('another-1', 0));
});

describe('a filter', () => {
  it('has values to choose from, with how many calls have them', async () => {
    const page = await visit(link());
    const add = async (facet: string, value: string) => {
      await page.getByRole('button', { name: '+ Filter' }).click();
      const form = page.getByRole('dialog', { name: 'New filter' });
      await form.getByRole('button', { name: facet }).click();
      await form.getByRole('button', { name: value }).click();
      await form.waitFor({ state: 'detached' });
    };
    await add('Environment', 'production 2');
    await add('End user', 'grace 1');
    await page.getByText('1 row', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Remove the filter End user is grace' }).click();
    await add('Tag', 'of-ada 1');
    await page.getByText('1 row', { exact: true }).waitFor();
    expect(await page.locator('.row-link').allInnerTexts()).toEqual(['Turn turn-1']);
    const calls = await visit(link());
    await calls.getByRole('button', { name: '+ Filter' }).click();
    await calls.getByRole('button', { name: 'Tool' }).click();
    await calls.getByRole('button', { name: 'tool.find_order 1' }).click();
    await calls.getByRole('link', { name: 'tool.find_order' }).waitFor();
    expect(calls.url()).toContain('all=true');
    await calls.getByRole('button', { name: 'Remove the filter Operation is tool.find_order' }).click();
    await calls.getByRole('button', { name: '+ Filter' }).click();
    await calls.getByRole('button', { name: 'Model' }).click();
    await calls.getByRole('button', { name: 'gpt-4o-mini 2' }).click();
    await calls.getByText('2 rows', { exact: true }).waitFor();
    await calls.getByText('Model is gpt-4o-mini').waitFor();
  });
});

describe('a view', () => {
  it('is saved, renamed, opened by others and at the start, and deleted', async () => {
    const page = await visit(link('&status=%5B%22success%22%5D'), { colorScheme: 'light' });
    const menu = async () => {
      await page.getByRole('button', { name: 'Views', exact: true }).click();
      return page.getByRole('dialog', { name: 'Saved views' });
    };
    const saved = await menu();
    await saved.getByText('No view was saved yet.').waitFor();
    await saved.getByLabel('Save what you see as').fill('Good ones');
    await saved.getByRole('button', { name: 'Save' }).click();
    await saved.getByRole('button', { name: 'Change Good ones' }).click();
    await saved.getByLabel('Name').fill('Fine ones');
    await saved.getByLabel('Open the project with this view').check();
    await saved.getByRole('button', { name: 'Change', exact: true }).click();
    await saved.getByText('★ list').waitFor();
    expect((await axeFaults(page)).light).toEqual([]);

    const other = await visit('');
    await other.getByRole('link', { name: project }).click();
    await other.waitForURL(/status=/);
    await other.getByRole('button', { name: 'ok', exact: true }).waitFor();
    await other.getByRole('link', { name: 'Overview' }).click();
    // The list stays in sight until the overview is loaded.
    await other.getByRole('heading', { name: 'Overview' }).waitFor();
    await other.getByRole('button', { name: 'Views', exact: true }).click();
    await other.getByRole('button', { name: 'Fine ones ★ list' }).click();
    await other.getByRole('button', { name: 'ok', exact: true }).waitFor();
    await other.getByRole('button', { name: 'Views', exact: true }).click();
    await other.getByRole('button', { name: 'Delete Fine ones' }).click();
    await other.getByText('No view was saved yet.').waitFor();
    await other.keyboard.press('Escape');
    await other.getByRole('button', { name: 'Clear filters' }).click();
    await other.getByRole('button', { name: 'Any status' }).waitFor();
  });
});
