import type { Digests } from '../../../foundations/door.ts';
import {
  pack as compress,
  decodeMessagePack,
  encodeMessagePack,
  shortDigest,
  unpack,
} from '../../../foundations/encoding/index.ts';
import { bySize } from '../../../foundations/listing/index.ts';
import {
  asBytes,
  getItems,
  getObject,
  type Item,
  mapConcurrent,
  putItems,
  putObject,
  type RequestBudget,
  readRange,
  type Store,
} from '../../../foundations/storage/index.ts';
import type { TableKey, TableRange } from '../../../foundations/storage/tables.ts';
import type { JsonObject, ProjectId } from '../../../foundations/wire/index.ts';
import { redactRows } from '../redaction.ts';

/*
 * Where tables lie: in the objects table, and in the bucket under tables/<project>/.
 *
 *   table   k  project 0 t digest      s  0
 *   pack    k  project 0 p pack id     s  0
 *   index   k  project 0 r byte        s  pack id
 *
 * A pack holds rows that came together, compressed together. The items of the index tell which
 * packs hold which rows. There is one for each pack and each first byte of its rows' digests, so
 * that 10,000 rows have 256 of them.
 */

const only = Buffer.of(0);

const partition = (projectId: ProjectId, kind: 't' | 'p' | 'r', name: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`${projectId}\0${kind}`, 'utf8'), name]);

/** The key of a table, by its digest. */
export const tableKey = (projectId: ProjectId, digest: string): TableKey<'objects'> => ({
  k: partition(projectId, 't', Buffer.from(digest, 'hex')),
  s: only,
});

const packKey = (projectId: ProjectId, pack: string): TableKey<'objects'> => ({
  k: partition(projectId, 'p', Buffer.from(pack, 'hex')),
  s: only,
});

const indexKey = (projectId: ProjectId, first: number, pack: string): TableKey<'objects'> => ({
  k: partition(projectId, 'r', Buffer.of(first)),
  s: Buffer.from(pack, 'hex'),
});

/** All items of the index for digests that begin with a byte. */
const indexRange = (projectId: ProjectId, first: number): TableRange<'objects'> => ({
  partition: ['k', partition(projectId, 'r', Buffer.of(first))],
});

/** The key of an item as hex digits, as many as its name in the key has. */
export const nameInKey = ({ k }: Item, digits: number): string =>
  Buffer.from(asBytes(k) ?? [])
    .toString('hex')
    .slice(-digits);

const partObject = (projectId: ProjectId, pack: string, part: number): string =>
  `tables/${projectId}/rows/${pack}/${part}.zst`;

const digestsObject = (projectId: ProjectId, pack: string): string =>
  `tables/${projectId}/rows/${pack}/digests`;

/** The bucket's key of the runs of a table. */
export const runsObject = (projectId: ProjectId, digest: string): string =>
  `tables/${projectId}/runs/${digest}.zst`;

/**
 * A digest of a row as 32 bytes, which tell it from all others. They are the hash itself only if the
 * digest is plain base64url.
 */
export const digestBytes = (digest: string): Buffer => Buffer.from(digest, 'base64url');

/** Undoes {@link digestBytes}. */
export const digestOfBytes = (bytes: Uint8Array): string =>
  Buffer.from(bytes).toString('base64url').slice(0, 43);

/** A row as it is to be stored: its line of JSON, the bytes of it, and the digest of what was sent. */
export interface Row {
  readonly line: string;
  readonly bytes: number;
  readonly digest: string;
}

/**
 * Makes rows of values.
 *
 * @throws ServiceError as {@link redactRows}
 */
export const toRows = async (
  store: Pick<Store, 'redactor'>,
  values: readonly JsonObject[],
  digests: Digests,
): Promise<Row[]> => {
  const kept = await redactRows(store, values);
  return values.map((value, i) => {
    const text = JSON.stringify(kept[i]);
    return { line: text, bytes: Buffer.byteLength(text), digest: digests.ofValue(value) };
  });
};

/** The JSON text of a row in its line. Before it, former versions wrote the digest of some rows. */
export const textInLine = (line: string): string =>
  line.startsWith('{') ? line : line.slice(line.indexOf(' ') + 1);

