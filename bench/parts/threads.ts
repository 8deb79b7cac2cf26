import { threadsQueryBody } from '../../api/schemas/threads.ts';
import type { Store } from '../../core/foundations/storage/index.ts';
import { parseBody } from '../../core/foundations/wire/parse-body.ts';
/** What statistics of threads read. It is independent of the machine's speed. */
import { queryThreads } from '../../core/questions/threads/index.ts';
import { agentTraces } from '../../examples/agent-traces.ts';
import type { Bench } from '../harness/bench.ts';
import type { Call } from '../harness/calls.ts';
import { totalUnits } from '../harness/capacity.ts';
import { counted, type Figure } from '../harness/figures.ts';
import type { BenchPart } from '../harness/part.ts';
import { benchBudget, type ReportMode, sendAll } from '../harness/reporting.ts';

const project_id = 'acme/shop';

/** A thread's id as long as those of tracing libraries. */
const threadId = (number: number): string => `01a0f4c2-c400-7430-99c4-${String(number).padStart(12, '0')}`;

/** A turn's summary as tracing libraries make it. It lies in the header. */
const summary = {
  usage: { 'gpt-4o': { requests: 3, prompt_tokens: 5321, completion_tokens: 187, total_tokens: 5508 } },
};

/**
 * The generator's turns in a tenth as many threads, and the calls below them. They have no
 * payloads, which queries over threads do not read.
 */
function* threadCalls(turnCount: number): Generator<Call> {
  let turns = 0;
  for (const { start, end } of agentTraces({ projectId: project_id, conversations: turnCount })) {
    const isTurn = start.id === start.turn_id;
    if (isTurn && turns++ === turnCount) return;
    yield {
      start: { ...start, thread_id: threadId(turns % (turnCount / 10)), inputs: {} },
      end: { ...end, output: null, summary: isTurn ? summary : {} },
    };
  }
}

const queries: Readonly<Record<string, object>> = {
  'all threads': {},
  '100 updated last': { limit: 100 },
  'first 100 by thread_id': { limit: 100, sort_by: [{ field: 'thread_id', direction: 'asc' }] },
  '20 thread_ids': { filter: { thread_ids: Array.from({ length: 20 }, (_, i) => threadId(i)) } },
};

const queryFigures = async (bench: Bench, store: Store, name: string, body: object): Promise<Figure[]> => {
  const query = parseBody(threadsQueryBody, JSON.stringify({ project_id, ...body }));
  const { counts, threads: answer } = queryThreads(store, query, benchBudget());
  const { reads, requests } = await bench.capacity.during(() => Array.fromAsync(answer));
  const units = totalUnits(reads);
  return [
    counted(`${name}: read units`, 'units', units, { of: reads }),
    counted(`${name}: turns`, 'turns a read unit', counts.turns / units),
    counted(`${name}: requests`, 'requests', requests),
  ];
};

/** What queries over `turnCount` turns in a tenth as many threads read. */
export const threadFigures = async (bench: Bench, turnCount: number): Promise<Figure[]> => {
  const calls = [...threadCalls(turnCount)];
  const figures: Figure[] = [];
  for (const mode of ['together', 'apart'] satisfies ReportMode[]) {
    const store = await bench.newStore('calls');
    await sendAll(store, calls, mode);
    for (const [name, body] of Object.entries(queries))
      figures.push(...(await queryFigures(bench, store, `${name} (${mode})`, body)));
  }
  return figures;
};

const maxTurns = 3000;

/** Read units of statistics of threads. */
export const threads: BenchPart = {
  name: 'threads',
  title: `Statistics of ${maxTurns / 10} threads with ${maxTurns} turns, and calls below them (units: DynamoDB Local)`,
  run: async ({ bench }) => threadFigures(await bench(), maxTurns),
};
