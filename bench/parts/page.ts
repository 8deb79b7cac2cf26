/**
 * The page in a browser, beside the API's own answers: the first rows of a list, a trace of 10,000 calls,
 * an input of 5 MB, and two evaluations of 1,000 rows.
 */

import type { Browser, Page } from 'playwright-core';
import { type LocalService, startLocalService } from '../../local/service.ts';
import type { BenchPart } from '../harness/bench.ts';
import { launchBrowser } from '../harness/browser.ts';
import { counted, type Figure, measured } from '../harness/figures.ts';
import { measureSeconds } from './speed.ts';

/** A local service with a browser in front of it. */
interface PageBench extends AsyncDisposable {
  readonly service: LocalService;
  /** POSTs JSON. Resolves to the answer once its headers are there. */
  readonly post: (path: string, body: object) => Promise<Response>;
  /** Opens a view in a browser without a cache. */
  readonly visit: (path: string) => Promise<Page>;
  /** The read units that functions used while a task ran. */
  readonly measureReadUnits: (task: () => Promise<unknown>) => Promise<number>;
}

interface RequestLine {
  readonly message?: string;
  readonly readUnits?: number;
}

const parsed = (line: string): RequestLine => {
  try {
    return JSON.parse(line) as RequestLine;
  } catch {
    return {};
  }
};

/** How long the log may lag behind an answer, in ms. */
const logLagMs = 500;

/** Starts a local service and a browser, until disposal. */
const openPageBench = async (): Promise<PageBench> => {
  let readUnits = 0;
  const service = await startLocalService({
    log: (_, line) => {
      const { message, readUnits: units } = parsed(line);
      if (message === 'request') readUnits += units ?? 0;
    },
  });
  const browser: Browser = await launchBrowser();
  const headers = {
    authorization: `Basic ${Buffer.from(`api:${service.key}`).toString('base64')}`,
    'content-type': 'application/json',
  };
  const post = async (path: string, body: object): Promise<Response> => {
    const answer = await fetch(service.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return answer;
  };
  return {
    service,
    post,
    visit: async (path) => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
      context.setDefaultTimeout(120_000);
      await context.addInitScript((key) => sessionStorage.setItem('pennytrace.key', key), service.key);
      const page = await context.newPage();
      await page.goto(`${service.url}/ui/${path}`);
      return page;
    },
    measureReadUnits: async (task) => {
      const pause = () => new Promise((done) => setTimeout(done, logLagMs));
      await pause();
      const before = readUnits;
      await task();
      await pause();
      return readUnits - before;
    },
    [Symbol.asyncDispose]: async () => {
      await browser.close();
      await service.stop();
    },
  };
};

const reportsPerRequest = 400;
const beginning = Date.parse('2026-10-01T00:00:00Z');

/** A call to report. What it leaves out is made up. */
interface Made {
  readonly id: string;
  readonly trace?: string;
  readonly parent?: string;
  readonly inputs?: object;
  readonly attributes?: object;
}

/** Reports calls, a second after one another. */
const report = async ({ post }: PageBench, project: string, calls: readonly Made[]): Promise<void> => {
  const reports = calls.flatMap(({ id, trace = id, parent = null, inputs = {}, attributes = {} }, at) => {
    const time = (ms: number) => new Date(beginning + at * 1000 + ms).toISOString();
    const fields = { project_id: project, id };
    const names = { trace_id: trace, parent_id: parent, op_name: `step ${at}` };
    const start = { ...fields, ...names, inputs, attributes };
    return [
      { mode: 'start', req: { start: { ...start, started_at: time(0) } } },
      { mode: 'end', req: { end: { ...fields, ended_at: time(400) } } },
    ];
  });
  for (let at = 0; at < reports.length; at += reportsPerRequest)
    await (await post('/call/upsert_batch', { batch: reports.slice(at, at + reportsPerRequest) })).text();
};

/** As many calls as asked for, each by its place. */
const numbered = (count: number, make: (at: number) => Made): Made[] =>
  Array.from({ length: count }, (_, at) => make(at));

