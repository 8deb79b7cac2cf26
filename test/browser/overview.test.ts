import { beforeAll, describe, expect, it } from 'vitest';
import { axeFaults } from './support/axe.ts';
import { post, report, type SeededCall } from './support/calls.ts';
import { choose } from './support/choose.ts';
import { useBrowser } from './support/visit.ts';

const visit = useBrowser();
const project = 'page/overview';

const minute = 60_000;
const hour = 60 * minute;

/** Calls of an operation, one a minute from an hour on. */
const calls = (op: string, from: number, ms: number, failed = 0): SeededCall[] =>
  Array.from({ length: 10 }, (_, at) => ({
    id: `${op}-${from}-${at}`,
    op,
    at: from * hour + at * minute,
    ms,
    ...(at < failed && { exception: 'Boom', inputs: { model: 'gpt-4o-mini' } }),
    ...(op === 'tool.search' && { attributes: { kind: 'tool', environment: 'production' } }),
    ...(op === 'model.chat' && {
      summary: { usage: { 'gpt-4o-mini': { prompt_tokens: 1000, completion_tokens: 10 * from } } },
    }),
  }));

beforeAll(async () => {
  await report(project, [
    ...calls('model.chat', 1, 200),
    ...calls('tool.search', 1, 100),
    ...calls('model.chat', 25, 210),
    ...calls('tool.search', 25, 400, 3),
  ]);
});

/** The day that begins a day after the first call of tests. */
const day = 'from=2026-10-02T12%3A00%3A00Z&to=2026-10-03T12%3A00%3A00Z';
const link = (search = '') => `overview?project=${encodeURIComponent(project)}&${day}${search}`;

