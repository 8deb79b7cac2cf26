import { createHash } from 'node:crypto';
import {
  pack as compress,
  decodeMessagePack,
  encodeMessagePack,
  unpack,
} from '../../foundations/encoding/index.ts';
import {
  asBytes,
  getItems,
  getObject,
  mapConcurrent,
  putItems,
  putObject,
  type RequestBudget,
  type Store,
} from '../../foundations/storage/index.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import { digestBytes, digestOfBytes } from '../../foundations/wire/weave-digest.ts';
import { entriesObject, packKey, partObject } from './keys.ts';
import type { Location, PlacedRow, Row } from './row.ts';
import { indexItems } from './row-index.ts';

/*
 * A pack: rows as lines of JSON, in parts that are compressed each, and their digests with their
 * sizes. A small pack is one item; of a large one the item has where its parts begin.
 */

/** A row is read with the part that it is in, of about so many bytes of JSON. */
const partBytes = 512 * 1024;
/** The largest pack that is an item, in bytes. From 8 KB on a put into the bucket costs less. */
const maxInItem = 16 * 1024;
const entryBytes = 36;
const concurrency = 8;

/** A pack, and the rows that each of its parts begins with. */
export interface Pack {
  readonly id: string;
  readonly starts: readonly number[];
  /** The only part and the digests, where they are in the item. */
  readonly inline: { readonly rows: Uint8Array; readonly entries: Uint8Array } | undefined;
}

const partsOf = (rows: readonly Row[]): { readonly starts: number[]; readonly texts: string[] } => {
  const starts: number[] = [];
  const texts: string[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const [position, { text, bytes }] of rows.entries()) {
    if (size + bytes > partBytes) {
      starts.push(position);
      texts.push([]);
      size = 0;
    }
    texts.at(-1)?.push(text);
    size += bytes;
  }
  return { starts, texts: texts.map((lines) => lines.join('\n')) };
};

const entriesOf = (rows: readonly Row[]): Buffer => {
  const entries = Buffer.alloc(rows.length * entryBytes);
  for (const [i, { digest, bytes }] of rows.entries()) {
    digestBytes(digest).copy(entries, i * entryBytes);
    entries.writeUInt32BE(bytes, i * entryBytes + 32);
  }
  return entries;
};

/** The id of a pack: a hash of its rows' digests and sizes. */
const packId = (entries: Uint8Array): string =>
  createHash('sha256').update(entries).digest('hex').slice(0, 32);

/**
 * Stores rows as a pack and then leads the index there. It is named by its rows, so the same rows
 * sent again are the same pack.
 *
 * @param rows at least one, each digest once
 * @returns where each row lies, in their order
 * @throws ServiceError 503 when storage does not take it in time
 */
export const putPack = async (
  store: Store,
  projectId: ProjectId,
  rows: readonly Row[],
  budget: RequestBudget,
): Promise<Location[]> => {
  const entries = entriesOf(rows);
  const id = packId(entries);
  const { starts, texts } = partsOf(rows);
  const parts = await mapConcurrent(texts, concurrency, (text) => compress(Buffer.from(text, 'utf8')));
  const [only] = parts;
  const isSmall = parts.length === 1 && only !== undefined && only.length + entries.length <= maxInItem;
  const item = {
    ...packKey(projectId, id),
    c: encodeMessagePack(starts),
    ...(isSmall && { b: only, d: entries }),
  };
  if (!isSmall) {
    const objects: [string, Uint8Array][] = [
      [entriesObject(projectId, id), entries],
      ...parts.map((part, i): [string, Uint8Array] => [partObject(projectId, id, i), part]),
    ];
    await mapConcurrent(objects, concurrency, ([key, bytes]) => putObject(store.bucket, key, bytes, budget));
  }
  await putItems(store.table, [item], budget);
  await putItems(store.table, indexItems(projectId, id, rows), budget);
  return rows.map(({ bytes }, position) => ({ pack: id, position, bytes }));
};

/**
 * Reads packs by their ids.
 *
 * @throws ServiceError 503 when storage does not give them in time; Error if one is missing
 */
export const readPacks = async (
  store: Store,
  projectId: ProjectId,
  ids: Iterable<string>,
  budget: RequestBudget,
): Promise<Map<string, Pack>> => {
  const unique = [...new Set(ids)];
  const items = await getItems(
    store.table,
    unique.map((id) => packKey(projectId, id)),
    budget,
    { consistent: true },
  );
  const packs = new Map(
    items.map((item): [string, Pack] => {
      const id = Buffer.from(asBytes(item.k) ?? [])
        .toString('hex')
        .slice(-32);
      const [rows, entries] = [asBytes(item.b), asBytes(item.d)];
      const starts = decodeMessagePack(asBytes(item.c) ?? new Uint8Array()) as number[];
      return [id, { id, starts, inline: rows && entries && { rows, entries } }];
    }),
  );
  const missing = unique.find((id) => !packs.has(id));
  if (missing !== undefined) throw new Error(`the rows of pack ${missing} are missing`);
  return packs;
};

/**
 * Reads the digests and sizes of a pack's rows, in their positions.
 *
 * @throws ServiceError 503 when storage does not give them in time; Error if they are missing or
 * damaged
 */
export const readEntries = async (
  store: Store,
  projectId: ProjectId,
  pack: Pack,
  budget: RequestBudget,
): Promise<PlacedRow[]> => {
  const bytes =
    pack.inline?.entries ?? (await getObject(store.bucket, entriesObject(projectId, pack.id), budget));
  if (!bytes) throw new Error(`the digests of pack ${pack.id} are missing`);
  if (packId(bytes) !== pack.id) throw new Error(`the digests of pack ${pack.id} are damaged`);
  const entries = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: entries.length / entryBytes }, (_, position) => {
    const at = position * entryBytes;
    const digest = digestOfBytes(entries.subarray(at, at + 32));
    return { pack: pack.id, position, digest, bytes: entries.readUInt32BE(at + 32) };
  });
};

/** The part that a row is in. */
export const partAt = ({ starts }: Pack, position: number): number =>
  starts.findLastIndex((start) => start <= position);

/**
 * Reads the rows of a part, as JSON text.
 *
 * @throws ServiceError 503 when storage does not give them in time; Error if they are missing
 */
export const readPart = async (
  store: Store,
  projectId: ProjectId,
  pack: Pack,
  part: number,
  budget: RequestBudget,
): Promise<string[]> => {
  const packed =
    pack.inline?.rows ?? (await getObject(store.bucket, partObject(projectId, pack.id, part), budget));
  if (!packed) throw new Error(`part ${part} of pack ${pack.id} is missing`);
  return (await unpack(packed)).toString('utf8').split('\n');
};