const listUrl = (project: string): string => `traces?project=${encodeURIComponent(project)}`;
const traceUrl = (project: string, trace: string): string =>
  `trace?project=${encodeURIComponent(project)}&trace=${trace}`;

const headers = ['display_name', 'parent_id', 'thread_id', 'turn_id', 'ended_at', 'svc_user_id'];
/** The body of a query for the newest 100 roots by their headers. */
const byHeaders = (project: string) => ({
  project_id: project,
  filter: { trace_roots_only: true },
  sort_by: [{ field: 'started_at', direction: 'desc' }],
  columns: [...headers, 'summary.svc'],
  limit: 100,
});

/** The body of the list's query for the newest 100 roots. */
const newest = (project: string) => ({
  ...byHeaders(project),
  columns: [
    ...headers,
    'summary.svc',
    'attributes.kind',
    'attributes.tool.name',
    'attributes.agent.name',
    'attributes.user.id',
    'preview',
  ],
});

const close = (page: Page): Promise<void> => page.context().close();

/** How often each view is measured. */
const rounds = 7;
const traceCalls = 10_000;

/** Scrolls from end to end. Returns the share of frames that took over 50 ms, in %. */
const scrolling = (scroller: string) => `(async () => {
  const scroller = document.querySelector('${scroller}');
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

/** Opens the trace by its URL, up to what makes its first screen. */
const opened = async (bench: PageBench, sign: string, search = '', project = 'bench/trace') => {
  let page: Page | undefined;
  const seconds = await measureSeconds(async () => {
    page = await bench.visit(traceUrl(project, 'root') + search);
    await page.locator(sign).first().waitFor();
  });
  if (!page) throw new Error('the trace was not opened');
  return { page, seconds };
};

/** A trace of 10,000 calls: its tree and its story, their frames and elements. */
const traceFigures = async (bench: PageBench): Promise<Figure[]> => {
  const project = 'bench/trace';
  const nested = numbered(traceCalls, (at) => ({
    id: at === 0 ? 'root' : `call-${at}`,
    trace: 'root',
    inputs: { question: `What does step ${at} do?` },
    ...(at > 0 && { parent: at % 10 === 0 ? 'root' : `call-${at - (at % 10)}` }),
  }));
  // A call below the first ten has no parent of that name.
  const calls = nested.map((call) => (call.parent === 'call-0' ? { ...call, parent: 'root' } : call));
  await report(bench, project, calls);
  const body = { ...byHeaders(project), filter: { trace_ids: ['root'] }, limit: traceCalls };
  const ratios: number[] = [];
  const slow: number[] = [];
  const nodes: number[] = [];
  const stories: number[] = [];
  const slowStories: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const fetched = await measureSeconds(async () => (await bench.post('/calls/stream_query', body)).text());
    const page = await bench.visit(listUrl(project));
    await page.locator('.row-link').first().waitFor();
    const visible = await measureSeconds(async () => {
      await page.locator('.row-link').first().click();
      await page.getByRole('treeitem').first().waitFor();
    });
    const late = (await page.evaluate(scrolling('[role=tree]'))) as number;
    if (round > 0) {
      ratios.push(visible / fetched);
      slow.push(late);
      nodes.push((await page.evaluate('document.querySelectorAll("*").length')) as number);
    }
    await close(page);
    // The tree's page goes on to read its calls, so it is closed before the story's is opened.
    const tree = await opened(bench, '[role=treeitem]');
    await close(tree.page);
    const story = await opened(bench, '.told', '&as=story');
    const lateStory = (await story.page.evaluate(scrolling('.story-scroll'))) as number;
    if (round > 0) {
      stories.push(story.seconds / tree.seconds);
      slowStories.push(lateStory);
    }
    await close(story.page);
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
    measured(`a trace of ${traceCalls} calls: story visible, beside the tree`, 'ratio', stories, {
      atMost: 1.2,
    }),
    measured(`a trace of ${traceCalls} calls: frames over 50 ms, scrolling the story`, '%', slowStories, {
      atMost: 5,
    }),
  ];
};

/** Zooms into a timeline, goes along and down, and zooms out. Returns the share of frames that took over 50 ms, in %. */
const looking = `(async () => {
  const host = document.querySelector('.timeline-scroll');
  const { left, width } = host.getBoundingClientRect();
  const phases = [{ deltaX: 40 }, { deltaY: -12, ctrlKey: true }, { deltaX: 60 }, { deltaY: 12, ctrlKey: true }];
  const frames = 240;
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  let slow = 0;
  let before = await frame();
  for (let at = 0; at < frames; at++) {
    const turn = phases[Math.floor((at * phases.length) / frames)];
    const place = { clientX: left + width / 3, bubbles: true, cancelable: true };
    host.dispatchEvent(new WheelEvent('wheel', { ...place, ...turn }));
    host.scrollTop = (host.scrollHeight * at) / frames;
    const now = await frame();
    if (now - before > 50) slow++;
    before = now;
  }
  return (100 * slow) / frames;
})()`;

const agents = 40;
/** Tools of the trace whose graph is laid out: with its agents, 200 parts. */
const tools = 160;

/** A trace of 10,000 calls of 40 agents over time, and a graph of 200 parts. */
const agentFigures = async (bench: PageBench): Promise<Figure[]> => {
  const name = (at: number) => ({ kind: 'agent', agent: { name: `agent ${at}` } });
  const tool = (at: number) => ({ kind: 'tool', tool: { name: `tool ${at % tools}` } });
  const made = (count: number) =>
    numbered(count, (at) => ({
      id: at === 0 ? 'root' : `call-${at}`,
      trace: 'root',
      attributes: at < agents ? name(at) : tool(at),
      ...(at > 0 && { parent: at < agents ? 'root' : at % agents === 0 ? 'root' : `call-${at % agents}` }),
    }));
  await report(bench, 'bench/agents', made(traceCalls));
  await report(bench, 'bench/graph', made(agents + 4 * tools));
  const ratios: number[] = [];
  const slow: number[] = [];
  const longest: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const tree = await opened(bench, '[role=treeitem]', '', 'bench/agents');
    await close(tree.page);
    const timeline = await opened(bench, '[role=treeitem]', '&as=timeline', 'bench/agents');
    const late = (await timeline.page.evaluate(looking)) as number;
    await close(timeline.page);
    const graph = await opened(bench, '.graph-node', '&as=graph', 'bench/graph');
    const task = (await graph.page.evaluate(longestTask)) as number;
    await close(graph.page);
    if (round === 0) continue;
    ratios.push(timeline.seconds / tree.seconds);
    slow.push(late);
    longest.push(task);
  }
  return [
    measured(
      `a trace of ${traceCalls} calls of ${agents} agents: timeline, beside the tree`,
      'ratio',
      ratios,
      {
        atMost: 1.2,
      },
    ),
    measured(`a trace of ${traceCalls} calls of ${agents} agents: frames over 50 ms, zooming`, '%', slow, {
      atMost: 5,
    }),
    measured(`a graph of ${agents + tools} parts: longest task`, 'ms', longest, { atMost: 300 }),
  ];
};

/** The longest task since the page was loaded, in ms. */
const longestTask = `new Promise((done) => {
  new PerformanceObserver((list) => done(Math.max(...list.getEntries().map(({ duration }) => duration))))
    .observe({ type: 'longtask', buffered: true });
  setTimeout(() => done(0), 500);
})`;

/** An input of 5 MB: the longest task of opening it. */
const largeFigures = async (bench: PageBench): Promise<Figure[]> => {
  const project = 'bench/large';
  await report(bench, project, [{ id: 'large', inputs: { text: 'word '.repeat(1_000_000), end: 1 } }]);
  const longest: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const page = await bench.visit(`${traceUrl(project, 'large')}&tab=data`);
    await page.locator('.json-row').first().waitFor();
    longest.push((await page.evaluate(longestTask)) as number);
    await close(page);
  }
  return [measured('an input of 5 MB: longest task', 'ms', longest, { atMost: 200 })];
};

/** A text that one call in so many has, and how the list looks for it in all calls. */
const sought = { text: 'needle', every: 1000 } as const;

const holding = (column: string) => ({
  $contains: {
    input: { $convert: { input: { $getField: column }, to: 'string' } },
    substr: { $literal: sought.text },
    case_insensitive: true,
  },
});

const searching = (project: string) => ({
  ...newest(project),
  filter: {},
  query: { $expr: { $or: ['inputs', 'output', 'exception'].map(holding) } },
});

/** First rows beside the API's first line and a page that has nothing to show. */
const listFigures = async (bench: PageBench, size: number): Promise<Figure[]> => {
  const project = 'bench/list';
  await report(
    bench,
    project,
    numbered(size, (at) => ({
      id: `call-${at}`,
      inputs: { text: at % sought.every === 0 ? `a ${sought.text} in hay` : 'hay' },
    })),
  );
  const firstLine = (body: object) =>
    measureSeconds(async () => {
      const answer = await bench.post('/calls/stream_query', body);
      const reader = answer.body?.getReader();
      await reader?.read();
      await reader?.cancel();
    });
  const firstRow = async (search: string) => {
    let page: Page | undefined;
    const seconds = await measureSeconds(async () => {
      page = await bench.visit(listUrl(project) + search);
      await page.locator('.row-link').first().waitFor();
    });
    if (page) await close(page);
    return seconds;
  };
  const ratios: number[] = [];
  const rows: number[] = [];
  const found: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const line = await firstLine(newest(project));
    const foundLine = await firstLine(searching(project));
    let page: Page | undefined;
    const empty = await measureSeconds(async () => {
      page = await bench.visit(listUrl('bench/empty'));
      await page.getByText('has no calls yet').waitFor();
    });
    if (page) await close(page);
    const first = await firstRow('');
    const hit = await firstRow(`&text=${sought.text}`);
    // The first round starts the functions.
    if (round === 0) continue;
    rows.push(first * 1000);
    ratios.push(first / (line + empty));
    found.push(hit / (foundLine + empty));
  }
  const api = await bench.measureReadUnits(async () =>
    (await bench.post('/calls/stream_query', newest(project))).text(),
  );
  return [
    measured(`first rows of ${size} calls`, 'ms', rows),
    measured(`first rows of ${size} calls, beside the first line and an empty page`, 'ratio', ratios, {
      atMost: 1.5,
    }),
    measured(
      `a search in ${size} calls: first hit, beside the first line and an empty page`,
      'ratio',
      found,
      {
        atMost: 1.5,
      },
    ),
    counted('the newest 100 with previews, asked for directly', 'read units', api),
  ];
};

/** More traces than a page of the list has. */
const traces = 120;

/** What opening a list reads: its rows, and the usage of those in sight. */
const openedFigure = async (bench: PageBench, callsOfTrace: number): Promise<Figure> => {
  const project = `bench/of-${callsOfTrace}`;
  const makeId = (at: number) => `01a0f4c2-c400-7000-8000-${String(at).padStart(12, '0')}`;
  await report(
    bench,
    project,
    numbered(traces * callsOfTrace, (at) => {
      const root = makeId(at - (at % callsOfTrace));
      return { id: makeId(at), trace: root, ...(at % callsOfTrace > 0 && { parent: root }) };
    }),
  );
  const opened = await bench.measureReadUnits(async () => {
    const page = await bench.visit(listUrl(project));
    await page.getByText('100+ rows').waitFor();
    await page.waitForLoadState('networkidle');
    await close(page);
  });
  return counted(`opening a list of traces of ${callsOfTrace} calls`, 'read units', opened);
};

/** Evaluations that are compared, and how many rows each has. */
const compared = { runs: ['run-a', 'run-b'], rows: 1000 } as const;

/** What a call got and answered. */
interface CallContent {
  readonly inputs?: object;
  readonly output?: object;
}

/** Reports an evaluation: its root, and for each row the call that scored it and the function below. */
const reportEvaluation = async ({ post }: PageBench, project: string, root: string): Promise<void> => {
  const call = (id: string, parent: string | null, op: string, at: number, parts: CallContent) => {
    const time = (ms: number) => new Date(beginning + at * 100 + ms).toISOString();
    const fields = { project_id: project, id };
    const { inputs = {}, output = null } = parts;
    const start = { ...fields, trace_id: root, parent_id: parent, op_name: op, started_at: time(0), inputs };
    return [
      { mode: 'start', req: { start } },
      { mode: 'end', req: { end: { ...fields, ended_at: time(90), output } } },
    ];
  };
  const rows = Array.from({ length: compared.rows }, (_, at) => {
    const id = `${root}-${at}`;
    const example = { inputs: { question: `Where is order ${at}?` }, expected: 'on its way' };
    const scores = { correct: root === 'run-a' || at % 7 > 0 ? 1 : 0, brevity: (at % 10) / 10 };
    const output = { output: `Order ${at} is on its way.`, scores, model_latency: 0.08 };
    return [
      ...call(id, root, 'Evaluation.predict_and_score', at, { inputs: { example }, output }),
      ...call(`${id}-answer`, id, 'answer', at, { inputs: example.inputs }),
    ];
  });
  const reports = [...call(root, null, 'Evaluation.evaluate', 0, {}), ...rows.flat()];
  for (let at = 0; at < reports.length; at += reportsPerRequest)
    await (await post('/call/upsert_batch', { batch: reports.slice(at, at + reportsPerRequest) })).text();
};

/** Two evaluations side by side: first rows beside the API's own, and frames while scrolling. */
const comparisonFigures = async (bench: PageBench): Promise<Figure[]> => {
  const project = 'bench/evaluations';
  for (const run of compared.runs) await reportEvaluation(bench, project, run);
  const firstLine = async (run: string) => {
    const answer = await bench.post('/calls/stream_query', {
      project_id: project,
      filter: { op_names: ['Evaluation.predict_and_score'], parent_ids: [run] },
      sort_by: [{ field: 'started_at', direction: 'asc' }],
      columns: ['ended_at', 'summary.svc', 'inputs.example', 'output'],
    });
    const reader = answer.body?.getReader();
    await reader?.read();
    await reader?.cancel();
  };
  const evaluationUrl = (runs: readonly string[]) =>
    `evaluation?project=${encodeURIComponent(project)}&runs=${encodeURIComponent(JSON.stringify(runs))}`;
  const ratios: number[] = [];
  const slow: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const lines = await measureSeconds(() => Promise.all(compared.runs.map(firstLine)));
    let page: Page | undefined;
    const empty = await measureSeconds(async () => {
      page = await bench.visit(evaluationUrl(['nothing']));
      await page.getByText('cannot be found').waitFor();
    });
    if (page) await close(page);
    const first = await measureSeconds(async () => {
      page = await bench.visit(evaluationUrl(compared.runs));
      await page.locator('li .run-row').first().waitFor();
    });
    await page?.getByText('every draw shows a fall').first().waitFor();
    const late = (await page?.evaluate(scrolling('.run-rows'))) as number;
    if (page) await close(page);
    // The first round starts the functions.
    if (round === 0) continue;
    ratios.push(first / (lines + empty));
    slow.push(late);
  }
  const what = `two evaluations of ${compared.rows} rows`;
  return [
    measured(`${what}: first rows, beside the first lines and an empty page`, 'ratio', ratios, {
      atMost: 1.5,
    }),
    measured(`${what}: frames over 50 ms, scrolling end to end`, '%', slow, { atMost: 5 }),
  ];
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
    progress('  a trace of agents');
    const crowd = await agentFigures(bench);
    progress('  an input of 5 MB');
    const large = await largeFigures(bench);
    progress('  two evaluations');
    const comparison = await comparisonFigures(bench);
    return [...list, ...trace, ...crowd, ...large, ...comparison];
  },
};
