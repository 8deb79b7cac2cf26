import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { axeFaults } from './support/axe.ts';
import { report, turn } from './support/calls.ts';
import { readShift } from './support/shift.ts';
import { useBrowser } from './support/visit.ts';

/* A trace that a list opens beside itself. */

const visit = useBrowser();
const project = 'page/peek';
const link = (search = '') => `traces?project=${encodeURIComponent(project)}${search}`;
const second = 1000;

beforeAll(async () => {
  await report(
    project,
    Array.from({ length: 150 }, (_, at) => ({
      id: `old-${at}`,
      name: `Old ${String(at).padStart(3, '0')}`,
      at: at * second,
      inputs: { question: `What is ${at}?` },
      output: `It is ${at}.`,
    })),
  );
  for (const at of [1, 2, 3]) await report(project, turn(`turn-${at}`, (1000 + at) * second));
});

const peek = (page: Page) => page.getByRole('complementary', { name: 'Trace beside the list' });
const shows = (page: Page, name: string) =>
  peek(page).getByRole('heading', { name, level: 2 }).first().waitFor();
const row = (page: Page, name: string) => page.locator('.row-link', { hasText: name });
const scrollTop = (page: Page) => page.locator('.table-scroll').evaluate((element) => element.scrollTop);

/** Notes what is asked of traces and of calls, by their ids. */
const watchReads = (page: Page): string[] => {
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.method() !== 'POST') return;
    const { filter, id } = request.postDataJSON();
    if (filter?.trace_ids) asked.push(`trace ${filter.trace_ids[0]}`);
    if (request.url().endsWith('/call/read') && !String(id).startsWith('none:')) asked.push(`call ${id}`);
  });
  return asked;
};

describe('a click on a row', () => {
  it('shows its trace beside the list, which stays as it is, and a link has it', async () => {
    const page = await visit(link(), { viewport: { width: 1440, height: 900 } });
    await row(page, 'Turn turn-2').waitFor();
    await page.waitForLoadState('networkidle');
    const place = await row(page, 'Turn turn-2').boundingBox();
    const before = await readShift(page);
    await row(page, 'Turn turn-2').click();
    await shows(page, 'Turn turn-2');
    await peek(page).getByText('Where is my order 4711?').first().waitFor();
    // Its head has the name of the root: the panel says it to screen readers alone.
    expect(await peek(page).locator('.call-head h2').boundingBox()).toMatchObject({ width: 1 });
    await peek(page).getByRole('treeitem').nth(2).click();
    await peek(page).getByText('OrderNotFound: 4711').first().waitFor();
    const { sum, parts } = await readShift(page);
    expect(sum - before.sum, parts.slice(before.parts.length).join('\n')).toBeLessThan(0.1);
    expect(await row(page, 'Turn turn-2').boundingBox()).toEqual(place);
    await page.waitForURL(/peek=turn-2&call=turn-2-tool/);
    const other = await visit(page.url());
    await shows(other, 'Turn turn-2');
    await peek(other).getByText('OrderNotFound: 4711').first().waitFor();
    await other.keyboard.press('ArrowDown');
    await shows(other, 'Turn turn-1');
  });

  it('opens the trace whole in a tab of its own with Ctrl, and so does the button in the pane', async () => {
    const page = await visit(link());
    await row(page, 'Turn turn-2').waitFor();
    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      row(page, 'Turn turn-2').click({ modifiers: ['ControlOrMeta'] }),
    ]);
    await tab.waitForURL(/\/trace\?.*trace=turn-2/);
    await tab.close();
    expect(page.url()).not.toContain('peek=');
    await row(page, 'Turn turn-2').click();
    await peek(page).getByRole('link', { name: 'Open the trace' }).click();
    await page.getByRole('heading', { name: 'Turn turn-2', level: 1 }).waitFor();
    await page.goBack();
    await shows(page, 'Turn turn-2');
    await page.goBack();
    await peek(page).waitFor({ state: 'detached' });
  });

  it('leads to what failed by the number of errors', async () => {
    const page = await visit(link('&peek=turn-2'));
    await peek(page).getByRole('button', { name: '1 error', exact: true }).click();
    await peek(page).getByText('OrderNotFound: 4711').first().waitFor();
    await page.waitForURL(/call=turn-2-tool/);
  });

  it('says so if there is no such trace', async () => {
    const page = await visit(link('&peek=never'));
    await peek(page).getByText('This trace does not exist').waitFor();
    await page.keyboard.press('Escape');
    await peek(page).waitFor({ state: 'detached' });
    expect(page.url()).not.toContain('peek=');
  });
});

