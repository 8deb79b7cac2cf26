import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { axeFaults } from './support/axe.ts';
import { atPresent, post, report } from './support/calls.ts';
import { choose } from './support/choose.ts';
import { reader, useBrowser } from './support/visit.ts';

/* Charts that a project keeps side by side. */

const visit = useBrowser();
const project = 'page/dashboards';
const linkTo = (id: string, of = project) => `dashboards?project=${encodeURIComponent(of)}&dashboard=${id}`;

const create = (id: string, charts: readonly object[], more: object = {}, of = project) => {
  const val = { _type: 'Dashboard', name: id, charts, saved_at: new Date().toISOString(), ...more };
  return post('/obj/create', { obj: { project_id: of, object_id: id, val } });
};

const filter = { sources: ['production'] };
const calls = { metric: 'call_count', filter };
const errors = { metric: 'error_count', filter };
const latency = { metric: 'latency_ms', filter };

/** An hour that is over, so that all calls are in one bucket. */
const hour = atPresent() - (Date.now() % 3_600_000) - 3_600_000;

const seed = (of: string) =>
  report(
    of,
    Array.from({ length: 6 }, (_, i) => ({
      id: `${of}-${i}`,
      op: i < 2 ? 'search' : 'answer',
      at: hour + i * 60_000,
      ...(i === 0 && { exception: 'Boom' }),
    })),
  );

beforeAll(async () => {
  await seed(project);
  const score = (i: number) => ({
    project_id: project,
    svc_ref: `svc:///${project}/call/${project}-${i}`,
    feedback_type: 'thumbs',
    payload: { up: i > 0 },
  });
  await post('/feedback/batch/create', { batch: [0, 1, 2, 3].map(score) });
});

/** The titles of the charts, in their order. */
const titles = (page: Page) => page.locator('.dashboard h2').allInnerTexts();

describe('a chart', () => {
  it('is kept on a new dashboard or one that is there, with its filters', async () => {
    const where = encodeURIComponent(JSON.stringify([{ path: 'op_name', op: 'is', value: 'answer' }]));
    const page = await visit(`overview?project=${encodeURIComponent(project)}&where=${where}`);
    await page.getByRole('button', { name: 'Keep Calls on a dashboard' }).click();
    const dialog = page.getByRole('dialog', { name: 'Keep on a dashboard' });
    const chooser = dialog.getByRole('combobox', { name: 'Dashboard' });
    await dialog.getByLabel('Title of the chart').waitFor();
    if (await chooser.isVisible()) {
      await chooser.click();
      await page.getByRole('option', { name: 'New dashboard…' }).click();
    }
    await dialog.getByLabel('Name of the new dashboard').fill('Kept');
    await dialog.getByLabel('Title of the chart').fill('Answers');
    await dialog.getByRole('button', { name: 'Keep', exact: true }).click();
    await dialog.getByText('Kept on Kept.').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Keep Latency on a dashboard' }).click();
    await chooser.click();
    await page.getByRole('option', { name: 'Kept', exact: true }).click();
    await dialog.getByRole('button', { name: 'Keep', exact: true }).click();
    await dialog.getByRole('link', { name: 'Kept' }).click();
    await page.getByRole('heading', { name: 'Kept', level: 1 }).waitFor();
    await page.getByRole('img', { name: 'Answers over time. calls: at most 4' }).waitFor();
    expect(await titles(page)).toEqual(['Answers', 'Latency']);
  });

  it('is of a score, of a group, or of what another version made', async () => {
    const score = { feedback_type: 'thumbs', path: 'up' };
    await create('kinds', [
      { metric: 'score', score },
      { metric: 'score', score, filter, kind: 'distribution' },
      { ...calls, group_by: 'op_name', kind: 'lines' },
      { ...calls, title: 'By thumbs', group_by_feedback: score },
      { metric: 'gravity' },
    ]);
    const page = await visit(linkTo('kinds'));
    await page.getByRole('img', { name: 'thumbs over time. true: at most 75 %' }).waitFor();
    await page
      .getByRole('img', { name: /^Distribution of thumbs over time. true: at most 3; false/ })
      .waitFor();
    await page.getByRole('img', { name: 'Calls over time. answer: at most 4; search: at most 2' }).waitFor();
    await page
      .getByRole('img', { name: /^By thumbs over time. true: at most 3; false: at most 1; all/ })
      .waitFor();
    await page.getByText('This version of the page cannot draw this chart.').waitFor();
  });
});

