/**
 * What the lists that people open first read: the newest roots and the newest errors, at several
 * numbers of calls. It is independent of the machine's speed.
 */
import type { Store } from '../../core/foundations/storage/index.ts';
import type { Bench } from '../harness/bench.ts';
import { type Call, repeatCalls } from '../harness/calls.ts';
import type { Figure } from '../harness/figures.ts';
import type { BenchContext, BenchPart } from '../harness/part.ts';
import {
  batchSize,
  endOf,
  isOf,
  newestBy,
  type ReportMode,
  send,
  sendAll,
  startOf,
} from '../harness/reporting.ts';
import { queryFigures } from './queries.ts';

/** Calls in a trace, the root included. Traces from OpenTelemetry have 30 to 100. */
const callsPerTrace = 50;
/** One call of so many fails. */
const callsPerError = 100;

/** Makes what gives the items of a list one after the other, over and over. */
const inTurn = <T>(list: readonly [T, ...T[]]): (() => T) => {
  let next = 0;
  return () => list[next++ % list.length] ?? list[0];
};

const some = (calls: readonly Call[], others: readonly Call[]): [Call, ...Call[]] => {
  const [first, ...more] = calls.length > 0 ? calls : others;
  if (!first) throw new Error('the lists need at least one call');
  return [first, ...more];
};

/**
 * The calls in longer traces: a root of theirs, and nested calls of theirs below it. One in a
 * hundred is a nested call that has failed, as one of theirs did. Calls that are in no list have no
 * payload: they lie between those that are, and nothing reads them.
 */
function* longTraces(calls: readonly Call[], count: number): Generator<Call> {
  const isRoot = ({ start }: Call): boolean => start.parent_id === null;
  const hasFailed = ({ end }: Call): boolean => typeof end.exception === 'string';
  const nextRoot = inTurn(
    some(
      calls.filter((call) => isRoot(call) && !hasFailed(call)),
      calls,
    ),
  );
  const nested = calls.filter((call) => !isRoot(call));
  const nextFine = inTurn(
    some(
      nested.filter((call) => !hasFailed(call)),
      calls,
    ),
  );
  const nextFailed = inTurn(some(nested.filter(hasFailed), calls));
  let root: Call | undefined;
  let place = 0;
  for (const { start, end } of repeatCalls(calls, count)) {
    const isFirst = place % callsPerTrace === 0;
    const isFailed = place % callsPerError === callsPerError / 2 + 1;
    const like = isFirst ? nextRoot() : isFailed ? nextFailed() : nextFine();
    const own = { id: start.id, started_at: start.started_at, thread_id: null, turn_id: null };
    const trace_id = isFirst ? start.trace_id : root?.start.trace_id;
    const parent_id = isFirst ? null : root?.start.id;
    const isListed = isFirst || isFailed;
    const call: Call = {
      start: {
        ...like.start,
        ...own,
        ...{ trace_id: trace_id ?? start.trace_id, parent_id: parent_id ?? null },
        ...(!isListed && { inputs: {}, attributes: {} }),
      },
      end: { ...like.end, id: end.id, ended_at: end.ended_at, ...(!isListed && { output: null }) },
    };
    if (isFirst) root = call;
    place++;
    yield call;
  }
}

/** The two lists as bodies of queries, by name. The interface's own service name is `svc`. */
const lists: Readonly<Record<string, object>> = {
  'newest 100 roots, all columns': { ...newestBy('started_at'), filter: { trace_roots_only: true } },
  'newest 100 errors, all columns': {
    ...newestBy('started_at'),
    query: isOf('summary.svc.status', 'error'),
  },
};

const isListed = ({ start, end }: Call): boolean =>
  start.parent_id === null || typeof end.exception === 'string';

/**
 * Reports calls in batches. Those that are in no list have their start and end in one report, in
 * any mode. It takes half the time, and nothing reads them.
 */
const report = async (store: Store, calls: Iterable<Call>, mode: ReportMode): Promise<void> => {
  if (mode !== 'apart') return sendAll(store, calls, mode);
  const all = [...calls];
  for (let i = 0; i < all.length; i += batchSize) {
    const batch = all.slice(i, i + batchSize);
    await send(
      store,
      batch.flatMap((call) => (isListed(call) ? [startOf(call)] : [startOf(call), endOf(call)])),
    );
    await send(store, batch.filter(isListed).map(endOf));
  }
};

/** The most read units for a list, whatever lies between its rows. */
const atMost = 25;

/** What the lists read of `size` calls. */
export const listFigures = async (
  bench: Bench,
  calls: readonly Call[],
  size: number,
  mode: ReportMode,
): Promise<Figure[]> => {
  const store = await bench.newStore('calls');
  const [first] = calls;
  if (!first) return [];
  await report(store, longTraces(calls, size), mode);
  const figures: Figure[] = [];
  for (const [name, body] of Object.entries(lists)) {
    const counts = await queryFigures(bench, store, first, [`${name}, of ${size} (${mode})`, body], 1);
    figures.push(
      ...counts.map((figure) => (/read units$/.test(figure.name) ? { ...figure, atMost } : figure)),
    );
  }
  return figures;
};

/** Read units of the lists at each size. */
export const listPart: BenchPart = {
  name: 'lists',
  title: `Newest roots and errors, in traces of ${callsPerTrace} calls (units: DynamoDB Local)`,
  run: async ({ bench, calls, sizes, progress }: BenchContext) => {
    const opened = await bench();
    const figures: Figure[] = [];
    for (const mode of ['together', 'apart'] satisfies ReportMode[])
      for (const size of sizes) {
        progress(`  ${size} calls, ${mode}`);
        figures.push(...(await listFigures(opened, calls, size, mode)));
      }
    return figures;
  },
};
