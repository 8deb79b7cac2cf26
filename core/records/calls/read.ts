import { isDeepStrictEqual } from 'node:util';
import { unpack } from '../../../foundations/encoding/index.ts';
import {
  asBytes,
  getItems,
  getObject,
  mapConcurrent,
  queryPage,
  type RequestBudget,
  type Store,
} from '../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../foundations/wire/index.ts';
import { foldCall, foldHeader } from './header.ts';
import {
  callKey,
  endKey,
  fromItem,
  previewsItemKey,
  readSegmentId,
  type StoredPart,
  segmentItemKey,
  startKey,
} from './items.ts';
import type { CallHeader, CallPart, PayloadPointer } from './model.ts';
import {
  blockFields,
  cutBlock,
  getPointers,
  hasPreviews,
  isBlank,
  type Payload,
  segmentLocation,
  segmentObject,
  toPayload,
  withUserIn,
} from './payloads.ts';
import {
  joinLines,
  linesOfEnd,
  linesOfStart,
  type Preview,
  type PreviewLines,
  unpackLines,
} from './preview.ts';

/**
 * Reads a call with its payload by id, strongly consistent.
 *
 * @returns null if there is no call, or no start of it yet
 * @throws ServiceError 503 when storage does not answer in time
 */
export const readCall = async (
  store: Store,
  projectId: ProjectId,
  id: string,
  budget: RequestBudget,
): Promise<StoredCall | null> => {
  const found = await findCall(store, projectId, id, budget);
  if (found === null) return null;
  const [call] = await new PayloadReader(store, projectId, budget).read([found]);
  return call ?? null;
};

/** The number of calls looked up one by one concurrently. */
const lookupConcurrency = 16;

/**
 * Looks up one call by id with its inline payloads, strongly consistent.
 *
 * @returns null if there is no call, or no start of it yet
 * @throws ServiceError 503 when storage does not answer in time
 */
const findCall = async (
  store: Store,
  projectId: ProjectId,
  id: string,
  budget: RequestBudget,
): Promise<CallHeader | null> => {
  const range = { partition: ['k', callKey(projectId, id)] } as const;
  const { items } = await queryPage(store.table, range, budget, { consistent: true });
  const parts = items.map((item) => fromItem(projectId, item));
  return foldCall({ projectId, id }, parts);
};

/**
 * Looks up calls again whose headers are known, with their inline payloads and in any order. Calls
 * that are gone are left out.
 *
 * @param headers without duplicates; they tell which items to read
 * @throws ServiceError 503 when storage does not answer in time
 */
const findCalls = async (
  store: Store,
  projectId: ProjectId,
  headers: readonly CallHeader[],
  budget: RequestBudget,
): Promise<CallHeader[]> => {
  const keys = headers.flatMap(({ id, end, endPart }) =>
    end && endPart === 'E' ? [startKey(projectId, id), endKey(projectId, id)] : [startKey(projectId, id)],
  );
  const items = await getItems(store.table, keys, budget, { consistent: false });
  const byId = Map.groupBy(
    items.map((item) => fromItem(projectId, item)),
    ({ id }) => id,
  );
  const found = await mapConcurrent(headers, lookupConcurrency, async ({ id, end }) => {
    const call = foldCall({ projectId, id }, byId.get(id) ?? []);
    // An end beside its start may have been replaced by one in an item that was not read.
    const isMissing = end !== null && call !== null && call.end === null;
    return isMissing ? findCall(store, projectId, id, budget) : call;
  });
  return found.filter((call) => call !== null);
};

/**
 * Reads stored parts of calls by their ids, in any order.
 *
 * @param ids without duplicates
 * @throws ServiceError 503 when storage does not answer in time
 */
export const readParts = async (
  store: Store,
  projectId: ProjectId,
  ids: readonly string[],
  parts: readonly CallPart[],
  budget: RequestBudget,
  options: { consistent: boolean },
): Promise<StoredPart[]> => {
  const keys = ids.flatMap((id) => {
    const k = callKey(projectId, id);
    return parts.map((part) => ({ k, p: part }));
  });
  const items = await getItems(store.table, keys, budget, options);
  return items.map((item) => fromItem(projectId, item));
};

/**
 * Reads the headers of calls by their ids, strongly consistent, in any order. Unknown ids are left
 * out.
 *
 * @param ids without duplicates
 * @throws ServiceError 503 when storage does not answer in time
 */
