import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { chat, report, turn } from './support/calls.ts';
import { useBrowser } from './support/visit.ts';

/* What the rows of the list say, in which columns, and how they are found. */

const visit = useBrowser();
const project = 'page/rows';
const link = (search = '') => `traces?project=${encodeURIComponent(project)}${search}`;

/** An hour ago, as tests count their time. Traces are added up in times of at most 31 days. */
const recent = Date.now() - 3_600_000 - Date.parse('2026-10-01T12:00:00Z');

beforeAll(async () => {
  const parent = { trace: 'silent', parent: 'silent' };
  const question = { role: 'user', content: 'Do you have **winter** tyres?' };
  await report(project, [
    ...turn('turn-1', recent).map(({ thread: _, ...call }) => call),
    { id: 'failed', name: 'Failed', at: recent + 2000, exception: 'Boom: no such tool\n  at tool.ts:1' },
    { id: 'silent', name: 'Silent', op: 'agent.run', at: recent + 3000, ms: 500 },
    {
      ...parent,
      id: 'first',
      op: 'model.chat',
      at: recent + 3010,
      ...chat([question], { content: 'Let me see.' }),
    },
    {
      ...parent,
      id: 'second',
      op: 'model.chat',
      at: recent + 3200,
      ...chat([question, { role: 'assistant', content: 'Let me see.' }], { content: 'Yes, in 28 inches.' }),
    },
  ]);
});

const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });
const titlesOn = async (page: Page) =>
  (await page.getByRole('columnheader').allInnerTexts()).map((title) => title.replace(/\s*[↑↓]/, ''));
const namesOn = (page: Page): Promise<string[]> => page.locator('.row-link').allInnerTexts();

describe('a row', () => {
  it('says what was asked and answered, also by the calls of its trace, and why it failed', async () => {
    const page = await visit(link());
    await row(page, 'Turn turn-1').getByText('Where is my order 4711?').waitFor();
    await row(page, 'Turn turn-1').getByText('It is on its way.').waitFor();
    await row(page, 'Failed').getByText('Boom: no such tool').waitFor();
    await row(page, 'Silent').getByText('Do you have winter tyres?').waitFor();
    await row(page, 'Silent').getByText('Yes, in 28 inches.').waitFor();
    await row(page, 'Silent').getByRole('img', { name: 'agent' }).waitFor();
    await row(page, 'Silent').getByText('300', { exact: true }).waitFor();
    expect(await titlesOn(page)).toEqual([
      'Selected',
      'Name',
      'Input / Output',
      'Started',
      'Latency',
      'Errors',
      'Tokens',
      'Cost',
    ]);
    await page.setViewportSize({ width: 390, height: 800 });
    await row(page, 'Silent').getByText('Yes, in 28 inches.').waitFor();
    // The bar moves what it has no room for.
    await expect.poll(async () => (await row(page, 'Silent').boundingBox())?.y).toBeLessThan(170);
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByRole('button', { name: 'Any status' }).waitFor();
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('button', { name: 'Export' }).waitFor();
  });
});

describe('columns', () => {
  it('are hidden, moved and widened, in the URL and on this device', async () => {
    const page = await visit(link());
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByLabel('Tokens', { exact: true }).uncheck();
    await page.getByRole('button', { name: 'Move up: Latency' }).click();
    await page.getByRole('button', { name: 'Wider: Name' }).click();
    await page.keyboard.press('Escape');
    const moved = ['Selected', 'Name', 'Input / Output', 'Latency', 'Started', 'Errors'];
    await expect.poll(async () => (await titlesOn(page)).slice(0, 6)).toEqual(moved);
    expect(page.url()).toContain('layout=');
    const grip = await page.getByRole('columnheader', { name: 'Name' }).locator('.grip').boundingBox();
    if (!grip) throw new Error('no grip');
    const before = (await page.getByRole('columnheader', { name: 'Name' }).boundingBox())?.width ?? 0;
    await page.mouse.move(grip.x + 5, grip.y + 5);
    await page.mouse.down();
    await page.mouse.move(grip.x + 65, grip.y + 5, { steps: 3 });
    await page.mouse.up();
    await page.waitForURL(new RegExp(`name%7E${Math.round(before + 60)}`));
    const other = await visit(link('&all=true'));
    await other.getByRole('link', { name: 'find_order' }).waitFor();
    expect((await titlesOn(other)).slice(0, 5)).toEqual(moved.slice(0, 5));
    await other.getByRole('button', { name: 'Columns' }).click();
    await other.getByRole('button', { name: 'Reset' }).click();
    await other.getByRole('columnheader', { name: 'Tokens' }).waitFor();
    expect(other.url()).not.toContain('layout=');
  });
});

describe('traces', () => {
  it('are listed by an error below, and sorted by what they took, in a time', async () => {
    const page = await visit(link());
    await page.getByRole('button', { name: 'Any status' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'error below' }).click();
    await page.getByText('1 row', { exact: true }).waitFor();
    expect(await namesOn(page)).toEqual(['Turn turn-1']);
    await row(page, 'Turn turn-1').getByText('error below').waitFor();
    await page.getByRole('button', { name: 'Last 7 days' }).waitFor();
    expect(page.url()).toContain('range=7d');
    const sorted = await visit(link());
    await sorted.getByRole('button', { name: 'Order: Newest first' }).click();
    await sorted.getByRole('menuitemcheckbox', { name: 'Most calls' }).click();
    await row(sorted, 'Turn turn-1').getByText('4', { exact: true }).waitFor();
    expect(await namesOn(sorted)).toEqual(['Turn turn-1', 'Silent', 'Failed']);
    await sorted.getByRole('button', { name: 'Errors' }).click();
    await sorted.locator('[aria-sort=descending]').getByText('Errors').waitFor();
    await expect.poll(() => namesOn(sorted)).toEqual(['Turn turn-1', 'Failed', 'Silent']);
  });
});

describe('a search', () => {
  it('looks in all calls, shows the sentence with the hit, and leads to the call', async () => {
    const page = await visit(link());
    await row(page, 'Silent').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('INCHES');
    await page.keyboard.press('Enter');
    await page.getByText('1 row', { exact: true }).waitFor();
    await page.getByText('Yes, in 28 inches.').waitFor();
    expect(await page.locator('mark').innerText()).toBe('inches');
    await page.getByRole('link', { name: 'model.chat' }).click();
    await page.getByRole('treeitem', { selected: true }).getByText('model.chat').waitFor();
    expect(page.url()).toContain('call=second');
  });
});