describe('the form of a chart', () => {
  it('adds one by metric, filter and group, shows it before, and keeps the draft for whoever comes back', async () => {
    await create('formed', [calls]);
    const page = await visit(linkTo('formed'));
    await page.getByRole('button', { name: 'Add chart' }).click();
    await page.getByRole('heading', { name: 'Add a chart to formed' }).waitFor();
    await choose(page, 'Metric', 'Errors');
    await choose(page, 'Group by', 'Operations');
    await page.getByRole('button', { name: 'Any status' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'error', exact: true }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('textbox', { name: 'Title' }).fill('What failed');
    await page.getByRole('img', { name: 'What failed over time. search: at most 1' }).waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goBack();
    await page.getByRole('heading', { name: 'formed', level: 1, exact: true }).waitFor();
    await page.getByRole('button', { name: 'Add chart' }).click();
    await page.getByRole('textbox', { name: 'Title' }).and(page.locator('[value="What failed"]')).waitFor();
    await page.getByRole('button', { name: 'Add chart' }).click();
    await page.getByRole('heading', { name: 'formed', level: 1, exact: true }).waitFor();
    await page
      .locator('.dashboard')
      .getByRole('img', { name: /^What failed .* search: at most 1$/ })
      .waitFor();
    expect(await titles(page)).toEqual(['Calls', 'What failed']);
    expect(page.url()).not.toContain('form=');
  });

  it('adds a score once one is chosen', async () => {
    await create('scored', []);
    const page = await visit(linkTo('scored'));
    await page.getByRole('button', { name: 'Add chart' }).last().click();
    await choose(page, 'Metric', 'A score');
    const add = page.getByRole('button', { name: 'Add chart' });
    expect(await add.isDisabled()).toBe(true);
    await choose(page, 'Score', 'thumbs');
    await choose(page, 'Drawn as', 'its distribution');
    await page.getByRole('img', { name: /^Distribution of thumbs over time. true: at most 3/ }).waitFor();
    await add.click();
    await page.getByRole('heading', { name: 'scored', level: 1, exact: true }).waitFor();
    await page.locator('.dashboard').getByRole('heading', { name: 'Distribution of thumbs' }).waitFor();
  });
});

describe('a chart of latencies', () => {
  it('shows the percentile that it was kept with, until somebody chooses another, which a link has', async () => {
    await create('slow', [
      { ...latency, percentile: 99 },
      { ...latency, group_by: 'op_name' },
    ]);
    const page = await visit(linkTo('slow'));
    await page
      .getByRole('img', { name: 'Latency over time. p50: at most 100 ms; p99: at most 100 ms' })
      .waitFor();
    await page.getByRole('heading', { name: 'p95 latency' }).waitFor();
    await page.getByRole('button', { name: 'Percentile: p95' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'p90' }).click();
    await page.getByRole('heading', { name: 'p90 latency' }).waitFor();
    await page.waitForURL(/percentile=p90/);
    const other = await visit(page.url());
    await other.getByRole('img', { name: /^Latency over time. p50: .*; p90: at most 100 ms/ }).waitFor();
  });

  it('of the overview has the same choice, which is kept with it, and an alert begins with', async () => {
    const page = await visit(`overview?project=${encodeURIComponent(project)}&percentile=p99`);
    await page.getByRole('img', { name: /^Latency over time. p50: .*; p99: / }).waitFor();
    await page.getByRole('button', { name: 'Percentile: p99' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'p50' }).click();
    await page.getByRole('img', { name: 'Latency over time. p50: at most 100 ms', exact: true }).waitFor();
    await page.waitForURL(/percentile=p50/);
    expect(await page.getByRole('link', { name: 'Create alert on Latency' }).getAttribute('href')).toContain(
      'latency_ms.p50',
    );
  });
});

describe('a dashboard', () => {
  it('is arranged by keyboard, by the pointer and by menus, and saved as a whole', async () => {
    await create('arranged', [calls, errors, latency, { metric: 'gravity', title: 'Later' }]);
    const page = await visit(linkTo('arranged'));
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('button', { name: 'Move Calls' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByText('Calls is number 2 of 4.').waitFor();
    await page.keyboard.press('ArrowDown');
    await page.getByText('Calls is number 3 of 4.').waitFor();
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe('Move Calls');
    expect(await titles(page)).toEqual(['Errors', 'Latency', 'Calls', 'Later']);

    const from = await page.getByRole('button', { name: 'Move Latency' }).boundingBox();
    const to = await page.getByRole('heading', { name: 'Errors' }).boundingBox();
    if (!from || !to) throw new Error('no charts');
    await page.mouse.move(from.x + from.width / 2, from.y + from.height / 2);
    await page.mouse.down();
    await page.mouse.move(to.x + 20, to.y + 60, { steps: 5 });
    await page.locator('.drop-here').waitFor();
    await page.mouse.up();
    await expect.poll(() => titles(page)).toEqual(['Latency', 'Errors', 'Calls', 'Later']);

    const choose = async (chart: string, item: string) => {
      await page.getByRole('button', { name: `More of ${chart}` }).click();
      await page.getByRole('menuitem', { name: item }).click();
    };
    await choose('Latency', 'Two columns');
    await choose('Errors', 'Remove');
    await choose('Calls', 'Move before');
    await choose('Calls', 'Rename…');
    await page.getByRole('dialog').getByLabel('Title').fill('All calls');
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
    await choose('All calls', 'Show as lines');
    await page.getByLabel('Name').fill('In order');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'In order', level: 1 }).waitFor();

    const other = await visit(linkTo('arranged'));
    await other.getByRole('heading', { name: 'In order', level: 1 }).waitFor();
    expect(await titles(other)).toEqual(['All calls', 'Latency', 'Later']);
    expect(await other.locator('.wide-chart h2').allInnerTexts()).toEqual(['Latency']);
  });

  it('loses nothing if two people save at once', async () => {
    await create('shared', [calls, errors]);
    const page = await visit(linkTo('shared'));
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Name').fill('Mine');
    await create('shared', [calls, errors, latency], { name: 'Theirs' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('Somebody saved a newer version').waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('Mine');
    await page.getByRole('button', { name: 'Show theirs' }).click();
    await page.getByRole('heading', { name: 'Theirs', level: 1 }).waitFor();
    expect(await titles(page)).toEqual(['Calls', 'Errors', 'Latency']);
  });

  it('asks for what is in sight, and for equal things once', async () => {
    const all = ['op_name', 'svc_user_id', 'source', 'model'].flatMap((group_by) => [
      { ...calls, group_by, columns: 2 },
      { ...latency, group_by, columns: 2 },
    ]);
    await create('long', [calls, errors, latency, { ...errors, kind: 'lines' }, ...all]);
    const page = await visit('', { viewport: { width: 1200, height: 500 } });
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/calls/stats')) asked.push(request.postData() ?? '');
    });
    await page.goto(new URL(linkTo('long'), page.url()).href);
    await page.locator('.chart canvas').nth(1).waitFor();
    await page.waitForLoadState('networkidle');
    const few = asked.length;
    expect(few).toBeGreaterThan(0);
    expect(few).toBeLessThanOrEqual(2);
    expect(new Set(asked).size).toBe(few);
    await page.locator('.dashboard-chart').last().scrollIntoViewIfNeeded();
    await expect.poll(() => asked.length).toBeGreaterThan(few);
    await page.waitForLoadState('networkidle');
    expect(new Set(asked).size).toBe(asked.length);
  });

  it('is what a project opens with, in the place of another', async () => {
    const of = 'page/dashboard-start';
    await seed(of);
    await create('first', [calls], { is_start: true }, of);
    await create('second', [errors], {}, of);
    const enter = async (name: string) => {
      const visitor = await visit('');
      await visitor.getByRole('link', { name: new RegExp(`^${of}`) }).click();
      await visitor.getByRole('heading', { name, level: 1 }).waitFor();
      return visitor;
    };
    await enter('first');
    const page = await visit(linkTo('second', of));
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Open the project with this dashboard').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('the project opens with it').waitFor();
    await expect
      .poll(async () => (await (await visit(linkTo('first', of))).getByText('opens with it').count()) === 0)
      .toBe(true);
    const visitor = await enter('second');
    await visitor.getByRole('link', { name: 'Traces' }).click();
    await visitor.getByRole('heading', { name: 'Traces', level: 1 }).waitFor();
  });

  it('is created, listed and deleted by those who may write, and looked at by others', async () => {
    const page = await visit(`dashboards?project=${encodeURIComponent(project)}`);
    await page.getByRole('button', { name: 'New dashboard' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Passing');
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page.getByText('Passing has no charts yet').waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'Dashboards', level: 1 }).waitFor();
    await expect.poll(() => page.getByRole('link', { name: 'Passing' }).count()).toBe(0);
    await create('read', [calls]);
    const other = await visit(linkTo('read'), { as: reader });
    await other.locator('.chart canvas').waitFor();
    expect(await other.getByRole('button', { name: 'Edit' }).count()).toBe(0);
  });

  it('has no fault that axe finds, in both themes, and fits a phone', async () => {
    await create('clean', [{ ...calls, group_by: 'op_name' }, errors, { metric: 'gravity' }]);
    const page = await visit(linkTo('clean'), { colorScheme: 'light' });
    await page.locator('.chart canvas').nth(1).waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
    const list = await visit(`dashboards?project=${encodeURIComponent(project)}`, { colorScheme: 'light' });
    await list.getByRole('link', { name: 'clean' }).waitFor();
    expect(await axeFaults(list)).toEqual({ light: [], dark: [], width: 360 });
  });
});