export const readHeaders = async (
  store: Store,
  projectId: ProjectId,
  ids: readonly string[],
  budget: RequestBudget,
): Promise<CallHeader[]> => {
  const parts = await readParts(store, projectId, ids, ['S', 'E'], budget, { consistent: true });
  const byId = Map.groupBy(parts, (part) => part.id);
  return [...byId].flatMap(([id, ofCall]) => foldHeader({ projectId, id }, ofCall) ?? []);
};

/** A call with its payload. */
export interface StoredCall {
  readonly header: CallHeader;
  readonly payload: Payload;
}

/** A call with its preview. */
export interface PreviewedCall {
  readonly header: CallHeader;
  readonly preview: Preview;
}

/** The size of the cache of unpacked segments, in bytes. Calls near in time share segments. */
const cacheBytes = 32 * 1024 * 1024;
/** What segments that are remembered from request to request may take packed, in bytes. */
const rememberedBytes = 4 * 1024 * 1024;

interface Remembered {
  readonly packed: Uint8Array;
  readonly unpacked: WeakRef<Buffer>;
}

/**
 * What a container has unpacked lately. Whoever reads a trace comes back for the calls beside. It takes
 * no memory that is needed: the garbage collector takes the unpacked bytes as soon as no request holds them.
 */
export class UnpackedSegments {
  readonly #maxBytes: number;
  /** By the segment's id, the one used least recently first. */
  readonly #remembered = new Map<string, Remembered>();
  #bytes = 0;

  /** @param maxBytes what they may take packed, together */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Unpacks a segment, or gives what the same bytes were unpacked to before: a blanked one has others. */
  unpack(id: string, packed: Uint8Array): Buffer {
    const before = this.#remembered.get(id);
    const known = before && Buffer.compare(before.packed, packed) === 0 ? before.unpacked.deref() : undefined;
    const unpacked = known ?? unpack(packed);
    this.#forget(id);
    this.#remembered.set(id, { packed, unpacked: new WeakRef(unpacked) });
    this.#bytes += packed.length;
    for (const oldest of this.#remembered.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#forget(oldest);
    }
    return unpacked;
  }

  #forget(id: string): void {
    this.#bytes -= this.#remembered.get(id)?.packed.length ?? 0;
    this.#remembered.delete(id);
  }
}

const unpackedSegments = new UnpackedSegments(rememberedBytes);

/** The number of objects read concurrently. */
const bucketConcurrency = 16;

/** Whether part of a payload is in an item that was not read with the header. */
const isApart = ({ start, end, endPart, inline }: CallHeader): boolean =>
  (start.payload.segment === null && !inline?.has('S')) ||
  (end?.payload.segment === null && !inline?.has(endPart));

/** Whether two headers of a call say the same, whatever was read with them. */
const isSame = (a: CallHeader, b: CallHeader): boolean =>
  isDeepStrictEqual({ ...a, inline: undefined }, { ...b, inline: undefined });

/** A header, and the call as it was last read, with its inline payloads. */
interface FoundCall {
  readonly header: CallHeader;
  readonly read: CallHeader;
}

/**
 * Reads the payloads of one project's calls. A segment is read once while it stays in the cache.
 */
export class PayloadReader {
  readonly #store: Store;
  readonly #projectId: ProjectId;
  readonly #budget: RequestBudget;
  /** Unpacked segments, the least recently used first. */
  readonly #cache = new Map<string, Buffer>();
  #cached = 0;
  /** Packed segments that are being read, perhaps for several callers. */
  readonly #pending = new Map<string, Promise<Map<string, Uint8Array>>>();

  constructor(store: Store, projectId: ProjectId, budget: RequestBudget) {
    this.#store = store;
    this.#projectId = projectId;
    this.#budget = budget;
  }

  /**
   * Reads calls in the order of their headers. An inline payload that was not read with its header
   * may have changed together with it since, so such a call is read again. It is left out if it is
   * gone. A call with a deleted payload is also left out, because its header is gone or about to
   * go.
   *
   * @throws ServiceError 503 when storage does not answer in time
   * @throws Error if a payload is damaged
   */
  async read(headers: readonly CallHeader[]): Promise<StoredCall[]> {
    return this.#readFound(await this.#find(headers));
  }

