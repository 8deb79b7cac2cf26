import { text } from 'node:stream/consumers';
import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { newName } from '../support/run/new-name.ts';
import { chat, report, type SeededCall, turn } from './support/calls.ts';
import { choose } from './support/choose.ts';
import { pageUrl, useBrowser } from './support/visit.ts';

const visit = useBrowser();
const project = 'page/traces';
const link = (search = '') => `traces?project=${encodeURIComponent(project)}${search}`;

const second = 1000;
const many: SeededCall[] = Array.from({ length: 150 }, (_, at) => ({
  id: `old-${at}`,
  name: `Old ${String(at).padStart(3, '0')}`,
  at: at * second,
  ms: 10 + at,
}));

beforeAll(async () => {
  await report(project, many);
  await report(project, turn('turn-1', 1000 * second));
  await report(project, [
    { id: 'failed', name: 'Failed', at: 1001 * second, exception: 'Boom', thread: 'thread-2' },
    { id: 'running', name: 'Running', at: 1002 * second, ms: null },
    {
      id: 'model',
      op: 'model.chat',
      name: 'Model',
      at: 1003 * second,
      ...chat([{ role: 'user', content: 'Zebra?' }], { content: 'No.' }),
    },
  ]);
});

/** The names in the rows, from the top. */
const namesOn = (page: Page): Promise<string[]> => page.locator('.row-link').allInnerTexts();

const firstRow = (page: Page, name: string) => page.locator('[aria-rowindex="2"]').getByText(name).waitFor();

