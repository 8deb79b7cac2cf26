import type { TableKey, TableRange } from '../../foundations/storage/declared-keys.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';

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

/** The key of a pack, by its id in hex. */
export const packKey = (projectId: ProjectId, pack: string): TableKey<'objects'> => ({
  k: partition(projectId, 'p', Buffer.from(pack, 'hex')),
  s: only,
});

/** The key of an item of the index. */
export const indexKey = (projectId: ProjectId, first: number, pack: string): TableKey<'objects'> => ({
  k: partition(projectId, 'r', Buffer.of(first)),
  s: Buffer.from(pack, 'hex'),
});

/** All items of the index for digests that begin with a byte. */
export const indexRange = (projectId: ProjectId, first: number): TableRange<'objects'> => ({
  partition: ['k', partition(projectId, 'r', Buffer.of(first))],
});

/** The bucket's key of a part of a pack. */
export const partObject = (projectId: ProjectId, pack: string, part: number): string =>
  `tables/${projectId}/rows/${pack}/${part}.zst`;

/** The bucket's key of the digests of a pack. */
export const entriesObject = (projectId: ProjectId, pack: string): string =>
  `tables/${projectId}/rows/${pack}/digests`;

/** The bucket's key of the runs of a table. */
export const runsObject = (projectId: ProjectId, digest: string): string =>
  `tables/${projectId}/runs/${digest}.zst`;
