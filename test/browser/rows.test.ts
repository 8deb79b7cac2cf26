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

describe('a preview', () => {
  it('has all of its cell: what one of its texts does not need, the other has', async () => {
    const own = 'page/previews';
    const long = 'Which of the winter tyres in your shop fit a bicycle of 28 inches? '.repeat(8);
    await report(own, [
      { id: 'asks', name: 'Asks', at: recent, inputs: { question: long }, output: 'None.' },
      { id: 'tells', name: 'Tells', at: recent, inputs: { question: 'Tyres?' }, output: long },
      { id: 'both', name: 'Both', at: recent, inputs: { question: long }, output: long },
    ]);
    const page = await visit(`traces?project=${encodeURIComponent(own)}`);
    for (const name of ['Asks', 'Tells', 'Both']) {
      const cell = page.getByRole('cell').filter({ has: page.locator('.preview') });
      const preview = row(page, name).locator(cell);
      await preview.waitFor();
      const free = await preview.evaluate((element) => {
        const { right } = element.getBoundingClientRect();
        const cuts = [...element.querySelectorAll('.preview .cut')];
        return right - Math.max(...cuts.map((cut) => cut.getBoundingClientRect().right));
      });
      // Its padding alone.
      expect(free, name).toBeLessThan(24);
    }
    const asks = row(page, 'Asks');
    const width = async (text: string) => (await asks.getByText(text).last().boundingBox())?.width ?? 0;
    expect(await width('None.')).toBeLessThan(60);
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
  it('say that a call below failed, in any order, and also if the root failed itself', async () => {
    const page = await visit(link());
    await row(page, 'Turn turn-1').getByText('error below').waitFor();
    const both = 'page/both-failed';
    const root = { id: 'both', name: 'Both', at: recent, exception: 'Boom' };
    const alone = { id: 'alone', name: 'Alone', at: recent, exception: 'Boom' };
    const below = { id: 'below', trace: 'both', parent: 'both', at: recent + 1, exception: 'Bang' };
    await report(both, [root, alone, below]);
    const other = await visit(`traces?project=${encodeURIComponent(both)}`);
    await other.getByRole('button', { name: 'Any status' }).click();
    await other.getByRole('menuitemcheckbox', { name: 'error below' }).click();
    await other.getByText('1 row', { exact: true }).waitFor();
    expect(await namesOn(other)).toEqual(['Both']);
  });

  it('are selected with the pointer and gone through with the keyboard', async () => {
    const page = await visit(link());
    await page.getByRole('checkbox', { name: 'Select Silent' }).click();
    await page.keyboard.press('j');
    await page.locator('.table-row.active').waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/trace\?/);
  });

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
    await sorted.getByRole('button', { name: 'Errors', exact: true }).click();
    await sorted.getByRole('button', { name: 'Order: Most errors last' }).waitFor();
  });
});

describe('a filter', () => {
  it('has the tools and kinds that only the names of operations tell', async () => {
    const named = 'page/guessed-kinds';
    await report(named, [
      { id: 'guessed', op: 'mcp.search_orders', at: recent },
      { id: 'said', op: 'lookup', at: recent, attributes: { kind: 'tool' } },
      { id: 'neither', op: 'plain', at: recent },
    ]);
    const page = await visit(`traces?project=${encodeURIComponent(named)}`);
    await page.getByRole('button', { name: '+ Filter' }).click();
    await page.getByRole('button', { name: 'Kind', exact: true }).click();
    await page.getByRole('button', { name: 'tool: mcp.search_orders 1' }).waitFor();
    await page.getByRole('button', { name: 'tool 1', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Tool', exact: true }).click();
    await page.getByRole('button', { name: 'lookup 1' }).waitFor();
    await page.getByRole('button', { name: 'mcp.search_orders 1' }).click();
    await page.getByText('1 row', { exact: true }).waitFor();
    expect(await namesOn(page)).toEqual(['mcp.search_orders']);
  });
});

describe('a search', () => {
  it('has a row for a trace, at what was said, and what is only repeated if asked for', async () => {
    const talk = 'page/repeated';
    const system = { role: 'system', content: 'You sell bicycles.' };
    const asked = { role: 'user', content: 'Is the saddle soft?' };
    const answer = { role: 'assistant', content: 'The saddle is soft.' };
    const model = (id: string, trace: string, messages: object[], at: number) => ({
      id,
      trace,
      parent: trace,
      op: 'model.chat',
      at,
      ...chat(messages, { content: 'Yes.' }),
    });
    await report(talk, [
      { id: 'one', at: recent, inputs: { message: asked.content }, output: answer.content },
      model('one-a', 'one', [system, asked], recent + 1),
      model('one-b', 'one', [system, asked, answer], recent + 2),
      { id: 'two', at: recent + 10, inputs: { message: 'Thanks' }, output: 'Welcome' },
      model('two-a', 'two', [system, asked, answer], recent + 11),
    ]);
    const page = await visit(`traces?project=${encodeURIComponent(talk)}&text=saddle`);
    await page.getByText('1 row', { exact: true }).waitFor();
    await page.locator('mark').waitFor();
    await page.getByRole('button', { name: 'Include repeated text' }).click();
    await page.getByText('2 rows', { exact: true }).waitFor();
    expect(await namesOn(page)).toEqual(['model.chat', 'agent.turn']);
    const other = await visit(`traces?project=${encodeURIComponent(talk)}&text=bicycles`);
    await other.getByText('Nothing matches these filters.').waitFor();
    await other.getByRole('button', { name: 'Include repeated text' }).click();
    await other.getByText('2 rows', { exact: true }).waitFor();
  });

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