describe('the list of traces', () => {
  it('has the newest roots first, with what their traces used', async () => {
    const page = await visit(link());
    await page.getByRole('link', { name: 'Old 149' }).waitFor();
    expect((await namesOn(page)).slice(0, 5)).toEqual([
      'Model',
      'Running',
      'Failed',
      'Turn turn-1',
      'Old 149',
    ]);
    await page.getByRole('row', { name: /Turn turn-1 .* 900 ms 1 300 / }).waitFor();
    await page.getByRole('row').filter({ hasText: 'Failed' }).getByText('error').waitFor();
    await page.getByRole('row').filter({ hasText: 'Running' }).getByText('… running').waitFor();
  });

  it('goes on as one scrolls, with few rows in the document', async () => {
    const page = await visit(link());
    await page.getByText('100+ rows').waitFor();
    await page.getByRole('button', { name: 'Count all' }).click();
    await page.getByText('of 154').waitFor();
    const table = page.getByRole('region', { name: 'Calls' });
    await table.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await page.getByText('154 rows', { exact: true }).waitFor();
    await table.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await page.getByRole('link', { name: 'Old 000' }).waitFor();
    expect(await page.getByRole('row').count()).toBeLessThan(60);
  });

  it('is sorted by a click on a column, and the other way by another', async () => {
    const page = await visit(link());
    await page.getByRole('button', { name: 'Latency' }).click();
    await firstRow(page, 'Turn turn-1');
    await page.getByRole('button', { name: 'Latency' }).click();
    await firstRow(page, 'Old 000');
    expect(page.url()).toContain('sort=summary.svc.latency_ms');
  });

  it('is filtered by status, and a link has the filter', async () => {
    const page = await visit(link());
    await page.getByRole('button', { name: 'Any status' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'error', exact: true }).click();
    await page.getByText('1 row', { exact: true }).waitFor();
    expect(await namesOn(page)).toEqual(['Failed']);
    const other = await visit(page.url());
    await firstRow(other, 'Failed');
    expect(await namesOn(other)).toEqual(['Failed']);
  });

  it('finds a text in inputs and outputs', async () => {
    const page = await visit(link());
    await firstRow(page, 'Model');
    await page.keyboard.press('/');
    await page.keyboard.type('zebra');
    await page.keyboard.press('Enter');
    await page.getByText('1 row', { exact: true }).waitFor();
    expect(await namesOn(page)).toEqual(['Model']);
    expect(await page.getByRole('list', { name: 'Filters' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Clear the search' }).click();
    await page.getByRole('link', { name: 'Failed' }).waitFor();
  });

  it('finds texts with quotes and backslashes, and texts that look like numbers', async () => {
    const own = newName('page/quoted');
    const q = 'He said "hello"\nto C:\\temp';
    await report(own, [
      { id: 'quoted', name: 'Quoted', thread: '17', inputs: { q, spaced: ' 5' } },
      { id: 'plain', name: 'Plain', at: second, thread: '18', output: q },
      { id: 'other', name: 'Other', at: 2 * second },
    ]);
    const listNames = async (search: object) => {
      const texts = Object.entries(search).map(([name, value]) => `&${name}=${encodeURIComponent(value)}`);
      const page = await visit(`traces?project=${encodeURIComponent(own)}${texts.join('')}`);
      await page.getByText(/^[12] rows?$/).waitFor();
      return namesOn(page);
    };
    const where = (path: string, op: string, value: string) => ({
      where: JSON.stringify([{ path, op, value }]),
    });
    expect(await listNames({ text: 'said "hello"' })).toEqual(['Plain', 'Quoted']);
    expect(await listNames({ text: 'C:\\temp' })).toEqual(['Plain', 'Quoted']);
    expect(await listNames(where('inputs', 'contains', '"hello"\nto'))).toEqual(['Quoted']);
    expect(await listNames(where('thread_id', 'is', '17'))).toEqual(['Quoted']);
    const data = await visit(`trace?project=${encodeURIComponent(own)}&trace=quoted&call=quoted&tab=data`);
    await data.getByRole('button', { name: 'Value of inputs.spaced' }).click();
    await data.getByRole('menuitem', { name: 'Filter by this value' }).click();
    await data.getByText('1 row', { exact: true }).waitFor();
    expect(await namesOn(data)).toEqual(['Quoted']);
  });

  it('is filtered by any path with any operator, and shows the query', async () => {
    const page = await visit(link());
    await page.getByRole('button', { name: '+ Filter' }).click();
    await page.getByLabel('Column or path').fill('inputs.messages.0.role');
    await choose(page, 'Operator', 'is');
    await page.getByLabel('Value').fill('user');
    await page.getByRole('button', { name: 'Add filter' }).click();
    await page.getByText('1 row', { exact: true }).waitFor();
    expect(await namesOn(page)).toEqual(['Model']);
    await page.getByRole('button', { name: 'Query' }).click();
    await page.getByRole('dialog').getByText('"$getField": "inputs.messages.0.role"').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('is filtered by what its rows cost', async () => {
    const page = await visit(link());
    await page.getByRole('button', { name: '+ Filter' }).click();
    await page.getByLabel('Column or path').fill('cost');
    await page.getByLabel('Value').fill('0.00005');
    await page.getByRole('button', { name: 'Add filter' }).click();
    await page.getByText('1 row', { exact: true }).waitFor();
    expect(await namesOn(page)).toEqual(['Turn turn-1']);
    await page.getByText('of 154 checked').waitFor();
    const calls = await visit(page.url().replace('0.00005', '0.00001').concat('&all=true'));
    await calls.getByText('3 rows', { exact: true }).waitFor();
    expect(await namesOn(calls)).toEqual(['Model', 'model.chat', 'model.chat']);
  });

  it('has the columns that its reader wants', async () => {
    const page = await visit(link());
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByLabel('Path of a new column').fill('inputs.model');
    await page.keyboard.press('Enter');
    await page.getByRole('row').filter({ hasText: 'Model' }).getByText('gpt-4o-mini').waitFor();
  });

  it('shows all calls with their own usage', async () => {
    const page = await visit(link('&all=true'));
    await page.getByRole('link', { name: 'find_order' }).first().waitFor();
    await page.getByRole('row').filter({ hasText: 'model.chat' }).first().getByText('150').waitFor();
  });

  it('is limited to a time', async () => {
    const page = await visit(link('&from=2026-10-01T00%3A00&to=2026-10-01T00%3A01'));
    await page.getByText('Nothing matches these filters').waitFor();
    await page.getByRole('button', { name: 'Remove all filters' }).click();
    await firstRow(page, 'Model');
  });
});

describe('the keyboard', () => {
  it('goes through the rows, opens one, and comes back to the same place', async () => {
    const page = await visit(link());
    // Rows come one after the other, and `j` goes no further than the last.
    await page.getByRole('link', { name: 'Old 149' }).waitFor();
    for (const key of ['j', 'j', 'ArrowDown', 'k']) await page.keyboard.press(key);
    await page.locator('.table-row.active').getByRole('link', { name: 'Running' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('treeitem').first().waitFor();
    expect(page.url()).toContain('trace=running');
    await page.goBack();
    await firstRow(page, 'Model');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
  });
});

describe('whoever comes back to the list', () => {
  const table = (page: Page) => page.getByRole('region', { name: 'Calls' });
  const scrollTop = (page: Page) => table(page).evaluate((element) => element.scrollTop);
  const active = (page: Page, name: string) =>
    page.locator('.table-row.active').getByRole('link', { name }).waitFor();

  it('finds the row of the keyboard, with Back and with Escape, and goes on from there', async () => {
    const page = await visit(link('&from=2026-10-01T00%3A00'));
    await page.getByText('100+ rows').waitFor();
    for (let row = 0; row < 40; row++) await page.keyboard.press('j');
    await active(page, 'Old 114');
    const before = await scrollTop(page);
    expect(before).toBeGreaterThan(0);
    await page.keyboard.press('Enter');
    await page.getByRole('treeitem').first().waitFor();
    await page.goBack();
    await active(page, 'Old 114');
    await expect.poll(() => scrollTop(page)).toBe(before);
    await page.keyboard.press('Enter');
    await page.getByRole('treeitem').first().waitFor();
    for (const key of ['Escape', 'Escape']) await page.keyboard.press(key);
    await active(page, 'Old 114');
    await expect.poll(() => scrollTop(page)).toBe(before);
    expect(page.url()).toContain('from=2026');
    await page.keyboard.press('j');
    await active(page, 'Old 113');
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('link', { name: 'Traces', exact: true }).click();
    await active(page, 'Old 113');
    expect(page.url()).toContain('from=2026');
  });

  it('finds it where they had scrolled to, and the rows that they compared selected', async () => {
    const page = await visit(link());
    await page.getByText('100+ rows').waitFor();
    await page.keyboard.press('j');
    await table(page).evaluate((element) => element.scrollTo(0, 1500));
    await page.getByRole('link', { name: 'Old 105' }).press('Enter');
    await page.getByRole('treeitem').first().waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'Old 105' }).waitFor();
    expect(await scrollTop(page)).toBe(1500);
    for (const name of ['Old 105', 'Old 104']) await page.getByLabel(`Select ${name}`).check();
    await page.getByRole('button', { name: 'Compare the two' }).click();
    await page.getByRole('heading', { name: 'Compare', level: 1 }).waitFor();
    await page.goBack();
    await page.getByLabel('Select Old 105').waitFor();
    expect(await page.getByRole('checkbox', { name: /^Select Old/, checked: true }).count()).toBe(2);
    expect(await scrollTop(page)).toBe(1500);
  });
});

describe('the list read anew', () => {
  it('has the figures of its traces anew, and is counted anew', async () => {
    const own = newName('page/anew');
    const root = { id: 'root', name: 'Root', at: 500 * second };
    await report(own, [...many.slice(0, 120), { ...root, ms: null, ...chat([], {}) }]);
    const page = await visit(`traces?project=${encodeURIComponent(own)}`);
    await page.getByRole('row').filter({ hasText: 'Root' }).getByText('… running').waitFor();
    await page.getByRole('button', { name: 'Count all' }).click();
    await page.getByText('of 121').waitFor();
    const below = { trace: 'root', parent: 'root', at: root.at };
    await report(own, [
      { ...root, ms: 700 },
      { ...below, id: 'below', ...chat([], {}), exception: 'Boom' },
      { id: 'another', name: 'Another', at: 600 * second },
    ]);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByRole('row', { name: /Root .* 700 ms 1 150 / }).waitFor();
    await page.getByRole('button', { name: 'Count all' }).click();
    await page.getByText('of 122').waitFor();
    await report(own, [{ ...below, id: 'later', ...chat([], {}) }]);
    await page.keyboard.press('r');
    await page.getByRole('row', { name: /Root .* 700 ms 1 300 / }).waitFor();
  });
});

describe('an export', () => {
  it.each([
    ['JSON Lines', 'page-traces-calls.jsonl', 154],
    ['CSV', 'page-traces-calls.csv', 155],
  ])('as %s has all that the list has', async (label, name, lines) => {
    const page = await visit(link());
    await firstRow(page, 'Model');
    await page.getByRole('button', { name: 'Export' }).click();
    const dialog = page.getByRole('dialog', { name: 'Export' });
    await dialog.getByText('154 calls').waitFor();
    await dialog.getByRole('button', { name: label }).click();
    for (const content of ['Inputs', 'Exception, with its stack trace'])
      await dialog.getByLabel(content).check();
    await dialog.getByText('inputs, exception, trace_errors').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Save' }).click(),
    ]);
    await dialog.waitFor({ state: 'detached' });
    expect(download.suggestedFilename()).toBe(name);
    const saved = (await text(await download.createReadStream())).trimEnd().split('\n');
    expect(saved).toHaveLength(lines);
    const findLine = (name: string) => saved.find((line) => line.includes(name));
    if (label === 'CSV') {
      expect(saved[0]).toMatch(
        /^id,project_id,op_name,.*,inputs,exception,trace_errors,trace_tokens,trace_cost$/,
      );
      expect(findLine('Turn turn-1')).toMatch(/,1,300,0\.000072$/);
    } else
      expect(JSON.parse(findLine('Turn turn-1') ?? '')).toMatchObject({
        trace_errors: 1,
        trace_tokens: 300,
        trace_cost: expect.closeTo(0.000072, 9),
        inputs: { question: 'Where is my order 4711?' },
      });
    expect(findLine('"Failed"') ?? findLine(',Failed,')).toContain('Boom');
  });
});

describe('the live mode', () => {
  it('adds new traces and ends those that ran, without moving what is read', async () => {
    const own = newName('page/live');
    const slow = { id: 'slow', name: 'Slow', at: 36.5 * second };
    await report(own, [...many.slice(0, 60), { ...slow, ms: null }]);
    const page = await visit(`traces?project=${encodeURIComponent(own)}&live=true`);
    await firstRow(page, 'Old 059');
    const table = page.getByRole('region', { name: 'Calls' });
    await table.evaluate((element) => element.scrollTo(0, 720));
    const read = page.getByRole('link', { name: 'Old 035' });
    const before = await read.boundingBox();
    await page.getByRole('row').filter({ hasText: 'Slow' }).getByText('… running').waitFor();
    await report(own, [
      { id: 'new', name: 'New', at: 5000 * second },
      { ...slow, ms: 700 },
      { id: 'below', trace: 'slow', parent: 'slow', at: slow.at, ...chat([], {}) },
    ]);
    await page.getByText('62 rows').waitFor();
    await page.getByRole('row', { name: /Slow .* 700 ms 150 / }).waitFor();
    expect(await read.boundingBox()).toEqual(before);
    await table.evaluate((element) => element.scrollTo(0, 0));
    await firstRow(page, 'New');
  });

  /** A live list whose clock the test moves on. */
  const live = async (own: string) => {
    const page = await visit('');
    await page.clock.install();
    await page.goto(new URL(`traces?project=${encodeURIComponent(own)}&live=true`, pageUrl).href);
    const look = async (times = 1) => {
      for (let time = 0; time < times; time++) {
        const answered = page.waitForResponse(/stream_query/);
        await page.clock.runFor(4000);
        await (await answered).finished();
      }
    };
    /** Looks until something stands, however many other requests the page makes meanwhile. */
    const lookFor = (sign: Locator) =>
      expect
        .poll(
          async () => {
            await page.clock.runFor(4000);
            return sign.isVisible();
          },
          { interval: 200 },
        )
        .toBe(true);
    return { page, look, lookFor };
  };

  it('adds a trace that began before the newest row and was reported after it, in its place', async () => {
    const own = newName('page/live-late');
    await report(own, many.slice(0, 60));
    const { page, look } = await live(own);
    await firstRow(page, 'Old 059');
    await look();
    await report(own, [{ id: 'short', name: 'Short', at: 200 * second }]);
    await look();
    await firstRow(page, 'Short');
    const table = page.getByRole('region', { name: 'Calls' });
    await table.evaluate((element) => element.scrollTo(0, 720));
    const read = page.getByRole('link', { name: 'Old 035' });
    const before = await read.boundingBox();
    await report(own, [{ id: 'long', name: 'Long', at: 100 * second, ms: 150 * second }]);
    await look(4);
    await page.getByText('62 rows').waitFor();
    expect(await read.boundingBox()).toEqual(before);
    await table.evaluate((element) => element.scrollTo(0, 0));
    await firstRow(page, 'Short');
    expect((await namesOn(page)).slice(0, 3)).toEqual(['Short', 'Long', 'Old 059']);
  });

  it('adds as many traces as come between two looks, and the first of a project', async () => {
    const own = newName('page/live-many');
    const { page, lookFor } = await live(own);
    await page.getByText(`${own} has no calls yet`).waitFor();
    const now = Date.now() - Date.parse('2026-10-01T12:00:00Z');
    await report(own, [{ id: 'first', name: 'First', at: now }]);
    await lookFor(page.getByRole('link', { name: 'First' }));
    await report(
      own,
      many.map((call) => ({ ...call, at: now + 1 + (call.at ?? 0) / second })),
    );
    await lookFor(page.getByText('151 rows', { exact: true }));
    await firstRow(page, 'Old 149');
  });
});

describe('when something is wrong', () => {
  it('says that a project is empty, and how to fill it', async () => {
    const page = await visit('traces?project=page%2Fempty');
    await page.getByText('page/empty has no calls yet').waitFor();
  });

  it.each([
    ['no network', { abort: 'failed' }, 'Cannot reach the service'],
    ['403', { status: 403 }, 'This key may not do this'],
    ['429', { status: 429 }, 'Too many requests at once'],
    ['503', { status: 503 }, 'The service is busy'],
  ])('%s: says so, and reads again when asked', async (_, failure, words) => {
    const page = await visit('', { expected: /stream_query|failed|Failed/ });
    await page.getByRole('link', { name: project }).waitFor();
    await page.route(
      '**/calls/stream_query',
      (route) =>
        'abort' in failure
          ? route.abort('failed')
          : route.fulfill({ status: failure.status ?? 500, body: '{}' }),
      { times: 1 },
    );
    await page.getByRole('link', { name: project }).click();
    await page.getByRole('alert').getByText(words).waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await firstRow(page, 'Model');
  });
});