/** Where a row lies: its pack, and its position there. */
export interface Location {
  /** The pack's id: 32 hex digits. */
  readonly pack: string;
  readonly position: number;
  /** Bytes of the row as compact JSON. */
  readonly bytes: number;
}

/** A row of a table: which, and where. */
export interface LocatedRow extends Location {
  readonly digest: string;
}

/** Rows of a table that follow each other in a pack. */
export interface Run {
  readonly pack: string;
  readonly from: number;
  readonly count: number;
}

/** Gathers rows into runs. */
export const toRuns = (rows: Iterable<Location>): Run[] => {
  const runs: { pack: string; from: number; count: number }[] = [];
  for (const { pack, position } of rows) {
    const last = runs.at(-1);
    if (last?.pack === pack && last.from + last.count === position) last.count++;
    else runs.push({ pack, from: position, count: 1 });
  }
  return runs;
};

/*
 * An item of the index has an entry for each of its rows: bytes 1 to 12 of the digest, then the
 * row's position and its size, three bytes each. Byte 0 is in the key. So 104 bits identify a row.
 */

const nameBytes = 12;
const indexEntryBytes = nameBytes + 6;
const rangesAtOnce = 32;

const toName = (digest: Buffer): string => digest.toString('latin1', 1, 1 + nameBytes);

/** The items that lead to the rows of a pack, in their positions. */
const indexItems = (projectId: ProjectId, pack: string, rows: readonly Row[]): Item[] => {
  const byFirst = new Map<number, Buffer[]>();
  for (const [position, { digest, bytes }] of rows.entries()) {
    const name = digestBytes(digest);
    const entry = Buffer.alloc(indexEntryBytes);
    name.copy(entry, 0, 1, 1 + nameBytes);
    entry.writeUIntBE(position, nameBytes, 3);
    entry.writeUIntBE(bytes, nameBytes + 3, 3);
    const first = name[0] ?? 0;
    const entries = byFirst.get(first) ?? [];
    entries.push(entry);
    byFirst.set(first, entries);
  }
  return [...byFirst].map(([first, entries]) => ({
    ...indexKey(projectId, first, pack),
    d: Buffer.concat(entries),
  }));
};

/**
 * Finds rows of a project, strongly consistent.
 *
 * @returns the places of each row that is there; more than one where it was stored twice at once
 */
export const findRows = async (
  store: Store,
  projectId: ProjectId,
  digests: Iterable<string>,
  budget: RequestBudget,
): Promise<Map<string, Location[]>> => {
  const byFirst = new Map<number, Map<string, string>>();
  for (const digest of digests) {
    const bytes = digestBytes(digest);
    const first = bytes[0] ?? 0;
    const wanted = byFirst.get(first) ?? new Map<string, string>();
    wanted.set(toName(bytes), digest);
    byFirst.set(first, wanted);
  }
  const found = new Map<string, Location[]>();
  await mapConcurrent([...byFirst], rangesAtOnce, async ([first, wanted]) => {
    const range = indexRange(projectId, first);
    const options = { toRow: (item: Item) => item, consistent: true };
    for await (const page of readRange(store.table, range, options, budget))
      for (const item of page) collect(item, wanted, found);
  });
  return found;
};

/** Collects the locations of wanted rows from an item of the index. */
const collect = (
  item: Item,
  digestsByRow: ReadonlyMap<string, string>,
  found: Map<string, Location[]>,
): void => {
  const entries = Buffer.from(asBytes(item.d) ?? []);
  const pack = Buffer.from(asBytes(item.s) ?? []).toString('hex');
  for (let at = 0; at < entries.length; at += indexEntryBytes) {
    const digest = digestsByRow.get(entries.toString('latin1', at, at + nameBytes));
    if (digest === undefined) continue;
    const position = entries.readUIntBE(at + nameBytes, 3);
    const bytes = entries.readUIntBE(at + nameBytes + 3, 3);
    found.set(digest, [...(found.get(digest) ?? []), { pack, position, bytes }]);
  }
};

/*
 * A pack: rows as lines of JSON, in parts that are compressed each, and their digests with their
 * sizes. A small pack is one item; of a large one the item has where its parts begin.
 */

/** A row is read with the part that it is in, of about so many bytes of JSON. */
const partBytes = 512 * 1024;
/** The largest pack that is an item, in bytes. From 8 KB on a put into the bucket costs less. */
const maxInItem = 16 * 1024;
const entryBytes = 36;
const objectsAtOnce = 8;

