import { isDeepStrictEqual } from 'node:util';
import { unpack } from '../../../foundations/encoding/index.ts';
import {
  asBytes,
  getItems,
  getObject,
  mapConcurrent,
  type RequestBudget,
  type Store,
} from '../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../foundations/wire/index.ts';
import { segmentIdOf, segmentItemKey } from '../codec/keys.ts';
import type { CallHeader, PayloadPointer } from '../model.ts';
import { isBlank } from '../payloads/blank.ts';
import { blockFields, type Payload, toPayload } from '../payloads/blocks.ts';
import { blockOf, segmentLocation, segmentObject } from '../payloads/segments.ts';
import { findCalls } from './lookup.ts';

/** A call with its payload. */
export interface StoredCall {
  readonly header: CallHeader;
  readonly payload: Payload;
}

/** The size of the cache of unpacked segments, in bytes. Calls near in time share segments. */
const cacheBytes = 32 * 1024 * 1024;
/** The number of objects read concurrently. */
const concurrency = 16;

const pointersOf = ({ start, end }: CallHeader): PayloadPointer[] => [
  start.payload,
  ...(end ? [end.payload] : []),
];

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
    return this.#readFound(found);
  }

  async #readFound(calls: readonly FoundCall[]): Promise<StoredCall[]> {
    const pointers = calls.flatMap(({ header }) => pointersOf(header));
    const fields = await this.#readSegments(pointers.filter(({ segment }) => segment !== null));
    for (const { header, read } of calls) {
      for (const [part, packed] of read.inline ?? []) {
        const bytes = await unpack(packed);
        const { start, end, endPart } = header;
        if (part === 'S' && start.payload.segment === null)
          fields.set(start.payload, cut(bytes, start.payload));
        if (part === endPart && end?.payload.segment === null)
          fields.set(end.payload, cut(bytes, end.payload));
      }
    }
    const fieldsAt = (pointer: PayloadPointer, { id }: CallHeader): string[] | undefined => {
      const found = fields.get(pointer);
      if (!found && pointer.segment === null) throw new Error(`the payload of call ${id} is missing`);
      return found;
    };
    return calls.flatMap(({ header }) => {
      const start = fieldsAt(header.start.payload, header);
      const end = header.end && fieldsAt(header.end.payload, header);
      return start && end !== undefined ? [{ header, payload: toPayload(start, end) }] : [];
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
        if (bytes && !isBlank(blockOf(bytes, pointer))) fields.set(pointer, cut(bytes, pointer));
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
    if (!bytes || !pointers.some((pointer) => isBlank(blockOf(bytes, pointer)))) return bytes;
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
    const bytes = await unpack(found);
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
    await mapConcurrent(inBucket, concurrency, async (id) => {
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
        const [key, packed] = [asBytes(k), asBytes(b)];
        if (key && packed) found.set(segmentIdOf(this.#projectId, key), packed);
      }
    }
    return found;
  }
}

/** The fields of the block of a pointer. */
const cut = (unpacked: Uint8Array, pointer: PayloadPointer): string[] =>
  blockFields(blockOf(unpacked, pointer));
