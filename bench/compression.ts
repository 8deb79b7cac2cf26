/**
 * Counts what storing and querying calls takes: bytes of payload, write and read units, requests. Nothing of it depends on the
 * machine's speed.
 *
 *     npm run bench:storage                      # traces of the generator in examples/
 *     npm run bench:storage -- calls.jsonl       # or of a file, one {"start": …, "end": …} a line
 */
import { constants, zstdCompressSync } from 'node:zlib';
import { paginateScan } from '@aws-sdk/client-dynamodb';
import type { CallStore } from '../core/calls/index.ts';
import { queryCalls } from '../core/query/index.ts';
import { effort, type Item, putItems } from '../core/storage/index.ts';
import { batchSize, type Call, openBench, readCalls, sendAll, toQuery, ways } from './support.ts';

const calls = readCalls(process.argv[2]);
const bytesEach =
  calls.reduce((sum, call) => sum + Buffer.byteLength(JSON.stringify(call)), 0) / calls.length;
const per = (total: number): number => Math.round((100 * total) / calls.length) / 100;

const payloadOf = ({ start, end }: Call): string =>
  [start.attributes, start.inputs, end.output, end.summary, end.exception]
    .map((v) => `${JSON.stringify(v)}\n`)
    .join('');

/** Bytes a call of payloads compressed in groups. */
const compressed = (size: number, level: number): number => {
  let bytes = 0;
  for (let i = 0; i < calls.length; i += size) {
    const group = Buffer.from(
      calls
        .slice(i, i + size)
        .map(payloadOf)
        .join(''),
    );
    const params = {
      [constants.ZSTD_c_compressionLevel]: level,
      [constants.ZSTD_c_enableLongDistanceMatching]: 1,
      [constants.ZSTD_c_windowLog]: 23,
    };
    bytes += zstdCompressSync(group, { params }).length;
  }
  return Math.round(bytes / calls.length);
};

console.log(`${calls.length} calls of ${Math.round(bytesEach)} bytes of JSON each on average\n`);
console.log('Compressed payload, bytes a call, by calls in a segment (zstd levels 1, 3, 6, 9):');
console.table(
  Object.fromEntries(
    [1, 25, 100].map((size) => [
      size,
      Object.fromEntries([1, 3, 6, 9].map((level) => [`level ${level}`, compressed(size, level)])),
    ]),
  ),
);

await using bench = await openBench();
const { client, newStore } = bench;

/** DynamoDB Local does not say what PartiQL inserts take: as much as the same items put into a table like it. */
const unitsOfStarts = async (store: CallStore): Promise<number> => {
  const twin = await newStore();
  const spent = effort(600_000);
  for await (const { Items = [] } of paginateScan({ client }, { TableName: store.table.name })) {
    await putItems(
      twin.table,
      (Items as Item[]).filter((item) => item.p?.S === 'S'),
      spent,
    );
  }
  return spent.meter.writeUnits;
};

const written: Record<string, object> = {};
const stores: Record<string, CallStore> = {};
for (const way of ways) {
  const store = await newStore();
  const spent = effort(600_000);
  await sendAll(store, calls, way, spent);
  const { readUnits, requests } = spent.meter;
  const writeUnits = spent.meter.writeUnits + (way === 'apart' ? await unitsOfStarts(store) : 0);
  written[way] = {
    'write units': per(writeUnits),
    'read units': per(readUnits),
    requests: per(requests),
    '$ a million calls': ((writeUnits * 0.625 + readUnits * 0.125) / calls.length).toFixed(2),
  };
  stores[way] = store;
}
console.log(
  `Written in batches of ${batchSize}, a call (us-east-1: $0.625 a million write units, $0.125 a million read units):`,
);
console.table(written);

const [first] = calls;
const project_id = first?.start.project_id;
const queries: Record<string, object> = {
  'newest 100, all columns': { limit: 100, sort_by: [{ field: 'started_at', direction: 'desc' }] },
  'everything, all columns': {},
  'everything, headers only': { columns: ['ended_at'] },
  'one trace': { filter: { trace_ids: [first?.start.trace_id] } },
  'one thread': { filter: { thread_ids: [first?.start.thread_id] } },
  "one parent's children": { filter: { parent_ids: [first?.start.id] } },
  '50 ids': { filter: { call_ids: calls.slice(0, 50).map(({ start }) => start.id) } },
};
const read: Record<string, object> = {};
for (const [name, body] of Object.entries(queries)) {
  const query = toQuery({ project_id, ...body });
  for (const [way, store] of Object.entries(stores)) {
    const spent = effort(600_000);
    const answer = queryCalls(store, query, spent);
    await Array.fromAsync(answer.calls);
    read[`${name} (${way})`] = {
      calls: answer.counts.sent,
      'read units': spent.meter.readUnits,
      requests: spent.meter.requests,
    };
  }
}
console.log('Queried:');
console.table(read);
