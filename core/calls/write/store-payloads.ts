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

/** The location of the stored payload of one call. */
export interface StoredPayload {
  readonly call: ReportedCall;
  readonly start: StoredBlock;
  readonly end: StoredBlock;
  /** The packed payload if it goes into the header's item. */
  readonly inline: Buffer | undefined;
}

interface StoredBlock {
  readonly pointer: PayloadPointer;
  /** The number of fields in the block. */
  readonly fields: number;
}

/**
 * Payloads outlive their headers by these days, because DynamoDB deletes expired items late and
 * readers need a header's payload.
 */
const payloadGraceDays = 3;

/**
 * The largest packed payload for a header's item, in bytes. A header leaves about as much of its
 * write unit.
 */
const maxInlineBytes = 512;

/** The number of projects stored concurrently. Nearly every request has one. */
const projectConcurrency = 4;
/** The number of objects of one project stored concurrently. */
const bucketConcurrency = 4;

const blocksOf = (call: ReportedCall): Block[] => [
  ...(call.start ? [{ owner: `${call.id}\nS`, bytes: Buffer.from(startBlock(call.start)) }] : []),
  ...(call.end ? [{ owner: `${call.id}\nE`, bytes: Buffer.from(endBlock(call.end)) }] : []),
];

const noBlock: PayloadPointer = { segment: null, offset: 0, length: 0 };

const toStored = (
  call: ReportedCall,
  pointers: readonly PayloadPointer[],
  inline?: Buffer,
): StoredPayload => ({
  call,
  start: { pointer: (call.start && pointers[0]) ?? noBlock, fields: startFields.length },
  end: { pointer: (call.end && pointers.at(-1)) ?? noBlock, fields: endFields.length },
  inline,
});

/** Packs the payload of a request's only call if it adds no cost to the header's item. */
const packInline = async (call: ReportedCall): Promise<StoredPayload | undefined> => {
  const blocks = blocksOf(call);
  const packed = await pack(Buffer.concat(blocks.map(({ bytes }) => bytes)));
  if (packed.length > maxInlineBytes) return undefined;
  let offset = 0;
  const pointers = blocks.map(({ bytes }) => {
    offset += bytes.length;
    return { segment: null, offset: offset - bytes.length, length: bytes.length };
  });
  return toStored(call, pointers, packed);
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
    return toStored(call, pointers.slice(next - count, next));
  });
};

/**
 * Stores the payloads of a request's calls, grouped by project.
 *
 * @returns the location of each payload, in the order of the calls
 * @throws ServiceError 503 when storage does not accept them in time
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
