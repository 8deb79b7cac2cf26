import type { Page } from 'playwright-core';
import { counted, type Figure, measured } from '../harness/figures.ts';
import type { PageBench } from '../harness/page-bench.ts';
import { close, listOf, newest, numbered, report, traceOf } from '../harness/page-calls.ts';
import { secondsOf } from './speed.ts';

/** How often each view is measured. */
export const rounds = 7;
const traceCalls = 10_000;

/** Scrolls from end to end, and gives the share of frames that took over 50 ms, in %. */
const scrolling = `(async () => {
  const scroller = document.querySelector('[role=tree]');
  const frames = 240;
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  let slow = 0;
  let before = await frame();
  for (let at = 1; at <= frames; at++) {
    scroller.scrollTop = (scroller.scrollHeight * at) / frames;
    const now = await frame();
    if (now - before > 50) slow++;
    before = now;
  }
  return (100 * slow) / frames;
})()`;

/** A trace of 10,000 calls: its tree, its frames and its elements. */
export const traceFigures = async (bench: PageBench): Promise<Figure[]> => {
  const project = 'bench/trace';
  const nested = numbered(traceCalls, (at) => ({
    id: at === 0 ? 'root' : `call-${at}`,
    trace: 'root',
    ...(at > 0 && { parent: at % 10 === 0 ? 'root' : `call-${at - (at % 10)}` }),
  }));
  // A call below the first ten has no parent of that name.
  const calls = nested.map((call) => (call.parent === 'call-0' ? { ...call, parent: 'root' } : call));
  await report(bench, project, calls);
  const body = { ...newest(project), filter: { trace_ids: ['root'] }, limit: traceCalls };
  const [ratios, slow, nodes]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round <= rounds; round++) {
    const fetched = await secondsOf(async () => (await bench.post('/calls/stream_query', body)).text());
    const page = await bench.visit(listOf(project));
    await page.locator('.row-link').first().waitFor();
    const visible = await secondsOf(async () => {
      await page.locator('.row-link').first().click();
      await page.getByRole('treeitem').first().waitFor();
    });
    const late = (await page.evaluate(scrolling)) as number;
    if (round > 0) {
      ratios.push(visible / fetched);
      slow.push(late);
      nodes.push((await page.evaluate('document.querySelectorAll("*").length')) as number);
    }
    await close(page);
  }
  return [
    measured(`a trace of ${traceCalls} calls: tree visible, beside fetching its headers`, 'ratio', ratios, {
      atMost: 2,
    }),
    measured(`a trace of ${traceCalls} calls: frames over 50 ms, scrolling end to end`, '%', slow, {
      atMost: 5,
    }),
    counted(`a trace of ${traceCalls} calls: elements of the page`, 'elements', Math.max(...nodes), {
      atMost: 3000,
    }),
  ];
};

/** The longest task since the page was loaded, in ms. */
const longestTask = `new Promise((done) => {
  new PerformanceObserver((list) => done(Math.max(...list.getEntries().map(({ duration }) => duration))))
    .observe({ type: 'longtask', buffered: true });
  setTimeout(() => done(0), 500);
})`;

/** An input of 5 MB: the longest task of opening it. */
export const largeFigures = async (bench: PageBench): Promise<Figure[]> => {
  const project = 'bench/large';
  await report(bench, project, [{ id: 'large', inputs: { text: 'word '.repeat(1_000_000), end: 1 } }]);
  const longest: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const page = await bench.visit(`${traceOf(project, 'large')}&tab=data`);
    await page.locator('.json-row').first().waitFor();
    longest.push((await page.evaluate(longestTask)) as number);
    await close(page);
  }
  return [measured('an input of 5 MB: longest task', 'ms', longest, { atMost: 200 })];
};

/** The time between two looks of a live list, in ms, which the clock of the page is moved on by. */
const lookMs = 4000;
/** How many looks an hour has, after how many of them calls come in, and how many. */
const looks = 900;
const looksPerReport = 3;
const callsPerReport = 15;

/** One look in so many goes back for what was reported late. */
const looksPerWide = 4;

/** Has a live list look once. */
const lookOf = async (page: Page): Promise<void> => {
  const answered = page.waitForResponse(/stream_query/);
  await page.clock.runFor(lookMs);
  await (await answered).finished();
};

const elementsOf = async (page: Page): Promise<number> =>
  (await page.evaluate('document.querySelectorAll("*").length')) as number;

/** What a page holds once nothing is left to be collected, in bytes. */
const heapOf = async (page: Page): Promise<number> => {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize;
};

/** A list that is live for an hour: what it keeps, and how much it grew in the second half. */
export const liveFigures = async (bench: PageBench): Promise<Figure[]> => {
  const project = 'bench/live';
  const calls = (at: number) =>
    numbered(callsPerReport, (index) => ({ id: `live-${at}-${index}`, running: index === 0 }));
  await report(bench, project, calls(0));
  const page = await bench.visit('');
  await page.clock.install();
  await page.goto(`${bench.service.url}/ui/${listOf(project)}&live=true`);
  await page.locator('.row-link').nth(10).waitFor();
  let half = { heap: 0, elements: 0 };
  for (let look = 1; look <= looks; look++) {
    const at = look / looksPerReport;
    if (Number.isInteger(at)) await report(bench, project, calls(at), at * callsPerReport);
    await lookOf(page);
    // By now the list keeps as many rows as it may.
    if (look === looks / 2) half = { heap: await heapOf(page), elements: await elementsOf(page) };
  }
  await page.getByText(`step ${(looks / looksPerReport + 1) * callsPerReport - 1}`).waitFor();
  const units: number[] = [];
  for (let look = 0; look < looksPerWide; look++) units.push(await bench.readUnitsOf(() => lookOf(page)));
  const whole = await heapOf(page);
  const after = await elementsOf(page);
  const rows = Number((await page.locator('.progress span').first().textContent())?.replace(/\D/g, ''));
  await close(page);
  const name = `a live list after an hour and ${(looks / looksPerReport) * callsPerReport} calls`;
  return [
    counted(`${name}: rows kept`, 'rows', rows, { atMost: 2000 }),
    counted(`${name}: the look that goes back 15 minutes`, 'read units', Math.max(...units)),
    counted(`${name}: any other look`, 'read units', Math.min(...units)),
    counted(`${name}: elements beside those after half an hour`, 'ratio', after / half.elements, {
      atMost: 1.1,
    }),
    measured(`${name}: heap beside that after half an hour`, 'ratio', [whole / half.heap], { atMost: 1.1 }),
    measured(`${name}: heap`, 'MB', [whole / 1e6]),
  ];
};