  /** Finds what payloads are read of: the items of calls whose inline payloads lie apart. */
  async #find(headers: readonly CallHeader[]): Promise<FoundCall[]> {
    // A call that is being moved may occur twice.
    const apart = [...new Map(headers.filter(isApart).map((header) => [header.id, header])).values()];
    const again = new Map(
      (await findCalls(this.#store, this.#projectId, apart, this.#budget)).map((call) => [call.id, call]),
    );
    const found = headers.flatMap((header): FoundCall[] => {
      if (!isApart(header)) return [{ header, read: header }];
      const read = again.get(header.id);
      // Callers recognize an unchanged call by the identity of its header.
      return read ? [{ header: isSame(read, header) ? header : read, read }] : [];
    });
    return found;
  }

  /**
   * Reads the previews of calls as {@link read} reads their payloads. It reads no payload whose
   * previews lie beside it.
   *
   * @throws ServiceError 503 when storage does not answer in time
   * @throws Error if a payload or a preview is damaged
   */
  async readPreviews(headers: readonly CallHeader[]): Promise<PreviewedCall[]> {
    const found = await this.#find(headers);
    const known = await this.#readLines(found.flatMap(({ header }) => getPointers(header)));
    const fields = await this.#readFields(found, known);
    return found.flatMap(({ header }) => {
      const { start, end } = header;
      const linesAt = (pointer: PayloadPointer, toLines: typeof linesOfStart): PreviewLines | undefined => {
        const ofPointer = fields.get(pointer);
        return known.get(pointer) ?? (ofPointer && toLines(ofPointer));
      };
      const ofStart = linesAt(start.payload, linesOfStart);
      const ofEnd = end ? linesAt(end.payload, linesOfEnd) : [];
      if (!ofStart || !ofEnd) return [];
      return [{ header, preview: joinLines(start.attributes.kind === 'tool', ofStart, ofEnd) }];
    });
  }

  /** The previews that lie beside segments, as far as they are there. */
  async #readLines(pointers: readonly PayloadPointer[]): Promise<Map<PayloadPointer, PreviewLines>> {
    const bySegment = Map.groupBy(pointers, ({ segment }) => segment ?? '');
    const ids = [...bySegment.keys()].filter((id) => hasPreviews(id) && !this.#cache.has(id));
    const lines = new Map<PayloadPointer, PreviewLines>();
    if (ids.length === 0) return lines;
    const keys = ids.map((id) => previewsItemKey(this.#projectId, id));
    for (const { k, b } of await getItems(this.#store.table, keys, this.#budget, { consistent: false })) {
      const key = asBytes(k);
      const packed = asBytes(b);
      if (!key || !packed) continue;
      const ofSegment = new Map(unpackLines(packed));
      for (const pointer of bySegment.get(readSegmentId(this.#projectId, key)) ?? []) {
        const found = ofSegment.get(pointer.offset);
        if (found) lines.set(pointer, found);
      }
    }
    return lines;
  }

  /**
   * Reads the fields of blocks, by their pointers. Deleted ones are missing.
   *
   * @param without the pointers whose blocks are not needed
   */
  async #readFields(
    calls: readonly FoundCall[],
    without: ReadonlyMap<PayloadPointer, unknown>,
  ): Promise<Map<PayloadPointer, string[]>> {
    const pointers = calls.flatMap(({ header }) => getPointers(header));
    const fields = await this.#readSegments(
      pointers.filter((pointer) => pointer.segment !== null && !without.has(pointer)),
    );
    for (const { header, read } of calls) {
      for (const [part, packed] of read.inline ?? []) {
        const bytes = unpack(packed);
        const { start, end, endPart } = header;
        if (part === 'S' && start.payload.segment === null)
          fields.set(start.payload, cut(bytes, start.payload));
        if (part === endPart && end?.payload.segment === null)
          fields.set(end.payload, cut(bytes, end.payload));
      }
    }
    for (const { header } of calls)
      for (const pointer of getPointers(header))
        if (pointer.segment === null && !fields.has(pointer))
          throw new Error(`the payload of call ${header.id} is missing`);
    return fields;
  }

  async #readFound(calls: readonly FoundCall[]): Promise<StoredCall[]> {
    const fields = await this.#readFields(calls, new Map());
    return calls.flatMap(({ header }) => {
      const start = fields.get(header.start.payload);
      const end = header.end && fields.get(header.end.payload);
      if (!start || end === undefined) return [];
      const payload = toPayload(start, end);
      const user = header.start.span?.givenUser ?? null;
      return [{ header, payload: { ...payload, attributes: withUserIn(payload.attributes, user) } }];
    });
  }

  /**
   * Reads the blocks of the pointers; deleted ones are missing. Segments are unpacked one by one,
   * so that few are in memory at a time.
   */
  async #readSegments(pointers: readonly PayloadPointer[]): Promise<Map<PayloadPointer, string[]>> {
    const bySegment = Map.groupBy(pointers, ({ segment }) => segment ?? '');
    const packed = await this.#fetchOnce([...bySegment.keys()].filter((id) => !this.#cache.has(id)));
    const fields = new Map<PayloadPointer, string[]>();
    for (const [id, ofSegment] of bySegment) {
      const bytes = await this.#currentSegment(id, ofSegment, packed);
      for (const pointer of ofSegment) {
        if (bytes && !isBlank(cutBlock(bytes, pointer))) fields.set(pointer, cut(bytes, pointer));
      }
    }
    return fields;
  }

  /**
   * The unpacked segment; undefined if it is gone. A blank block belongs to a deleted call, unless
   * a report has restored the call since the read. So the segment is read once more, strongly
   * consistent.
   */
  async #currentSegment(
    id: string,
    pointers: readonly PayloadPointer[],
    packed: Map<string, Uint8Array>,
  ): Promise<Buffer | undefined> {
    const bytes = await this.#unpacked(id, packed);
    if (!bytes || !pointers.some((pointer) => isBlank(cutBlock(bytes, pointer)))) return bytes;
    if (this.#cache.delete(id)) this.#cached -= bytes.length;
    return this.#unpacked(id, await this.#fetch([id], [true]));
  }

  async #unpacked(id: string, packed: Map<string, Uint8Array>): Promise<Buffer | undefined> {
    const cached = this.#cache.get(id);
    if (cached) {
      this.#cache.delete(id);
      this.#cache.set(id, cached);
      return cached;
    }
    const found = packed.get(id) ?? (await this.#fetch([id])).get(id);
    if (!found) return undefined;
    packed.delete(id);
    const bytes = unpackedSegments.unpack(id, found);
    this.#addToCache(id, bytes);
    return bytes;
  }

  #addToCache(id: string, bytes: Buffer): void {
    this.#cache.set(id, bytes);
    this.#cached += bytes.length;
    for (const [oldest, { length }] of this.#cache) {
      if (this.#cached <= cacheBytes) return;
      this.#cache.delete(oldest);
      this.#cached -= length;
    }
  }

  /** Reads packed segments by name. Segments that are being read for another caller are awaited. */
  async #fetchOnce(ids: readonly string[]): Promise<Map<string, Uint8Array>> {
    const others = new Map(ids.flatMap((id) => (this.#pending.has(id) ? [[id, this.#pending.get(id)]] : [])));
    const own = ids.filter((id) => !others.has(id));
    const fetching = this.#fetch(own);
    for (const id of own) this.#pending.set(id, fetching);
    try {
      const packed = new Map(await fetching);
      for (const [id, pending] of others) {
        const bytes = (await pending)?.get(id);
        if (bytes) packed.set(id, bytes);
      }
      return packed;
    } finally {
      for (const id of own) this.#pending.delete(id);
    }
  }

  /**
   * Reads packed segments by name. Items are read with each consistency in turn until they are
   * found.
   */
  async #fetch(ids: readonly string[], consistency = [false, true]): Promise<Map<string, Uint8Array>> {
    const inTable = ids.filter((id) => segmentLocation(id) === 'table');
    const inBucket = ids.filter((id) => segmentLocation(id) === 'bucket');
    const packed = await this.#fetchItems(inTable, consistency);
    await mapConcurrent(inBucket, bucketConcurrency, async (id) => {
      const bytes = await getObject(this.#store.bucket, segmentObject(this.#projectId, id), this.#budget);
      if (bytes) packed.set(id, bytes);
    });
    return packed;
  }

  async #fetchItems(
    ids: readonly string[],
    consistency: readonly boolean[],
  ): Promise<Map<string, Uint8Array>> {
    const found = new Map<string, Uint8Array>();
    // A payload is stored before its header is visible. A second, consistent read finds one that an
    // eventually consistent read misses.
    for (const consistent of consistency) {
      const keys = ids.filter((id) => !found.has(id)).map((id) => segmentItemKey(this.#projectId, id));
      if (keys.length === 0) break;
      for (const { k, b } of await getItems(this.#store.table, keys, this.#budget, { consistent })) {
        const key = asBytes(k);
        const packed = asBytes(b);
        if (key && packed) found.set(readSegmentId(this.#projectId, key), packed);
      }
    }
    return found;
  }
}

/** The fields of the block of a pointer. */
const cut = (unpacked: Uint8Array, pointer: PayloadPointer): string[] =>
  blockFields(cutBlock(unpacked, pointer));