describe('the keyboard', () => {
  it('goes on to other rows, opens one whole, and closes what is beside the list', async () => {
    const page = await visit(link());
    await row(page, 'Turn turn-3').waitFor();
    for (const key of ['j', 'p']) await page.keyboard.press(key);
    await shows(page, 'Turn turn-3');
    for (const [key, name] of [
      ['ArrowDown', 'Turn turn-2'],
      ['j', 'Turn turn-1'],
      ['k', 'Turn turn-2'],
      ['ArrowUp', 'Turn turn-3'],
    ] as const) {
      await page.keyboard.press(key);
      await shows(page, name);
    }
    await page.keyboard.press('Escape');
    await peek(page).waitFor({ state: 'detached' });
    await page.locator('.row-link:focus', { hasText: 'Turn turn-3' }).waitFor();
    await page.keyboard.press('p');
    await shows(page, 'Turn turn-3');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Turn turn-3', level: 1 }).waitFor();
  });

  it('goes through the tree while that has the focus', async () => {
    const page = await visit(link('&peek=turn-2'));
    await peek(page).getByRole('treeitem').nth(3).waitFor();
    await peek(page).getByRole('tree').focus();
    await page.keyboard.press('ArrowDown');
    await page.waitForURL(/call=turn-2-model-1/);
    await page.keyboard.press('End');
    await page.waitForURL(/call=turn-2-model-2/);
    await shows(page, 'Turn turn-2');
  });

  it('goes on where the list has to load more rows, and reads nothing twice', async () => {
    const page = await visit(link());
    await page.getByText('100+ rows').waitFor();
    await page.locator('.table-scroll').evaluate((element) => element.scrollTo(0, 1000));
    await row(page, 'Old 120').click();
    await shows(page, 'Old 120');
    await peek(page).getByText('It is 120.').first().waitFor();
    const before = await scrollTop(page);
    const asked = watchReads(page);
    await page.keyboard.press('j');
    await peek(page).getByText('It is 119.').first().waitFor();
    await page.keyboard.press('k');
    await peek(page).getByText('It is 120.').first().waitFor();
    expect(asked.filter((what) => what.endsWith('old-120'))).toEqual([]);
    expect(asked.filter((what) => what.endsWith('old-119')).sort()).toEqual([
      'call old-119',
      'trace old-119',
    ]);
    expect(await scrollTop(page)).toBe(before);
    // Rows that are passed by are not read.
    for (let step = 0; step < 100; step++) await page.keyboard.press('j');
    await shows(page, 'Old 020');
    await peek(page).getByText('It is 20.').first().waitFor();
    expect(asked.filter((what) => what.startsWith('trace')).length).toBeLessThan(60);
    await page.getByText('153 rows', { exact: true }).waitFor();
  });
});

describe('what is beside the list', () => {
  it('is as wide as somebody made it on this device', async () => {
    const page = await visit(link('&peek=turn-2'), { viewport: { width: 1440, height: 900 } });
    await peek(page).getByRole('treeitem').first().waitFor();
    const width = async () => (await peek(page).boundingBox())?.width ?? 0;
    const before = await width();
    const splitter = page.getByRole('separator', { name: 'Width of the list' });
    for (let times = 0; times < 5; times++) await splitter.press('ArrowLeft');
    const wider = await width();
    expect(wider).toBeGreaterThan(before + 50);
    await page.reload();
    await peek(page).getByRole('treeitem').first().waitFor();
    expect(await width()).toBeCloseTo(wider, 0);
  });

  it('has the whole view of a phone, goes on to the next row, and gives the focus back', async () => {
    const page = await visit(link(), { viewport: { width: 390, height: 844 } });
    await row(page, 'Turn turn-3').click();
    await shows(page, 'Turn turn-3');
    expect(await row(page, 'Turn turn-3').isVisible()).toBe(false);
    expect(await page.getByRole('searchbox').isVisible()).toBe(false);
    expect((await peek(page).boundingBox())?.width).toBe(390);
    await peek(page).getByRole('button', { name: 'Next row' }).click();
    await shows(page, 'Turn turn-2');
    await page
      .locator(':focus')
      .and(page.getByRole('button', { name: 'Next row' }))
      .waitFor();
    await peek(page).getByRole('button', { name: 'Close the trace' }).click();
    await page.locator('.row-link:focus', { hasText: 'Turn turn-2' }).waitFor();
    await row(page, 'Turn turn-1').click();
    await shows(page, 'Turn turn-1');
    await page.goBack();
    await row(page, 'Turn turn-1').waitFor();
  });

  it('has no faults that axe knows, in both themes and on a phone', async () => {
    const page = await visit(link('&peek=turn-2'), { viewport: { width: 1440, height: 900 } });
    await peek(page).getByRole('tab', { name: 'Messages' }).waitFor();
    await page.getByLabel('Select Turn turn-1').check();
    await page.getByRole('toolbar', { name: 'Selected rows' }).waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });
});
