/**
 * Counts what thread statistics read over 10,000 turns in 1,000 threads, with the calls below the turns beside them. Nothing of it
 * depends on the machine's speed.
 *
 *     npm run bench:threads
 */
import type { CallStore } from '../core/calls/index.ts';
import { effort } from '../core/storage/index.ts';
import { queryThreads, threadsQueryBody } from '../core/threads/index.ts';
import { parseBody } from '../core/wire/schema.ts';
import { agentTraces } from '../examples/agent-traces.ts';
import { type Call, openBench, round, sendAll, ways } from './support.ts';

const project_id = 'acme/shop';
const turnCount = 10_000;
const threadCount = 1000;

/** A thread's id as long as those that tracing libraries make. */
const threadId = (number: number): string => `01a0f4c2-c400-7430-99c4-${String(number).padStart(12, '0')}`;

/** What a tracing library sums up for a turn: it rides in the header. */
const summary = {
  usage: { 'gpt-4o': { requests: 3, prompt_tokens: 5321, completion_tokens: 187, total_tokens: 5508 } },
};

/** The generator's turns, dealt out to the threads, and what is below them; without payloads, which no query over threads reads. */
function* calls(): Generator<Call> {
  let turns = 0;
  for (const { start, end } of agentTraces({ projectId: project_id, conversations: turnCount })) {
    const isTurn = start.id === start.turn_id;
    if (isTurn && turns++ === turnCount) return;
    yield {
      start: { ...start, thread_id: threadId(turns % threadCount), inputs: {} },
      end: { ...end, output: null, summary: isTurn ? summary : {} },
    };
  }
}

const queries: Record<string, object> = {
  'all threads': {},
  '100 updated last': { limit: 100 },
  'first 100 by thread_id': { limit: 100, sort_by: [{ field: 'thread_id', direction: 'asc' }] },
  '50 thread_ids': { filter: { thread_ids: Array.from({ length: 50 }, (_, i) => threadId(20 * i)) } },
};

const ask = async (store: CallStore, body: object): Promise<object> => {
  const spent = effort(600_000);
  const query = parseBody(threadsQueryBody, JSON.stringify({ project_id, ...body }));
  const { counts, threads } = queryThreads(store, query, spent);
  for await (const _batch of threads);
  const { readUnits, requests } = spent.meter;
  return {
    threads: counts.sent,
    turns: counts.turns,
    rows: counts.rows,
    'read units': readUnits,
    'turns a unit': round(counts.turns / readUnits, 1),
    requests,
  };
};

await using bench = await openBench();
const all = [...calls()];
console.log(`${turnCount} turns in ${threadCount} threads, and ${all.length - turnCount} calls below them`);
for (const way of ways) {
  const store = await bench.newStore();
  await sendAll(store, all, way, effort(3_600_000));
  console.log(`Starts and ends reported ${way}:`);
  const asked: Record<string, object> = {};
  for (const [name, body] of Object.entries(queries)) asked[name] = await ask(store, body);
  console.table(asked);
}
