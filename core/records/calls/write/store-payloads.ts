import { pack } from '../../../foundations/encoding/index.ts';
import {
  expiry,
  type Item,
  mapConcurrent,
  putItems,
  putObject,
  type RequestBudget,
  type Store,
} from '../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../foundations/wire/index.ts';
import { segmentItemKey } from '../codec/keys.ts';
import type { PayloadPointer } from '../model.ts';
import { endBlock, endFields, startBlock, startFields } from '../payloads/blocks.ts';
import { payloadGraceDays } from '../payloads/former.ts';
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

/**
 * Whether lists show a call with its payload: it is a root or has failed. Given its payload, also
 * whether it has room in the rows of lists at no cost.
 */
export type IsShown = (call: ReportedCall, payload?: StoredPayload) => boolean;

interface StoredBlock {
  readonly pointer: PayloadPointer;
  /** The number of fields in the block. */
  readonly fields: number;
}

/**
 * The largest packed payload for a header's item, in bytes. A header leaves about as much of its
 * write unit.
 */
const maxInlineBytes = 512;
/** A payload is not packed by itself if it would have to shrink to less than this part. */
const bestRatio = 16;
/**
 * The calls of a request whose payloads are shown in lists: so many, or one of so many. Of more,
 * reading their segment costs a list little for each.
 */
const [listedCalls, callsPerListed] = [4, 8];

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

/** Packs the payload of a call by itself if that may be small enough for the header's item. */
const packInline = async (call: ReportedCall): Promise<StoredPayload | undefined> => {
  const blocks = blocksOf(call);
  const length = blocks.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (length > maxInlineBytes * bestRatio) return undefined;
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

/** The payloads that ride in the items of their headers. */
const inlinePayloads = async (
  calls: readonly ReportedCall[],
  isShown: IsShown,
): Promise<Map<ReportedCall, StoredPayload>> => {
  const listed = calls.filter((call) => isShown(call));
  const few = listed.length <= Math.max(listedCalls, calls.length / callsPerListed) ? listed : [];
  // The only call of a request has no segment to share.
  const candidates = calls.length === 1 ? calls : few;
  const packed = await Promise.all(candidates.map(packInline));
  const fitting = packed.flatMap((payload) =>
    payload && (calls.length === 1 || isShown(payload.call, payload)) ? [payload] : [],
  );
  return new Map(fitting.map((payload) => [payload.call, payload]));
};

const storeProject = async (
  store: Store,
  projectId: ProjectId,
  all: readonly ReportedCall[],
  isShown: IsShown,
  budget: RequestBudget,
): Promise<StoredPayload[]> => {
  const inline = await inlinePayloads(all, isShown);
  const calls = all.filter((call) => !inline.has(call));
  const blocks = calls.map(blocksOf);
  const { segments, pointers } = await packSegments(projectId, blocks.flat(), store.retentionDays);
  await putSegments(store, projectId, segments, budget);
  let next = 0;
  const inSegments = calls.map((call, i) => {
    const count = blocks[i]?.length ?? 0;
    next += count;
    return toStored(call, pointers.slice(next - count, next));
  });
  return [...inline.values(), ...inSegments];
};

/**
 * Stores the payloads of a request's calls, grouped by project.
 *
 * @param isShown says which calls lists show with their payloads
 * @returns the location of each payload, in the order of the calls
 * @throws ServiceError 503 when storage does not accept them in time
 */
export const storePayloads = async (
  store: Store,
  calls: readonly ReportedCall[],
  isShown: IsShown,
  budget: RequestBudget,
): Promise<StoredPayload[]> => {
  const byProject = Map.groupBy(calls, (call) => call.projectId);
  const stored = await mapConcurrent([...byProject], projectConcurrency, ([projectId, ofProject]) =>
    storeProject(store, projectId, ofProject, isShown, budget),
  );
  const ofCall = new Map(stored.flat().map((payload) => [payload.call, payload]));
  return calls.flatMap((call) => ofCall.get(call) ?? []);
};
