/**
 * How long replies to coding agents are, beside what they are about: calls of a real agent, and captures of
 * instrumentations. And the time that it takes to load the SDK of the protocol, with a container's first
 * request.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { measureResult, type ToolContext, toolsByName } from '../../core/doors/mcp/index.ts';
import { decodeExport, selectSpans, storeSpans } from '../../core/doors/otel/index.ts';
import { noLookups, queryCalls } from '../../core/questions/query/index.ts';
import { createLinks } from '../../foundations/links.ts';
import type { Store } from '../../foundations/storage/index.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import type { Bench, BenchContext, BenchPart } from '../harness/bench.ts';
import { readCalls } from '../harness/calls.ts';
import { counted, type Figure, measured, median } from '../harness/figures.ts';
import { benchBudget, sendAll, toQuery } from '../harness/reporting.ts';
import { makeBundles } from './starts.ts';

const root = resolve(import.meta.dirname, '../..');
const captures = join(root, 'test/otel/captures');
const airline = join(root, 'bench/data/airline-agent-calls.jsonl.gz');
const captured = 'bench/captures' as ProjectId;

/** The characters of a reply unless it is told otherwise. */
const budget = 20_000;

/** Stores what instrumentations have sent. */
const storeCaptures = async (store: Store): Promise<void> => {
  for (const name of readdirSync(captures, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
    const folder = join(captures, name.name);
    for (const file of readdirSync(folder).filter((name) => /^\d+\.bin$/.test(name))) {
      const { headers } = JSON.parse(readFileSync(join(folder, file.replace('.bin', '.json')), 'utf8'));
      const type = headers['content-type']?.includes('json') ? 'application/json' : 'application/x-protobuf';
      const received = await decodeExport(
        readFileSync(join(folder, file)),
        type,
        headers['content-encoding'] ?? '',
      );
      const grants = [{ scope: '*', role: 'write' }] as const;
      const selection = { grants, role: 'write', header: captured } as const;
      const { spans } = selectSpans(received, selection);
      await storeSpans({ calls: store, feedback: store }, spans, 'ada', benchBudget());
    }
  }
};

/** What tools work with: no prices, no feedback, and no rollups. */
const createContext = (store: Store): ToolContext => ({
  caller: { user: 'ada', keyId: 'bench', grants: [{ scope: '*', role: 'read' }] },
  budget: benchBudget(),
  stores: { calls: store, feedback: store, objects: store, bookkeeping: store.table },
  lookups: { ...noLookups, steadyPrices: async () => () => undefined },
  links: createLinks('https://a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com/api'),
  getSchema: ({ request }) => request(),
  names: () => {},
  now: Date.now() * 1000,
  movingLabels: (work) => work({ grants: [], user: 'ada' }),
});

/** The characters of a tool's reply. */
const measureReply = async (context: ToolContext, name: string, args: object): Promise<number> => {
  const tool = toolsByName.get(name);
  if (!tool) throw new Error(`there is no tool ${name}`);
  return measureResult(await tool.run(args, context));
};

/** Every call of a project as the API answers it, with where it belongs. */
const wholeCalls = async (store: Store, project: ProjectId) => {
  const query = toQuery({ project_id: project });
  const batches = await Array.fromAsync(queryCalls(store, query, benchBudget()).json());
  return batches.flat().map((json) => {
    const { id, trace_id: trace, thread_id: thread } = JSON.parse(json) as Record<string, string | null>;
    return { json, id, trace, thread };
  });
};

/** The characters of the whole calls that a reply is about, and of the reply. */
interface Lengths {
  readonly before: number;
  readonly after: number;
}

const toFigures = (name: string, lengths: readonly Lengths[]): Figure[] => {
  const getLengths = (which: keyof Lengths) => lengths.map((lengths) => lengths[which]);
  return [
    counted(`${name}: before cutting, median`, 'characters', median(getLengths('before'))),
    counted(`${name}: before cutting, most`, 'characters', Math.max(...getLengths('before'))),
    counted(`${name}: after, median`, 'characters', median(getLengths('after'))),
    counted(`${name}: after, most`, 'characters', Math.max(...getLengths('after')), { atMost: budget }),
  ];
};

/** So many traces, calls and threads of each project are read. */
const sampled = 60;

/** Some of a list, evenly. */
const sampleEvenly = <T>(list: readonly T[]): readonly T[] =>
  list.filter((_, i) => i % Math.max(1, Math.floor(list.length / sampled)) === 0).slice(0, sampled);

const replies = async (bench: Bench, context: BenchContext): Promise<Figure[]> => {
  const store = await bench.newStore('calls');
  const calls = readCalls(airline);
  context.progress(`${calls.length} calls of an airline's agent`);
  await sendAll(store, calls, 'whole');
  await storeCaptures(store);
  const asked = createContext(store);
  const own = String(calls[0]?.start.project_id) as ProjectId;
  const all = new Map<string, Lengths[]>([
    ['get_call', []],
    ['get_trace', []],
    ['get_thread', []],
    ['query_calls', []],
  ]);
  for (const project of [own, captured]) {
    const found = await wholeCalls(store, project);
    const read = async (name: string, args: object, about: readonly { readonly json: string }[]) => {
      const before = about.reduce((sum, { json }) => sum + json.length, 0);
      all
        .get(name)
        ?.push({ before, after: await measureReply(asked, name, { project_id: project, ...args }) });
    };
    for (const call of sampleEvenly(found)) await read('get_call', { call_id: call.id }, [call]);
    const traces = [...Map.groupBy(found, ({ trace }) => trace)];
    for (const [trace, traceCalls] of sampleEvenly(traces))
      await read('get_trace', { trace_id: trace }, traceCalls);
    const threads = [
      ...Map.groupBy(
        found.filter(({ thread }) => thread !== null),
        ({ thread }) => thread,
      ),
    ];
    for (const [thread, threadCalls] of sampleEvenly(threads))
      await read('get_thread', { thread_id: thread }, threadCalls);
    const columns = ['inputs', 'output'];
    const start = '2000-01-01';
    const end = '2200-01-01';
    await read('query_calls', { start, end, columns, limit: 50 }, found.slice(-50));
  }
  return [...all].flatMap(([name, lengths]) => toFigures(name, lengths));
};

/** The time to load the SDK, as it lies beside the bundle, in ms. */
const sdkTimes = async (): Promise<number[]> => {
  using bundles = await makeBundles();
  const file = join(bundles.folder, 'mcp/node_modules/@modelcontextprotocol/server/index.cjs');
  const script = `const began = performance.now(); require(${JSON.stringify(file)}); console.log(performance.now() - began)`;
  return Array.from({ length: 15 }, () => Number(execFileSync(process.execPath, ['--eval', script])));
};

/** Replies to coding agents. */
export const agents: BenchPart = {
  name: 'agents',
  title: 'Replies of tools to coding agents, in characters of the whole result',
  run: async (context) => [
    ...(await replies(await context.bench(), context)),
    measured('the SDK of the protocol: loaded', 'ms', await sdkTimes()),
  ],
};
