import { joinBytes } from '../../foundations/encoding/index.ts';
import type { TableKey, TableRange } from '../../foundations/storage/declared-keys.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import type { Hour } from './hours.ts';

/*
 * A project has three partitions of the rollups table, each in order of time. Numbers before 1970
 * are negative, so they are stored with an offset.
 *
 *   marks   k  2 project   s  hour   u: until when the hour is not to be stored
 *   pages   k  3 project   s  day    h: the rollups of the day's hours
 *   days    k  4 project   s  day    h: the rollup of the whole day
 */

/** What an item of the table is about. */
export type ItemKind = 'marks' | 'pages' | 'days';

const tags: Readonly<Record<ItemKind, number>> = { marks: 2, pages: 3, days: 4 };
const offset = 2 ** 31;

const numberBytes = (number: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(number + offset);
  return bytes;
};

/** The number of an hour or a day, out of a sort key. */
export const numberOf = (sortKey: Uint8Array): number =>
  new DataView(sortKey.buffer, sortKey.byteOffset, sortKey.byteLength).getUint32(0) - offset;

/** The key of what is about an hour (marks) or a day (the others). */
export const rollupKey = (kind: ItemKind, projectId: ProjectId, number: Hour): TableKey<'rollups'> => ({
  k: joinBytes(tags[kind], projectId),
  s: numberBytes(number),
});

/** The keys of all hours or days from one to another, inclusive. */
export const rollupRange = (
  kind: ItemKind,
  projectId: ProjectId,
  from: number,
  to: number,
): TableRange<'rollups'> => ({
  partition: ['k', joinBytes(tags[kind], projectId)],
  sort: ['s', numberBytes(from), numberBytes(to)],
});
