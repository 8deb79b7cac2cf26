/**
 * Counts what storing and querying calls takes: bytes of payload, write and read units, requests. Nothing of it depends on the
 * machine's speed.
 *
 *     npm run bench:storage                      # traces of the generator in examples/
 *     npm run bench:storage -- calls.jsonl       # or of a file, one {"start": …, "end": …} a line
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constants, zstdCompressSync } from 'node:zlib';
import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { type CallStore, callBatchBody, writeCalls } from '../core/calls/index.ts';
import { type CallsQuery, callsQueryBody, queryCalls } from '../core/query/index.ts';
import { type Effort, effort, type Item, putItems } from '../core/storage/index.ts';
import { wireNames } from '../core/wire/index.ts';
import { parseBody } from '../core/wire/schema.ts';
import { agentTraces } from '../examples/agent-traces.ts';
import { startDynamodb } from '../local/dynamodb.ts';
import { localCredentials, localRegion } from '../local/store.ts';
import { synthesize } from '../local/synthesize.ts';
import { createStores } from '../local/tables.ts';
import { readStack } from '../local/template/stack.ts';

interface Call {
  readonly start: Readonly<Record<string, unknown>>;
  readonly end: Readonly<Record<string, unknown>>;
}

const names = wireNames('svc');
const [file] = process.argv.slice(2);
const calls: Call[] = file
  ? readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Call)
  : [...agentTraces({ projectId: 'acme/shop', conversations: 100 })];
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

await using cleanup = new AsyncDisposableStack();
const dynamodb = await startDynamodb();
cleanup.defer(() => dynamodb.stop());
const client = new DynamoDBClient({
  region: localRegion,
  credentials: localCredentials,
  endpoint: dynamodb.endpoint,
});
cleanup.defer(() => client.destroy());

const assembly = mkdtempSync(join(tmpdir(), 'pennytrace-bench-'));
cleanup.defer(() => rmSync(assembly, { recursive: true }));
await synthesize(assembly);
// No segment of these traces is too big for an item, so that no bucket is ever asked.
const s3 = new S3Client({ region: localRegion, credentials: localCredentials });

let stacks = 0;
/** Empty tables of the deployed schema. */
const newStore = async (): Promise<CallStore> => {
  const { tables, outputs } = readStack(assembly, `bench-${stacks++}`);
  await createStores({ tables, buckets: [] }, client, s3);
  const { CallsTable: name = '' } = outputs;
  return { table: { client, name }, bucket: { client: s3, name: 'none' }, service: 'svc', shards: [4] };
};

const batchBody = callBatchBody(names);
const send = async (store: CallStore, batch: readonly object[], spent: Effort): Promise<void> => {
  await writeCalls(store, parseBody(batchBody, JSON.stringify({ batch })).batch, 'ada', spent);
};
const startOf = ({ start }: Call) => ({ mode: 'start', req: { start } });
const endOf = ({ end }: Call) => ({ mode: 'end', req: { end } });

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

const batchSize = 100;
const written: Record<string, object> = {};
const stores: Record<string, CallStore> = {};
for (const way of ['together', 'apart']) {
  const store = await newStore();
  const spent = effort(600_000);
  for (let i = 0; i < calls.length; i += batchSize) {
    const batch = calls.slice(i, i + batchSize);
    if (way === 'together')
      await send(
        store,
        batch.flatMap((call) => [startOf(call), endOf(call)]),
        spent,
      );
    else
      for (const part of [startOf, endOf])
        await send(
          store,
          batch.map((call) => part(call)),
          spent,
        );
  }
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
  const query: CallsQuery = parseBody(callsQueryBody(names), JSON.stringify({ project_id, ...body }));
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
