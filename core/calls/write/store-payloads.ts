import { pack } from '../../encoding/index.ts';
import {
  expiry,
  type Item,
  mapConcurrent,
  putItems,
  putObject,
  type RequestBudget,
  type Store,
} from '../../storage/index.ts';
import type { ProjectId } from '../../wire/index.ts';
import { segmentItemKey } from '../codec/keys.ts';
import type { PayloadPointer } from '../model.ts';
import { endBlock, endFields, startBlock, startFields } from '../payloads/blocks.ts';
import {
  type Block,
  packSegments,
  type Segment,
  segmentLocation,
  segmentObject,
} from '../payloads/segments.ts';
import type { ReportedCall } from './group-reports.ts';

/** Where the payload of one gathered call came to lie. */
export interface StoredPayload {
  readonly call: ReportedCall;
  readonly start: BlockPlace;
  readonly end: BlockPlace;
  /** The packed payload itself, where it is to ride in the header's item. */
  readonly inline: Buffer | undefined;
}

interface BlockPlace {
  readonly pointer: PayloadPointer;
  /** How many fields the block holds. */
  readonly fields: number;
}

/**
 * Payloads outlive their headers, which no reader may find without them; DynamoDB deletes what has
 * expired when it gets to it.
 */
const payloadGraceDays = 3;

/**
 * The largest packed payload that may ride in a header's item: a header leaves about this much of
 * its write unit.
 */
const maxInline = 512;

/** How many projects of one request are stored at once; nearly every request has one. */
const projectConcurrency = 4;
/** How many objects of one project are stored at once. */
const bucketConcurrency = 4;

const blocksOf = (call: ReportedCall): Block[] => [
  ...(call.start ? [{ owner: `${call.id}\nS`, bytes: Buffer.from(startBlock(call.start)) }] : []),
  ...(call.end ? [{ owner: `${call.id}\nE`, bytes: Buffer.from(endBlock(call.end)) }] : []),
];

const none: PayloadPointer = { segment: null, offset: 0, length: 0 };

const placed = (call: ReportedCall, pointers: readonly PayloadPointer[], inline?: Buffer): StoredPayload => ({
  call,
  start: { pointer: (call.start && pointers[0]) ?? none, fields: startFields.length },
  end: { pointer: (call.end && pointers.at(-1)) ?? none, fields: endFields.length },
  inline,
});

/**
 * The payload of a request's only call, where it is small enough to cost nothing in the header's
 * item.
 */
const packInline = async (call: ReportedCall): Promise<StoredPayload | undefined> => {
  const blocks = blocksOf(call);
  const packed = await pack(Buffer.concat(blocks.map(({ bytes }) => bytes)));
  if (packed.length > maxInline) return undefined;
  let offset = 0;
  const pointers = blocks.map(({ bytes }) => {
    offset += bytes.length;
    return { segment: null, offset: offset - bytes.length, length: bytes.length };
  });
  return placed(call, pointers, packed);
};

const putSegments = async (
  store: Store,
  projectId: ProjectId,
  segments: readonly Segment[],
  budget: RequestBudget,
): Promise<void> => {
  const inTable = segments.filter(({ id }) => segmentLocation(id) === 'table');
  const inBucket = segments.filter(({ id }) => segmentLocation(id) === 'bucket');
  const items = inTable.map(
    ({ id, bytes }): Item => ({
      ...segmentItemKey(projectId, id),
      b: bytes,
      ...expiry(store, payloadGraceDays),
    }),
  );
  await putItems(store.table, items, budget);
  await mapConcurrent(inBucket, bucketConcurrency, ({ id, bytes }) =>
    putObject(store.bucket, segmentObject(projectId, id), bytes, budget),
  );
};

const storeProject = async (
  store: Store,
  projectId: ProjectId,
  calls: readonly ReportedCall[],
  budget: RequestBudget,
): Promise<StoredPayload[]> => {
  const [first] = calls;
  const inline = calls.length === 1 && first ? await packInline(first) : undefined;
  if (inline) return [inline];
  const blocks = calls.map(blocksOf);
  const { segments, pointers } = await packSegments(projectId, blocks.flat(), store.retentionDays);
  await putSegments(store, projectId, segments, budget);
  let next = 0;
  return calls.map((call, i) => {
    const count = blocks[i]?.length ?? 0;
    next += count;
    return placed(call, pointers.slice(next - count, next));
  });
};

/**
 * Stores the payloads of a request's calls, a project at a time, and says where each came to lie,
 * in the order of the calls.
 *
 * @throws ServiceError 503 when storage does not take them in time
 */
export const storePayloads = async (
  store: Store,
  calls: readonly ReportedCall[],
  budget: RequestBudget,
): Promise<StoredPayload[]> => {
  const byProject = Map.groupBy(calls, (call) => call.projectId);
  const stored = await mapConcurrent([...byProject], projectConcurrency, ([projectId, ofProject]) =>
    storeProject(store, projectId, ofProject, budget),
  );
  const ofCall = new Map(stored.flat().map((payload) => [payload.call, payload]));
  return calls.flatMap((call) => ofCall.get(call) ?? []);
};
