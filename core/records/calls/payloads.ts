import { createHash } from 'node:crypto';
import { pack } from '../../../foundations/encoding/index.ts';
import { bySize } from '../../../foundations/listing/index.ts';
import {
  asText,
  expiry,
  getBucketDays,
  getRetentionDays,
  type Item,
  mapConcurrent,
  payloadGraceDays,
  putItems,
  putObject,
  type RequestBudget,
  readRange,
  type Store,
  writeUnitBytes,
} from '../../../foundations/storage/index.ts';
import {
  findProblem,
  hasExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ProjectId,
  parseJson,
} from '../../../foundations/wire/index.ts';
import type { HeaderContent } from './header.ts';
import {
  formerItemKey,
  formerKey,
  maxInlineBytes,
  parseFormerPointer,
  previewsItemKey,
  segmentItemKey,
} from './items.ts';
import type { CallEnd, CallStart, PayloadPointer } from './model.ts';
import { endLines, type PreviewLines, packLines, startLines } from './preview.ts';
import type { ReportedCall } from './reports.ts';

/*
 * A block is the payload of a call's start or end. It holds the free-form fields as JSON, one per
 * line with a line end, in the order below. JSON text has no raw line breaks, so a block is split
 * into fields without being parsed.
 */

/** The fields of a start's block and of an end's, in order. */
export const startFields = ['attributes', 'inputs'] as const;
export const endFields = ['output', 'summary', 'exception'] as const;

type StartField = (typeof startFields)[number];
type EndField = (typeof endFields)[number];
/** A field of a call that is in its payload and not in its header. */
export type PayloadField = StartField | EndField;

/**
 * A call's payload as JSON text by field. Without an end, the end's fields are `null` and the
 * summary is `{}`.
 */
export type Payload = Readonly<Record<PayloadField, string>>;

