/**
 * Measures queries over projects of 1,000, 10,000 and 100,000 calls: read units, which do not depend on the machine; and the speed of an export, its
 * first line and its memory, as ratios to bare loops over the same items in the same run.
 *
 *     npm run bench:queries                        # traces of the generator in examples/, repeated with other ids
 *     npm run bench:queries -- calls.jsonl         # or of a file, one {"start": …, "end": …} a line
 *     npm run bench:queries -- calls.jsonl 10000   # up to so many calls
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { paginateScan, QueryCommand } from '@aws-sdk/client-dynamodb';
import { type CallStore, timeRange } from '../core/calls/index.ts';
import { type QueryAnswer, queryCalls } from '../core/query/index.ts';
import { type Effort, effort, getItems, type Item, queryPage } from '../core/storage/index.ts';
import {
  type Call,
  median,
  openBench,
  readCalls,
  repeated,
  round,
  sendAll,
  toQuery,
  type Way,
  ways,
} from './support.ts';

const [file, most = '100000'] = process.argv.slice(2);
const calls = readCalls(file);
const sizes = [1000, 10_000, 100_000].filter((size) => size <= Number(most));
const largest = sizes.at(-1) ?? 0;
const [first] = calls as [Call];
const project_id = String(first.start.project_id);

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

await using bench = await openBench();
const stores: Record<Way, Map<number, CallStore>> = { together: new Map(), apart: new Map() };
for (const way of ways) {
  for (const size of sizes) {
    // Reported apart, calls take twice as long to load, and say the same of every size.
    if (way === 'apart' && size !== Math.min(10_000, largest)) continue;
    const store = await bench.newStore();
    process.stderr.write(`loading ${size} calls, starts and ends ${way}\n`);
    await sendAll(store, repeated(calls, size), way, effort(3_600_000));
    stores[way].set(size, store);
  }
}

const ask = (store: CallStore, body: object): { answer: QueryAnswer; spent: Effort } => {
  const spent = effort(3_600_000);
  return { answer: queryCalls(store, toQuery({ project_id, ...body }), spent), spent };
};
const drain = async (items: AsyncIterable<readonly unknown[]>): Promise<number> => {
  let count = 0;
  for await (const batch of items) count += batch.length;
  return count;
};

const field = (path: string) => ({ $getField: path });
const literal = (value: unknown) => ({ $literal: value });
const lastDay = new Date(Date.parse(String(first.start.started_at)) + 12 * 3_600_000).toISOString();
const shapes: Record<string, object> = {
  'newest 100, all columns': { limit: 100, sort_by: [{ field: 'started_at', direction: 'desc' }] },
  'one trace': { filter: { trace_ids: [first.start.trace_id] } },
  'one thread': { filter: { thread_ids: [first.start.thread_id] } },
  "one parent's children": { filter: { parent_ids: [first.start.id] } },
  '50 ids': { filter: { call_ids: calls.slice(0, 50).map(({ start }) => start.id) } },
  'slower than 5 s, headers': {
    columns: [],
    query: { $expr: { $gt: [field('summary.svc.latency_ms'), literal(5000)] } },
  },
  'errors of a day, headers': {
    columns: [],
    query: {
      $expr: {
        $and: [
          { $eq: [field('summary.svc.status'), literal('error')] },
          { $lt: [field('started_at'), literal(lastDay)] },
        ],
      },
    },
  },
  'most tokens, 100': {
    limit: 100,
    columns: ['summary.usage'],
    sort_by: [{ field: 'summary.usage.gpt-4o.total_tokens', direction: 'desc' }],
  },
  'everything, all columns': {},
};

const units: Record<string, object> = {};
for (const [name, body] of Object.entries(shapes)) {
  for (const way of ways) {
    for (const [size, store] of stores[way]) {
      const { answer, spent } = ask(store, body);
      const sent = await drain(answer.calls);
      const { readUnits, requests } = spent.meter;
      units[`${name} · ${size} ${way}`] = {
        sent,
        scanned: answer.counts.scanned,
        'read units': readUnits,
        'scanned a unit': round(answer.counts.scanned / readUnits, 1),
        requests,
      };
    }
  }
}
console.log('Read units (DynamoDB Local):');
console.table(units);

/** Pages through the same items as an export of everything, headers and then payloads, and throws them away. */
const bareLoop = async (store: CallStore): Promise<void> => {
  const spent = effort(3_600_000);
  for (let shard = 0; shard < (store.shards.at(-1) ?? 1); shard++) {
    let start: Item | undefined;
    do {
      const page = await queryPage(store.table, timeRange(project_id as never, shard, {}), spent, { start });
      start = page.next;
    } while (start);
  }
  for (let i = 0; i < segmentKeys.length; i += 100)
    await getItems(store.table, segmentKeys.slice(i, i + 100), spent, { consistent: false });
};