/** A pack, and the rows that each of its parts begins with. */
export interface Pack {
  readonly id: string;
  readonly starts: readonly number[];
  /** The only part and the digests, where they are in the item. */
  readonly inline: { readonly rows: Uint8Array; readonly entries: Uint8Array } | undefined;
}

const findStarts = (parts: readonly (readonly Row[])[]): number[] => {
  let next = 0;
  return parts.map((part) => {
    const start = next;
    next += part.length;
    return start;
  });
};

const packEntries = (rows: readonly Row[]): Buffer => {
  const entries = Buffer.alloc(rows.length * entryBytes);
  for (const [i, { digest, bytes }] of rows.entries()) {
    digestBytes(digest).copy(entries, i * entryBytes);
    entries.writeUInt32BE(bytes, i * entryBytes + 32);
  }
  return entries;
};

/** The id of a pack: a hash of its rows' digests and sizes. */
const packId = (entries: Uint8Array): string => shortDigest(entries).toString('hex');

/**
 * Stores rows as a pack and then leads the index there. It is named by its rows, so the same rows
 * sent again are the same pack.
 *
 * @param rows at least one, each digest once
 * @returns where each row lies, by its digest
 */
export const putPack = async (
  store: Store,
  projectId: ProjectId,
  rows: readonly Row[],
  budget: RequestBudget,
): Promise<[digest: string, Location][]> => {
  const entries = packEntries(rows);
  const id = packId(entries);
  const lists = bySize(rows, partBytes, ({ bytes }) => bytes);
  const parts = await mapConcurrent(lists, objectsAtOnce, (list) =>
    compress(Buffer.from(list.map(({ line }) => line).join('\n'), 'utf8')),
  );
  const [only] = parts;
  const isSmall = parts.length === 1 && only !== undefined && only.length + entries.length <= maxInItem;
  const item = {
    ...packKey(projectId, id),
    c: encodeMessagePack(findStarts(lists)),
    ...(isSmall && { b: only, d: entries }),
  };
  if (!isSmall) {
    const objects: [string, Uint8Array][] = [
      [digestsObject(projectId, id), entries],
      ...parts.map((part, i): [string, Uint8Array] => [partObject(projectId, id, i), part]),
    ];
    await mapConcurrent(objects, objectsAtOnce, ([key, bytes]) =>
      putObject(store.bucket, key, bytes, budget),
    );
  }
  await putItems(store.table, [item], budget);
  await putItems(store.table, indexItems(projectId, id, rows), budget);
  return rows.map(({ digest, bytes }, position) => [digest, { pack: id, position, bytes }]);
};

/**
 * Reads the packs of runs by their ids.
 *
 * @throws Error if one is missing
 */
export const readPacks = async (
  store: Store,
  projectId: ProjectId,
  runs: readonly Pick<Run, 'pack'>[],
  budget: RequestBudget,
): Promise<Map<string, Pack>> => {
  const unique = [...new Set(runs.map(({ pack }) => pack))];
  const keys = unique.map((id) => packKey(projectId, id));
  const items = await getItems(store.table, keys, budget, { consistent: true });
  const packs = new Map(
    items.map((item): [string, Pack] => {
      const id = nameInKey(item, 32);
      const rows = asBytes(item.b);
      const entries = asBytes(item.d);
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
 * @throws Error if they are missing or damaged
 */
export const readEntries = async (
  store: Store,
  projectId: ProjectId,
  pack: Pack,
  budget: RequestBudget,
): Promise<LocatedRow[]> => {
  const bytes =
    pack.inline?.entries ?? (await getObject(store.bucket, digestsObject(projectId, pack.id), budget));
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
 * Reads the lines of a part: {@link textInLine}.
 *
 * @throws Error if they are missing
 */
export const readPackPart = async (
  store: Store,
  projectId: ProjectId,
  pack: Pack,
  part: number,
  budget: RequestBudget,
): Promise<string[]> => {
  const packed =
    pack.inline?.rows ?? (await getObject(store.bucket, partObject(projectId, pack.id, part), budget));
  if (!packed) throw new Error(`part ${part} of pack ${pack.id} is missing`);
  return unpack(packed).toString('utf8').split('\n');
};
