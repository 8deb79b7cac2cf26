import { pack } from '../../foundations/encoding/index.ts';
import {
  expiry,
  type Item,
  itemBytes,
  mapConcurrent,
  putItems,
  putObject,
  type RequestBudget,
  type Store,
} from '../../foundations/storage/index.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import { maxInlineBytes } from './items.ts';
import { segmentItemKey } from './keys.ts';
import type { PayloadPointer } from './model.ts';
import {
  type Block,
  endBlock,
  packSegments,
  payloadGraceDays,
  type Segment,
  segmentLocation,
  segmentObject,
  startBlock,
} from './payloads.ts';
import type { ReportedCall } from './traces.ts';

/** Where the payload of a reported call lies. A part that was not reported has an empty block. */
export interface PayloadLocation {
  readonly start: PayloadPointer;
  readonly end: PayloadPointer;
  /** The packed payload if it goes into the header's item. */
  readonly inline?: Buffer;
}

/** Makes the items of reported calls, for which it needs to know where their payloads lie. */
export interface ItemMaker<T extends { readonly item: Item }> {
  /** Whether lists show a call with its payload: it is a root or has failed. */
  isListed(call: ReportedCall): boolean;
  make(call: ReportedCall, location: PayloadLocation): T;
}

/** A payload is not packed by itself if it would have to shrink to less than this part. */
const bestRatio = 16;
/** An item or row of so many bytes takes one write unit. */
const unitBytes = 1024;
/**
 * The calls of a request whose payloads are shown in lists: so many, or one of so many. Of more,
 * reading their segment costs a list little for each.
 */
const [listedCalls, callsPerListed] = [4, 8];

/** The number of projects stored concurrently. Nearly every request has one. */
const projectConcurrency = 4;
/** The number of objects of one project stored concurrently. */
const bucketConcurrency = 4;

const blocksOf = ({ id, start, end }: ReportedCall): Block[] => [
  ...(start ? [{ owner: `${id}\nS`, bytes: Buffer.from(startBlock(start)) }] : []),
  ...(end ? [{ owner: `${id}\nE`, bytes: Buffer.from(endBlock(end)) }] : []),
];

const noBlock: PayloadPointer = { segment: null, offset: 0, length: 0 };

/** @param pointers of the call's blocks, in order */
const locationOf = ({ start, end }: ReportedCall, pointers: readonly PayloadPointer[]): PayloadLocation => ({
  start: (start && pointers[0]) ?? noBlock,
  end: (end && pointers.at(-1)) ?? noBlock,
});

/** Packs the payload of a call by itself if that may be small enough for the header's item. */
const packInline = async (
  call: ReportedCall,
  blocks: readonly Block[],
): Promise<PayloadLocation | undefined> => {
  const length = blocks.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (length > maxInlineBytes * bestRatio) return undefined;
  const inline = await pack(Buffer.concat(blocks.map(({ bytes }) => bytes)));
  if (inline.length > maxInlineBytes) return undefined;
  let offset = 0;
  const pointers = blocks.map(({ bytes }) => {
    offset += bytes.length;
    return { segment: null, offset: offset - bytes.length, length: bytes.length };
  });
  return { ...locationOf(call, pointers), inline };
};

const putSegments = async (
  store: Store,
  projectId: ProjectId,
  segments: readonly Segment[],
  budget: RequestBudget,
): Promise<void> => {
  const [inTable = [], inBucket = []] = ['table', 'bucket'].map((location) =>
    segments.filter(({ id }) => segmentLocation(id) === location),
  );
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

/** The calls of one request and project with their blocks. */
type Blocks = ReadonlyMap<ReportedCall, readonly Block[]>;

/** Makes the items that take their payloads along. */
const itemsWithPayloads = async <T extends { readonly item: Item }>(
  blocks: Blocks,
  maker: ItemMaker<T>,
): Promise<[ReportedCall, T][]> => {
  // The only call of a request has no segment to share.
  const isAlone = blocks.size === 1;
  const listed = [...blocks].filter(([call]) => isAlone || maker.isListed(call));
  if (!isAlone && listed.length > Math.max(listedCalls, blocks.size / callsPerListed)) return [];
  const made = await Promise.all(
    listed.map(async ([call, ofCall]): Promise<[ReportedCall, T][]> => {
      const location = await packInline(call, ofCall);
      if (!location) return [];
      const item = maker.make(call, location);
      // Lists show a payload where that takes no further write unit.
      return isAlone || itemBytes(item.item) <= unitBytes ? [[call, item]] : [];
    }),
  );
  return made.flat();
};

const storeProject = async <T extends { readonly item: Item }>(
  store: Store,
  projectId: ProjectId,
  calls: readonly ReportedCall[],
  maker: ItemMaker<T>,
  budget: RequestBudget,
): Promise<Map<ReportedCall, T>> => {
  const blocks: Blocks = new Map(calls.map((call) => [call, blocksOf(call)]));
  const items = new Map(await itemsWithPayloads(blocks, maker));
  const others = [...blocks].filter(([call]) => !items.has(call));
  const all = others.flatMap(([, ofCall]) => ofCall);
  const { segments, pointers } = await packSegments(projectId, all, store.retentionDays);
  await putSegments(store, projectId, segments, budget);
  let next = 0;
  for (const [call, { length }] of others) {
    items.set(call, maker.make(call, locationOf(call, pointers.slice(next, next + length))));
    next += length;
  }
  return items;
};

/**
 * Stores the payloads of a request's calls, grouped by project, and makes the items of the calls.
 * Some take their payload along.
 *
 * @returns the items in the order of the calls, which are not stored yet
 * @throws ServiceError 503 when storage does not accept the payloads in time
 */
export const storePayloads = async <T extends { readonly item: Item }>(
  store: Store,
  calls: readonly ReportedCall[],
  maker: ItemMaker<T>,
  budget: RequestBudget,
): Promise<T[]> => {
  const byProject = Map.groupBy(calls, (call) => call.projectId);
  const made = await mapConcurrent([...byProject], projectConcurrency, ([projectId, ofProject]) =>
    storeProject(store, projectId, ofProject, maker, budget),
  );
  const items = new Map(made.flatMap((ofProject) => [...ofProject]));
  return calls.flatMap((call) => items.get(call) ?? []);
};