const store = stores.together.get(largest);
if (!store) throw new Error('nothing was loaded');

/** The keys of all segments, which the bare loop is given. */
const segmentKeys: Item[] = await (async () => {
  const keys: Item[] = [];
  const pages = paginateScan(
    { client: store.table.client },
    {
      TableName: store.table.name,
      FilterExpression: 'p = :p',
      ExpressionAttributeValues: { ':p': { S: 'P' } },
      ProjectionExpression: 'k, p',
    },
  );
  for await (const { Items = [] } of pages) keys.push(...Items);
  return keys;
})();

const seconds = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
};

const rounds = 3;
const [exports, loops]: [number[], number[]] = [[], []];
for (let i = 0; i < rounds; i++) {
  loops.push(await seconds(() => bareLoop(store)));
  exports.push(await seconds(() => drain(ask(store, {}).answer.calls)));
}
console.log(`\nExport of ${largest} calls, all columns, ${rounds} rounds, medians:`);
console.table({
  'bare loop over the same items': {
    seconds: round(median(loops)),
    'rows a second': Math.round(largest / median(loops)),
  },
  export: {
    seconds: round(median(exports)),
    'rows a second': Math.round(largest / median(exports)),
    'of the bare loop': `${Math.round((100 * median(loops)) / median(exports))} %`,
  },
});

const firstLine = async (body: object): Promise<number> =>
  seconds(async () => {
    for await (const batch of ask(store, body).answer.calls) if (batch.length > 0) break;
  });
const bareQuery = (): Promise<number> =>
  seconds(() => {
    const { partition } = timeRange(project_id as never, 0, {});
    return store.table.client.send(
      new QueryCommand({
        TableName: store.table.name,
        IndexName: 'by_time',
        KeyConditionExpression: 'tk = :k',
        ExpressionAttributeValues: { ':k': { B: partition[1] } },
        Limit: 128,
      }),
    );
  });
const [lines, bare]: [number[], number[]] = [[], []];
for (let i = 0; i < 21; i++) {
  bare.push(await bareQuery());
  lines.push(await firstLine({}));
}
console.log(`\nFirst line of ${largest} calls in the default order, 21 rounds, medians:`);
console.table({
  'one bare index query of 128 rows': { ms: round(1000 * median(bare)) },
  'first line': { ms: round(1000 * median(lines)), ratio: round(median(lines) / median(bare)) },
});

/** The most heap in use after collections while a query is answered, in MB, above what was in use before. */
const heapOf = async (from: CallStore, body: object): Promise<number> => {
  collectGarbage();
  const before = process.memoryUsage();
  let most = 0;
  let batches = 0;
  for await (const batch of ask(from, body).answer.calls) {
    if (batch.length === 0 || batches++ % 25 !== 0) continue;
    collectGarbage();
    const { heapUsed, external, arrayBuffers } = process.memoryUsage();
    const now = heapUsed + external + arrayBuffers;
    most = Math.max(most, now - before.heapUsed - before.external - before.arrayBuffers);
  }
  return round(most / 1e6, 1);
};
const memory: Record<string, object> = {};
for (const [name, body] of Object.entries({
  'everything, all columns': {},
  'sorted by model, newest 100': { limit: 100, sort_by: [{ field: 'inputs.model', direction: 'asc' }] },
})) {
  for (const size of sizes) {
    const sized = stores.together.get(size);
    if (sized) memory[`${name} · ${size}`] = { MB: await heapOf(sized, body) };
  }
}
console.log('\nMemory in use while it is answered, collected first, beyond what was in use before:');
console.table(memory);
