import { type Effort, forEach, getItems, getObject, type Item } from '../storage/index.ts';
import type { ProjectId } from '../wire/index.ts';
import { callKey, type Part, segmentKey } from './keys.ts';
import type { CallHeader, PayloadPointer } from './model.ts';
import { type Payload, toPayload } from './payload.ts';
import { blockOf, segmentHome, segmentObject, unpack } from './segment.ts';
import type { CallStore } from './store.ts';

/** Unpacked segments are kept up to this many bytes: calls near in time share them. */
const cacheBytes = 64 * 1024 * 1024;
const bucketConcurrency = 8;

/** The names of a packed payload: a segment's, or that of the header's item that it rides in. */
type Source =
  | { readonly name: string; readonly segment: string }
  | { readonly name: string; readonly id: string; readonly part: Part };

const sourceOf = (header: CallHeader, pointer: PayloadPointer, part: Part): Source =>
  pointer.segment === null
    ? { name: `${part}\n${header.id}`, id: header.id, part }
    : { name: pointer.segment, segment: pointer.segment };

const sourcesOf = (header: CallHeader): Source[] => [
  sourceOf(header, header.start.payload, 'S'),
  ...(header.end ? [sourceOf(header, header.end.payload, header.endPart)] : []),
];

/** Reads the payloads of one project's calls, each segment once as long as it stays in its cache. */
export class PayloadReader {
  readonly #store: CallStore;
  readonly #projectId: ProjectId;
  readonly #effort: Effort;
  /** Unpacked payloads, the longest unused first. */
  readonly #cache = new Map<string, Buffer>();
  #cached = 0;

  constructor(store: CallStore, projectId: ProjectId, effort: Effort) {
    this.#store = store;
    this.#projectId = projectId;
    this.#effort = effort;
  }

  /**
   * Reads the payloads of calls, in their order.
   *
   * @throws ServiceError 503 when storage does not give them in time
   * @throws Error where a payload is missing or damaged
   */
  async read(headers: readonly CallHeader[]): Promise<Payload[]> {
    const sources = new Map(headers.flatMap(sourcesOf).map((source) => [source.name, source]));
    const unpacked = new Map<string, Buffer>();
    for (const name of sources.keys()) {
      const cached = this.#touch(name);
      if (!cached) continue;
      unpacked.set(name, cached);
      sources.delete(name);
    }
    for (const [name, packed] of await this.#fetch([...sources.values()])) {
      const bytes = await unpack(packed);
      unpacked.set(name, bytes);
      this.#keep(name, bytes);
    }
    const block = (header: CallHeader, pointer: PayloadPointer, part: Part): Uint8Array => {
      const { name } = sourceOf(header, pointer, part);
      const bytes = unpacked.get(name);
      if (!bytes) throw new Error(`the payload of call ${header.id} is missing`);
      return blockOf(bytes, pointer);
    };
    return headers.map((header) =>
      toPayload(
        block(header, header.start.payload, 'S'),
        header.end && block(header, header.end.payload, header.endPart),
      ),
    );
  }

  #touch(name: string): Buffer | undefined {
    const bytes = this.#cache.get(name);
    if (!bytes) return undefined;
    this.#cache.delete(name);
    this.#cache.set(name, bytes);
    return bytes;
  }

  #keep(name: string, bytes: Buffer): void {
    this.#cache.set(name, bytes);
    this.#cached += bytes.length;
    for (const [oldest, { length }] of this.#cache) {
      if (this.#cached <= cacheBytes) return;
      this.#cache.delete(oldest);
      this.#cached -= length;
    }
  }

  async #fetch(sources: readonly Source[]): Promise<Map<string, Uint8Array>> {
    const inBucket = sources.filter(
      (source) => 'segment' in source && segmentHome(source.segment) === 'bucket',
    );
    const inTable = sources.filter((source) => !inBucket.includes(source));
    const [items, objects] = await Promise.all([
      this.#fetchItems(inTable),
      forEach(inBucket, bucketConcurrency, (source) => this.#fetchObject(source)),
    ]);
    return new Map([...items, ...objects.flatMap((object) => (object ? [object] : []))]);
  }

  async #fetchObject(source: Source): Promise<[string, Uint8Array] | undefined> {
    const bytes = await getObject(
      this.#store.bucket,
      segmentObject(this.#projectId, source.name),
      this.#effort,
    );
    return bytes && [source.name, bytes];
  }

  async #fetchItems(sources: readonly Source[]): Promise<[string, Uint8Array][]> {
    const names = new Map(sources.map((source) => [itemName(this.#keyOf(source)), source]));
    const found: [string, Uint8Array][] = [];
    // A payload is stored before its header shows, so one that an eventually consistent read misses is worth a second look.
    for (const consistent of [false, true]) {
      const keys = [...names.values()].map((source) => this.#keyOf(source));
      if (keys.length === 0) break;
      for (const item of await getItems(this.#store.table, keys, this.#effort, { consistent })) {
        const source = names.get(itemName(item));
        if (!source || !item.b?.B) continue;
        names.delete(itemName(item));
        found.push([source.name, item.b.B]);
      }
    }
    return found;
  }

  #keyOf(source: Source): Item {
    return 'segment' in source
      ? { k: { B: segmentKey(this.#projectId, source.segment) }, p: { S: 'P' } }
      : { k: { B: callKey(this.#projectId, source.id) }, p: { S: source.part } };
  }
}

const itemName = (item: Item): string => `${item.p?.S}${Buffer.from(item.k?.B ?? []).toString('latin1')}`;
