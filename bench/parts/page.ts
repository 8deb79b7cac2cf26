/**
 * The page in a browser, beside the API's own answers. It shows the first rows of a list, a trace
 * of 10,000 calls, an input of 5 MB, and a live list.
 */
import type { Page } from 'playwright-core';
import { counted, type Figure, measured } from '../harness/figures.ts';
import { openPageBench, type PageBench } from '../harness/page-bench.ts';
import { close, listOf, newest, numbered, report } from '../harness/page-calls.ts';
import type { BenchPart } from '../harness/part.ts';
import { largeFigures, liveFigures, rounds, traceFigures } from './page-views.ts';
import { secondsOf } from './speed.ts';

/** First rows beside the API's first line and a page that has nothing to show. */
const listFigures = async (bench: PageBench, size: number): Promise<Figure[]> => {
  const project = 'bench/list';
  await report(
    bench,
    project,
    numbered(size, (at) => ({ id: `call-${at}` })),
  );
  const [ratios, rows]: [number[], number[]] = [[], []];
  for (let round = 0; round <= rounds; round++) {
    const line = await secondsOf(async () => {
      const { body } = await bench.post('/calls/stream_query', newest(project));
      const reader = body?.getReader();
      await reader?.read();
      await reader?.cancel();
    });
    let page: Page | undefined;
    const empty = await secondsOf(async () => {
      page = await bench.visit(listOf('bench/empty'));
      await page.getByText('has no calls yet').waitFor();
    });
    if (page) await close(page);
    const first = await secondsOf(async () => {
      page = await bench.visit(listOf(project));
      await page.locator('.row-link').first().waitFor();
    });
    if (page) await close(page);
    // The first round starts the functions.
    if (round === 0) continue;
    rows.push(first * 1000);
    ratios.push(first / (line + empty));
  }
  const api = await bench.readUnitsOf(async () =>
    (await bench.post('/calls/stream_query', newest(project))).text(),
  );
  return [
    measured(`first rows of ${size} calls`, 'ms', rows),
    measured(`first rows of ${size} calls, beside the first line and an empty page`, 'ratio', ratios, {
      atMost: 1.5,
    }),
    counted('the newest 100 by headers, asked for directly', 'read units', api),
  ];
};

/** More traces than a page of the list has. */
const traces = 120;

/** What opening a list reads: its rows, and the usage of those in sight. */
const openedFigure = async (bench: PageBench, callsOfTrace: number): Promise<Figure> => {
  const project = `bench/of-${callsOfTrace}`;
  const idOf = (at: number) => `01a0f4c2-c400-7000-8000-${String(at).padStart(12, '0')}`;
  await report(
    bench,
    project,
    numbered(traces * callsOfTrace, (at) => {
      const root = idOf(at - (at % callsOfTrace));
      return { id: idOf(at), trace: root, ...(at % callsOfTrace > 0 && { parent: root }) };
    }),
  );
  const opened = await bench.readUnitsOf(async () => {
    const page = await bench.visit(listOf(project));
    await page.getByText('100+ rows').waitFor();
    await page.waitForLoadState('networkidle');
    await close(page);
  });
  return counted(`opening a list of traces of ${callsOfTrace} calls`, 'read units', opened);
};

/** The page beside the API. */
export const page: BenchPart = {
  name: 'page',
  title: 'The page in a browser, beside the API itself',
  run: async ({ sizes, progress }) => {
    await using bench = await openPageBench();
    progress('  a list');
    const list = await listFigures(bench, sizes.at(-1) ?? 1000);
    for (const callsOfTrace of [1, 20, 50]) list.push(await openedFigure(bench, callsOfTrace));
    progress('  a trace');
    const trace = await traceFigures(bench);
    progress('  an input of 5 MB');
    const large = await largeFigures(bench);
    progress('  a live list');
    return [...list, ...trace, ...large, ...(await liveFigures(bench))];
  },
};