describe('the overview', () => {
  it('has the figures of a time, what became worse than before it, and links to the calls', async () => {
    const page = await visit(link());
    const tiles = page.getByRole('list', { name: 'In all' });
    await tiles.getByRole('link', { name: /Calls 20 ±0 %/ }).waitFor();
    await tiles.getByRole('link', { name: /Errors 3 · 15 %/ }).waitFor();
    const worse = page.getByRole('region', { name: 'What got worse' });
    await worse.getByRole('link', { name: /tool.search slower ×4.0 100 ms → 400 ms/ }).waitFor();
    await worse.getByRole('link', { name: /tool.search more errors/ }).click();
    await page.getByText('3 rows', { exact: true }).waitFor();
    await page.goBack();
    await tiles.getByRole('link', { name: /Cost/ }).click();
    await page.getByRole('button', { name: 'Order: Most expensive' }).waitFor();
    await page.goBack();
    await page.getByText('Show as a table').click();
    await page.getByRole('link', { name: /^\d Oct( 2026)? \d\d:00 – \d\d:30$/ }).click();
    await page.getByText('20 rows', { exact: true }).waitFor();
  });

  it('folds its filters on a phone', async () => {
    const page = await visit(link(), { viewport: { width: 390, height: 844 } });
    const status = page.getByRole('button', { name: 'Any status' });
    await page.getByRole('button', { name: 'Filters', exact: true }).waitFor();
    expect(await status.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Filters', exact: true }).click();
    await status.waitFor();
  });

  it('draws charts, whose points list their calls', async () => {
    const page = await visit(link());
    // Some systems have browsers with a language that is none.
    await page.addInitScript(
      "Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en@posix' })",
    );
    await page.reload();
    const chart = page.getByRole('img', { name: /^Errors over time. errors: at most 3/ });
    const box = await chart.locator('.u-over').boundingBox();
    if (!box) throw new Error('no chart');
    // The calls began an hour after the beginning of the day, in a bucket of half an hour.
    const x = box.x + (box.width * 1.25) / 24;
    const y = box.y + box.height / 2;
    await page.mouse.move(x, y);
    await page.getByText('click to see its calls').first().waitFor();
    await page.mouse.click(x, y);
    await page.getByText('3 rows', { exact: true }).waitFor();
    expect(page.url()).toContain('from=2026-10-02T13%3A00');
  });

  it('zooms into a time that somebody drags over', async () => {
    const page = await visit(link());
    const plot = page.getByRole('img', { name: /^Calls over time/ }).locator('.u-over');
    const box = await plot.boundingBox();
    if (!box) throw new Error('no chart');
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.25, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, y, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/from=2026-10-02T1[78]/);
    const { searchParams } = new URL(page.url());
    const hours =
      (Date.parse(searchParams.get('to') ?? '') - Date.parse(searchParams.get('from') ?? '')) / 3_600_000;
    expect(hours).toBeGreaterThan(5.5);
    expect(hours).toBeLessThan(6.5);
  });

  it('leaves room for half a label behind the end of a chart', async () => {
    const page = await visit(link());
    const chart = page.locator('.chart').first();
    const plot = await chart.locator('.u-over').boundingBox();
    const whole = await chart.boundingBox();
    if (!plot || !whole) throw new Error('no chart');
    expect(whole.x + whole.width - plot.x - plot.width).toBeGreaterThanOrEqual(20);
  });

  it('writes no dollars before costs that are in another unit', async () => {
    const inEuros = 'page/euros';
    await report(inEuros, calls('model.chat', 25, 200));
    await post('/cost/create', {
      project_id: inEuros,
      costs: {
        'gpt-4o-mini': {
          prompt_token_cost: 0.001,
          prompt_token_cost_unit: 'EUR',
          completion_token_cost: 0,
          completion_token_cost_unit: 'EUR',
          effective_date: '2026-01-01T00:00:00Z',
        },
      },
    });
    const page = await visit(`overview?project=${encodeURIComponent(inEuros)}&${day}`);
    await page.getByRole('link', { name: 'Cost 10.00 nothing before' }).waitFor();
    await page.getByRole('img', { name: 'Cost over time. cost: at most 10.00' }).waitFor();
    await page.getByRole('row', { name: /^model.chat .* 10.00$/ }).waitFor();
    const own = await visit(link());
    await own.getByRole('link', { name: /Cost \$0/ }).waitFor();
  });

  it('tells operations, models and users apart, in a table and in the charts', async () => {
    const page = await visit(link());
    await page.getByRole('row', { name: /tool.search 10 3 · 30 % 400 ms/ }).waitFor();
    await page.getByRole('button', { name: 'p95', exact: true }).click();
    await expect
      .poll(() => page.locator('.breakdown tbody a').allInnerTexts())
      .toEqual(['tool.search', 'model.chat']);
    await page.setViewportSize({ width: 375, height: 740 });
    const { width = 0 } = (await page.locator('.breakdown td').first().boundingBox()) ?? {};
    expect(width).toBeGreaterThan(120);
    await page.setViewportSize({ width: 1280, height: 800 });
    await choose(page, 'Group by', 'Models');
    await page.getByRole('row', { name: /gpt-4o-mini 13 3 · 23 % 2\d\d ms/ }).waitFor();
    await choose(page, 'Group by', 'Kinds');
    await page.getByRole('row', { name: /Tools 10 3 · 30 % 400 ms/ }).waitFor();
    await page.getByRole('row', { name: /calls that say none 10/ }).waitFor();
    expect(await page.locator('.breakdown tbody tr').last().innerText()).toContain('calls that say none');
    await choose(page, 'Group by', 'Environments');
    await page.getByRole('link', { name: 'production', exact: true }).waitFor();
    await choose(page, 'Group by', 'Users');
    await page.getByRole('link', { name: 'local', exact: true }).waitFor();
    await page.getByLabel('One line per group').check();
    await page.getByRole('img', { name: /^Calls over time. local: at most 20/ }).waitFor();
    const other = await visit(page.url());
    await other.getByRole('img', { name: /^Calls over time. local: at most 20/ }).waitFor();
  });

  it('says that a time has no calls, and asks again after a failure', async () => {
    const page = await visit(`overview?project=${encodeURIComponent(project)}&range=1h`, {
      expected: /stats|500/,
    });
    await page.getByText('has no calls in this period').waitFor();
    await page.route('**/calls/stats', (route) => route.fulfill({ status: 500, body: '{}' }), { times: 1 });
    await page.getByRole('button', { name: 'Last hour' }).click();
    await page.getByRole('button', { name: 'Last 7 days' }).click();
    await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('alert').waitFor({ state: 'detached' });
  });

  it('has no fault that axe finds, in both themes, and fits a phone', async () => {
    const page = await visit(link('&split=true'), { colorScheme: 'light' });
    await page.locator('.chart canvas').first().waitFor();
    await page.getByText('Show as a table').click();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });
});