const toBlock = (values: readonly JsonValue[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');

/** The block of a start, as JSON lines. */
export const startBlock = (start: Pick<CallStart, StartField>): string =>
  toBlock([start.attributes, start.inputs]);

/** The block of an end, as JSON lines. */
export const endBlock = (end: Pick<CallEnd, EndField>): string =>
  toBlock([end.output, end.summary, end.exception]);

/** The end's fields of a call without an end. */
const noEnd = { output: 'null', summary: '{}', exception: 'null' } as const;

/** Splits a block (UTF-8) into the JSON text of its fields, in order. */
export const blockFields = (block: Uint8Array): string[] => {
  const text = Buffer.from(block.buffer, block.byteOffset, block.byteLength).toString('utf8');
  return text.slice(0, -1).split('\n');
};

/** Joins the fields of a start's block and an end's to the payload of a call. */
export const toPayload = (start: readonly string[], end: readonly string[] | null): Payload => {
  const [attributes = '{}', inputs = '{}'] = start;
  if (end === null) return { attributes, inputs, ...noEnd };
  const [output = 'null', summary = '{}', exception = 'null'] = end;
  return { attributes, inputs, output, summary, exception };
};

/**
 * The JSON text of attributes with the user that their call was given beside its own. Attributes of a
 * span nest at the dots of their keys.
 */
export const withUserIn = (attributes: string, id: string | null): string => {
  if (id === null) return attributes;
  const own = parseJson(attributes);
  const { user, ...others } = isJsonObject(own) ? own : {};
  const around = isJsonObject(user) ? user : user === undefined ? {} : { value: user };
  return JSON.stringify({ ...others, user: { ...around, id } });
};

const maxUsageLength = 256;
const maxUsageDepth = 4;

/**
 * The value of `summary.usage` for the header: an object of at most 256 characters of JSON and 4
 * levels, without exact numbers or lone surrogates. True if it is something else, or if a key of
 * the summary starts with `usage.`. Null if there is none.
 */
export const smallUsage = (summary: JsonObject): JsonObject | true | null => {
  if (Object.keys(summary).some((key) => key.startsWith('usage.'))) return true;
  if (!Object.hasOwn(summary, 'usage')) return null;
  const { usage } = summary;
  if (!isJsonObject(usage) || findProblem(usage, maxUsageDepth)) return true;
  const text = JSON.stringify(usage);
  // The header's codec rejects the key that would set a prototype, and keeps texts as UTF-8. JSON
  // escapes lone surrogates, and no others.
  const isPlain = !text.includes('__proto__') && !text.includes('\\ud');
  const fits = text.length <= maxUsageLength && isPlain && !hasExactNumber(text);
  return fits ? usage : true;
};

/*
 * All payloads of one request and project go into one segment and are compressed together. Agent
 * traces repeat themselves: a call costs 2.1 KB by itself and 0.13 KB among a hundred.
 */

/** The compressed size at which a segment is closed, in bytes. It keeps reading one call cheap. */
const targetBytes = 64 * 1024;
/**
 * Larger segments go to S3. A PUT costs less than write units from 8 KB on, and an item ends at 400
 * KB.
 */
const maxItemBytes = 128 * 1024;

/** A packed segment, ready to be stored. */
interface Segment {
  /**
   * Its name in hex digits. It comes from the content, so that a repeated request writes the same
   * segment.
   */
  readonly id: string;
  readonly bytes: Buffer;
  /** The packed previews of its blocks. @default - they are made of the segment when they are asked for */
  readonly previews?: Buffer;
}

/** A block on its way into a segment. */
export interface Block {
  /** The call's id and part. It is unique within a request. */
  readonly owner: string;
  readonly bytes: Buffer;
  /** Makes its part of the call's preview. @default - there is no preview */
  readonly lines?: () => PreviewLines;
}

/**
 * The prefix of a segment's name: whether previews lie beside it, and where it lies, a hex digit
 * each. For expiring objects the retention follows, in days as four hex digits; a rule of the
 * bucket expires them.
 */
const previewed = { no: '0', yes: '1' } as const;
const homes = { item: '0', retainedObject: '1', expiringObject: '2' } as const;
const prefixLength = 2;
const daysLength = 4;

const getHome = (id: string): string => id.charAt(1);

/** Whether the previews of a segment's calls were stored beside it, by its name. */
export const hasPreviews = (id: string): boolean => id.startsWith(previewed.yes);

/** Where a segment is stored, by its name: an item of the table, or an object in the bucket. */
export const segmentLocation = (id: string): 'table' | 'bucket' =>
  getHome(id) === homes.item ? 'table' : 'bucket';

/**
 * The bucket's key of a segment. Expiring segments have a prefix that a lifecycle rule refers to.
 */
export const segmentObject = (projectId: ProjectId, id: string): string => {
  const isExpiring = getHome(id) === homes.expiringObject;
  const days = Number.parseInt(id.slice(prefixLength).slice(0, daysLength), 16);
  return `segments/${isExpiring ? `expiring-${days}` : 'kept'}/${projectId}/${id}.zst`;
};

/**
 * The name of a segment: its kind, and the first 96 bits of a SHA-256 over content, owners and
 * retention. With the owners, equal calls never share a segment, since deleting one would empty the
 * other. With the retention, a repeated report cannot give the segment of a retained header an
 * expiry.
 */
const segmentName = (
  projectId: ProjectId,
  blocks: readonly Block[],
  packedBytes: number,
  hasOwnPreviews: boolean,
  { days, bucketDays }: Lifetime,
): string => {
  const hash = createHash('sha256').update(`${projectId} ${days}`);
  for (const block of blocks) hash.update(`\0${block.owner}\0${block.bytes.length}\0`).update(block.bytes);
  const inBucket =
    bucketDays === undefined
      ? homes.retainedObject
      : homes.expiringObject + bucketDays.toString(16).padStart(daysLength, '0');
  const home = packedBytes > maxItemBytes ? inBucket : homes.item;
  return `${hasOwnPreviews ? previewed.yes : previewed.no}${home}${hash.digest('hex').slice(0, 24)}`;
};

/** The pointers of blocks that lie one after the other. */
const pointersTo = (segment: string | null, blocks: readonly Block[]): PayloadPointer[] => {
  let offset = 0;
  return blocks.map(({ bytes: { length } }) => {
    offset += length;
    return { segment, offset: offset - length, length };
  });
};

/**
 * Previews are stored beside a segment of more than so many bytes, if they are at most so much of
 * it. Reading a smaller one takes little more, and the write unit would be most of what it takes.
 */
const minPreviewedBytes = 16 * 1024;
const maxPreviewShare = 1 / 10;

const packPreviews = async (blocks: readonly Block[], packedBytes: number): Promise<Buffer | undefined> => {
  if (packedBytes <= minPreviewedBytes) return undefined;
  const places = pointersTo(null, blocks);
  const lines = blocks.flatMap(({ lines: makeLines }, i) =>
    makeLines ? [[places[i]?.offset ?? 0, makeLines()] as const] : [],
  );
  if (lines.length === 0) return undefined;
  const packed = await packLines(lines);
  return packed.length <= packedBytes * maxPreviewShare ? packed : undefined;
};

const toSegment = async (
  projectId: ProjectId,
  blocks: readonly Block[],
  bytes: Buffer,
  lifetime: Lifetime,
): Promise<{ segment: Segment; pointers: PayloadPointer[] }> => {
  const previews = await packPreviews(blocks, bytes.length);
  const id = segmentName(projectId, blocks, bytes.length, previews !== undefined, lifetime);
  return { segment: { id, bytes, ...(previews && { previews }) }, pointers: pointersTo(id, blocks) };
};

const sumBytes = (blocks: readonly Block[]): number =>
  blocks.reduce((sum, { bytes }) => sum + bytes.length, 0);

const packBlocks = (blocks: readonly Block[]): Promise<Buffer> =>
  pack(Buffer.concat(blocks.map(({ bytes }) => bytes)));

/** The days until segments expire, and until the bucket deletes one there. @default - never */
interface Lifetime {
  readonly days?: number | undefined;
  readonly bucketDays?: number | undefined;
}

/**
 * Packs the blocks of one project into as few segments of about 64 KB compressed as possible.
 *
 * @returns the segments, and the pointers of the blocks in order
 */
export const packSegments = async (
  projectId: ProjectId,
  blocks: readonly Block[],
  lifetime: Lifetime = {},
): Promise<{ segments: Segment[]; pointers: PayloadPointer[] }> => {
  if (blocks.length === 0) return { segments: [], pointers: [] };
  const single = await packBlocks(blocks);
  if (single.length <= targetBytes || blocks.length === 1) {
    const { segment, pointers } = await toSegment(projectId, blocks, single, lifetime);
    return { segments: [segment], pointers };
  }
  const runs = bySize(blocks, (sumBytes(blocks) * targetBytes) / single.length, ({ bytes }) => bytes.length);
  const packed = await Promise.all(
    runs.map(async (run) => toSegment(projectId, run, await packBlocks(run), lifetime)),
  );
  return {
    segments: packed.map(({ segment }) => segment),
    pointers: packed.flatMap(({ pointers }) => pointers),
  };
};

/**
 * Cuts a block out of an unpacked segment.
 *
 * @throws Error if the segment is too short for it
 */
export const cutBlock = (unpacked: Uint8Array, pointer: PayloadPointer): Uint8Array => {
  const end = pointer.offset + pointer.length;
  if (end > unpacked.length) throw new Error(`payload segment ${pointer.segment} ends before byte ${end}`);
  return unpacked.subarray(pointer.offset, end);
};

/** Fills a deleted block. JSON text escapes this byte, so no other block contains it. */
export const blank = 0;

/** Whether a block was deleted. */
export const isBlank = (block: Uint8Array): boolean => block[0] === blank;

/*
 * A header that replaces another no longer points to the other's payload, which stays in its
 * segment. A note of its own, under the call's id, keeps the pointer, so that deleting the call
 * blanks that payload too. Items of calls with notes have the attribute `o`.
 */

/** A payload to which a call's header is about to lose its pointer. */
interface FormerPayload {
  readonly projectId: ProjectId;
  readonly id: string;
  readonly pointer: PayloadPointer;
}

/** The attribute of an item whose call has notes. */
export const formerFlag = { o: true } as const satisfies Item;

/** Whether an item's call has notes. */
export const hasFormer = ({ o }: Item): boolean => o === true;

/** The locations of the payloads that a header points to. */
export const getPointers = ({ start, end }: Pick<HeaderContent, 'start' | 'end'>): PayloadPointer[] => [
  ...(start ? [start.payload] : []),
  ...(end ? [end.payload] : []),
];

const isAt = (a: PayloadPointer, b: PayloadPointer): boolean =>
  a.segment === b.segment && a.offset === b.offset && a.length === b.length;

/**
 * The pointers that are lost when one header replaces another. An inline payload goes with its item
 * and needs no note.
 */
export const lostPointers = (
  before: Pick<HeaderContent, 'start' | 'end'>,
  after: Pick<HeaderContent, 'start' | 'end'>,
): PayloadPointer[] => {
  const kept = getPointers(after);
  return getPointers(before).filter(
    (pointer) => pointer.segment !== null && !kept.some((other) => isAt(pointer, other)),
  );
};

/**
 * Notes former payloads. That comes before their headers are replaced, so that no payload is ever
 * without a pointer. A note on a payload that stays in use does no harm: only deletions read notes.
 *
 * @throws ServiceError 503 when storage does not accept them in time
 */
export const noteFormer = async (
  store: Store,
  payloads: readonly FormerPayload[],
  budget: RequestBudget,
): Promise<void> => {
  if (payloads.length === 0) return;
  const items = payloads.map(
    ({ projectId, id, pointer }): Item => ({
      ...formerItemKey(projectId, id, pointer),
      // Readers need a header's payload.
      ...expiry(store, projectId, payloadGraceDays),
    }),
  );
  await putItems(store.table, items, budget);
};

/** A note as it is stored. */
interface StoredNote {
  readonly key: Item;
  readonly pointer: PayloadPointer;
}

/**
 * Reads the notes on the former payloads of one call, strongly consistent.
 *
 * @throws ServiceError 503 when storage does not answer in time
 */
export const readFormer = async (
  store: Store,
  projectId: ProjectId,
  id: string,
  budget: RequestBudget,
): Promise<StoredNote[]> => {
  const range = { partition: ['k', formerKey(projectId, id)] } as const;
  const notes: StoredNote[] = [];
  const options = { toRow: (item: Item) => item, consistent: true };
  for await (const page of readRange(store.table, range, options, budget))
    for (const { k, p } of page) {
      const text = asText(p);
      if (k && text !== undefined) notes.push({ key: { k, p: text }, pointer: parseFormerPointer(text) });
    }
  return notes;
};

/** Where the payload of a reported call lies. A part that was not reported has an empty block. */
export interface PayloadLocation {
  readonly start: PayloadPointer;
  readonly end: PayloadPointer;
  /** The packed payload if it goes into the header's item. */
  readonly inline?: Buffer;
}

/** A reported call whose payload is to be placed. */
export interface CallToPlace {
  readonly call: ReportedCall;
  /** Whether lists show the call with its payload: it is a root or has failed. */
  readonly isListed: boolean;
  /** Tells the size of the header's item, in bytes, if the payload lies there. */
  readonly itemBytesWith: (location: PayloadLocation) => number;
}

/** Where the payloads of one request and project go. */
interface PayloadPlan {
  readonly locations: readonly (readonly [ReportedCall, PayloadLocation])[];
  /** What has to be stored for that. */
  readonly segments: readonly Segment[];
}

/** A payload is not packed by itself if it would have to shrink to less than this part. */
const bestRatio = 16;
/**
 * The calls of a request whose payloads are shown in lists: so many, or one of so many. Of more,
 * reading their segment costs a list little for each.
 */
const listedCalls = 4;
const callsPerListed = 8;

/** The number of projects stored concurrently. Nearly every request has one. */
const projectConcurrency = 4;
/** The number of objects of one project stored concurrently. */
const bucketConcurrency = 4;

const toBlocks = ({ id, start, end }: ReportedCall): Block[] => [
  ...(start
    ? [{ owner: `${id}\nS`, bytes: Buffer.from(startBlock(start)), lines: () => startLines(start) }]
    : []),
  ...(end ? [{ owner: `${id}\nE`, bytes: Buffer.from(endBlock(end)), lines: () => endLines(end) }] : []),
];

const noBlock: PayloadPointer = { segment: null, offset: 0, length: 0 };

/** @param pointers of the call's blocks, in order */
const toLocation = ({ start, end }: ReportedCall, pointers: readonly PayloadPointer[]): PayloadLocation => ({
  start: (start && pointers[0]) ?? noBlock,
  end: (end && pointers.at(-1)) ?? noBlock,
});

/** Packs the payload of a call by itself if that may be small enough for the header's item. */
const packInline = async (
  call: ReportedCall,
  blocks: readonly Block[],
): Promise<PayloadLocation | undefined> => {
  if (sumBytes(blocks) > maxInlineBytes * bestRatio) return undefined;
  const inline = await packBlocks(blocks);
  if (inline.length > maxInlineBytes) return undefined;
  return { ...toLocation(call, pointersTo(null, blocks)), inline };
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
  const expires = expiry(store, projectId, payloadGraceDays);
  const items = [
    ...inTable.map(({ id, bytes }): Item => ({ ...segmentItemKey(projectId, id), b: bytes, ...expires })),
    ...segments.flatMap(({ id, previews }): Item[] =>
      previews ? [{ ...previewsItemKey(projectId, id), b: previews, ...expires }] : [],
    ),
  ];
  await putItems(store.table, items, budget);
  await mapConcurrent(inBucket, bucketConcurrency, ({ id, bytes }) =>
    putObject(store.bucket, segmentObject(projectId, id), bytes, budget),
  );
};

/** A call to place, with its blocks. */
type Placing = CallToPlace & { readonly blocks: readonly Block[] };

/** Finds the payloads that go into the items of their headers. */
const placeInline = async (placing: readonly Placing[]): Promise<Map<ReportedCall, PayloadLocation>> => {
  // The only call of a request has no segment to share.
  const isAlone = placing.length === 1;
  const listed = placing.filter(({ isListed }) => isAlone || isListed);
  if (!isAlone && listed.length > Math.max(listedCalls, placing.length / callsPerListed)) return new Map();
  const placed = await Promise.all(
    listed.map(async ({ call, blocks, itemBytesWith }) => {
      const location = await packInline(call, blocks);
      // Lists show a payload where that takes no further write unit.
      const fits = location && (isAlone || itemBytesWith(location) <= writeUnitBytes);
      return fits ? ([call, location] as const) : null;
    }),
  );
  return new Map(placed.filter((place) => place !== null));
};

/**
 * Plans where the payloads of one project's calls go: into the items of their headers, or into
 * segments. It stores nothing.
 */
export const planPayloads = async (
  projectId: ProjectId,
  calls: readonly CallToPlace[],
  lifetime: Lifetime = {},
): Promise<PayloadPlan> => {
  const placing = calls.map((each): Placing => ({ ...each, blocks: toBlocks(each.call) }));
  const inline = await placeInline(placing);
  const others = placing.filter(({ call }) => !inline.has(call));
  const all = others.flatMap(({ blocks }) => blocks);
  const { segments, pointers } = await packSegments(projectId, all, lifetime);
  let next = 0;
  const inSegments = others.map(({ call, blocks }) => {
    const own = pointers.slice(next, next + blocks.length);
    next += blocks.length;
    return [call, toLocation(call, own)] as const;
  });
  return { locations: [...inline, ...inSegments], segments };
};

/**
 * Stores the payloads of a request's calls, except for those that go into the items of their
 * headers, which are not stored yet.
 *
 * @returns where they lie
 * @throws ServiceError 503 when storage does not accept the payloads in time
 */
export const storePayloads = async (
  store: Store,
  calls: readonly CallToPlace[],
  budget: RequestBudget,
): Promise<ReadonlyMap<ReportedCall, PayloadLocation>> => {
  const byProject = Map.groupBy(calls, ({ call }) => call.projectId);
  const locations = await mapConcurrent([...byProject], projectConcurrency, async ([projectId, some]) => {
    const lifetime = {
      days: getRetentionDays(store, projectId),
      bucketDays: getBucketDays(store, projectId),
    };
    const plan = await planPayloads(projectId, some, lifetime);
    await putSegments(store, projectId, plan.segments, budget);
    return plan.locations;
  });
  return new Map(locations.flat());
};
