/**
 * Counts what storing feedback and joining it onto calls takes: write and read units, requests. Nothing of it depends on the
 * machine's speed.
 *
 *     npm run bench:feedback
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { type ConsumedCapacity, PutItemCommand, paginateScan } from '@aws-sdk/client-dynamodb';
import {
  createFeedback,
  type FeedbackStore,
  feedbackBatchBody,
  feedbackOn,
  replaceFeedback,
} from '../core/feedback/index.ts';
import { effort } from '../core/storage/index.ts';
import { type ProjectId, wireNames } from '../core/wire/index.ts';
import { parseBody } from '../core/wire/schema.ts';
import { openBench, round } from './support.ts';

const names = wireNames('svc');
const batchBody = feedbackBatchBody(names);
const project = 'acme/shop' as ProjectId;
const scheme = `svc:///${project}`;
const count = 200;

const noise = (characters: number): string =>
  randomBytes(characters).toString('base64url').slice(0, characters);
const digest = (): string => noise(43);

const callIds = Array.from({ length: 100 }, () => randomUUID());
const onCall = (i: number): string => `${scheme}/call/${callIds[i % callIds.length]}`;

const text = 'The answer is right, and says where it is from; a shorter one would have done. ';
const allRefs = () => ({
  annotation_ref: `${scheme}/object/quality:${digest()}`,
  runnable_ref: `${scheme}/op/judge:${digest()}`,
  call_ref: `${scheme}/call/${randomUUID()}`,
  trigger_ref: `${scheme}/object/nightly:${digest()}`,
});

/** Payloads as people and scorers give them, and the worst there are below 600 bytes: noise, with every ref. */
const kinds: Readonly<Record<string, () => object>> = {
  'an emoji': () => ({ payload: { emoji: '👍' } }),
  'a score and a reason': () => ({
    payload: { score: 0.8, reason: text.repeat(2) },
    creator: 'Ada',
    call_ref: onCall(7),
  }),
  '599 bytes of noise': () => ({ payload: { noise: noise(587) } }),
  '599 bytes of noise and every ref': () => ({
    payload: { noise: noise(587) },
    creator: 'somebody',
    ...allRefs(),
  }),
  '5,000 bytes of text': () => ({ payload: { reason: text.repeat(63).slice(0, 4986) } }),
  '5,000 bytes of noise': () => ({ payload: { noise: noise(4988) } }),
};

/** Creates feedback as a client would, in one batch. */
const create = async (store: FeedbackStore, batch: readonly object[], spent = effort(600_000)) => {
  const drafts = parseBody(batchBody, JSON.stringify({ batch })).batch;
  const creations = drafts.map((draft, i) => ({ draft, loc: ['batch', String(i)] }));
  return createFeedback(store, creations, 'ada', spent);
};

const feedbackOf = (fields: object, i: number): object => ({
  ...{ project_id: project, svc_ref: onCall(i), feedback_type: 'reaction' },
  ...fields,
});

await using bench = await openBench();

/** What putting a store's items into a table like it takes: DynamoDB Local does not say it of INSERTs. */
const unitsOfItems = async (store: FeedbackStore) => {
  const twin = await bench.newFeedbackStore();
  const units: Record<string, number> = { table: 0, by_time: 0, by_ref: 0, by_type: 0 };
  const add = (name: string, capacity: { CapacityUnits?: number | undefined } | undefined) => {
    units[name] = (units[name] ?? 0) + (capacity?.CapacityUnits ?? 0) / count;
  };
  for await (const { Items = [] } of paginateScan(store.table, { TableName: store.table.name })) {
    for (const Item of Items) {
      const put = new PutItemCommand({ TableName: twin.table.name, Item, ReturnConsumedCapacity: 'INDEXES' });
      const { ConsumedCapacity: taken }: { ConsumedCapacity?: ConsumedCapacity | undefined } =
        await twin.table.client.send(put);
      add('table', taken?.Table);
      for (const [name, ofIndex] of Object.entries(taken?.GlobalSecondaryIndexes ?? {})) add(name, ofIndex);
    }
  }
  return units;
};

const written: Record<string, object> = {};
for (const [kind, fieldsOf] of Object.entries(kinds)) {
  const store = await bench.newFeedbackStore();
  const batch = Array.from({ length: count }, (_, i) => feedbackOf(fieldsOf(), i));
  const spent = effort(600_000);
  await create(store, batch, spent);
  const units = await unitsOfItems(store);
  const total = Object.values(units).reduce((sum, of) => sum + of, 0);
  written[kind] = {
    ...Object.fromEntries(Object.entries(units).map(([name, of]) => [name, round(of)])),
    'write units': round(total),
    'requests a batch': spent.meter.requests,
    '$ a million': round(total * 0.625),
  };
}
console.log(`Created in batches of ${count}, a record (us-east-1: $0.625 a million write units):`);
console.table(written);

const store = await bench.newFeedbackStore();
const joined: Record<string, object> = {};
for (const [situation, perCall] of Object.entries({
  'no feedback': 0,
  'one record each': 1,
  'ten records each': 9,
})) {
  const batch = Array.from({ length: perCall * callIds.length }, (_, i) =>
    feedbackOf({ payload: { score: 0.8, reason: text } }, i),
  );
  await create(store, batch);
  const spent = effort(600_000);
  const found = await feedbackOn(store, project, callIds, spent);
  joined[situation] = {
    records: [...found.values()].flat().length,
    queries: spent.meter.requests,
    'read units, as DynamoDB Local counts': spent.meter.readUnits,
    'read units, at least half a unit a query': Math.max(spent.meter.readUnits, spent.meter.requests / 2),
  };
}
console.log('Joined onto 100 calls:');
console.table(joined);

const [old] = await create(store, [feedbackOf({ payload: { score: 1 } }, 0)]);
const replacing = effort(600_000);
const [draft] = parseBody(
  batchBody,
  JSON.stringify({ batch: [feedbackOf({ payload: { score: 2 } }, 0)] }),
).batch;
if (!old || !draft) throw new Error('there is nothing to replace');
await replaceFeedback(store, { feedbackId: old.id, draft }, 'ada', replacing);
console.log('One replacement, as DynamoDB Local counts:');
console.table(replacing.meter);
