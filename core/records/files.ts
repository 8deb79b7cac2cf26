import { type Digests, ownDigests } from '../../foundations/door.ts';
import { pack, unpack } from '../../foundations/encoding/index.ts';
import {
  asBytes,
  getItems,
  getObject,
  putItems,
  putObject,
  type RequestBudget,
  type Store,
} from '../../foundations/storage/index.ts';
import type { TableKey } from '../../foundations/storage/tables.ts';
import { checkDigest, notFound, type ProjectId } from '../../foundations/wire/index.ts';
import { redactFile } from './redaction.ts';

/*
 * A file is its bytes, named by their digest. Small ones are in the objects table: k = project 0 f
 * digest, s = one zero byte. Others are objects of the bucket under files/<project>/<digest>, put
 * there before the item that tells of them. Nothing deletes a file.
 */

/**
 * The largest packed file that is in an item, in bytes. From 8 KB on a put into the bucket costs
 * less.
 */
const maxInItem = 8 * 1024;

const fileKey = (projectId: ProjectId, digest: string): TableKey<'objects'> => ({
  k: Buffer.from(`${projectId}\0f${digest}`, 'utf8'),
  s: Buffer.of(0),
});

const fileObject = (projectId: ProjectId, digest: string): string => `files/${projectId}/${digest}.zst`;

/**
 * Stores a file, unless the project has it already.
 *
 * @param expected the digest that the client computed; null if it did not
 * @returns its digest, as it was sent
 * @throws ServiceError 409 where the digest is another; as {@link redactFile}
 */
export const createFile = async (
  store: Store,
  projectId: ProjectId,
  sent: Uint8Array,
  expected: string | null,
  budget: RequestBudget,
  digests: Digests = ownDigests,
): Promise<string> => {
  const digest = digests.ofBytes(sent);
  checkDigest({ what: 'this file', digest, expected });
  const content = await redactFile(store, sent);
  store.noteProject?.(projectId);
  const key = fileKey(projectId, digest);
  const [known] = await getItems(store.table, [key], budget, { consistent: true, attributes: ['n'] });
  if (known) return digest;
  const packed = await pack(content);
  const inItem = packed.length <= maxInItem;
  if (!inItem) await putObject(store.bucket, fileObject(projectId, digest), packed, budget);
  await putItems(store.table, [{ ...key, n: content.length, ...(inItem && { b: packed }) }], budget);
  return digest;
};

/**
 * Reads a file, strongly consistent.
 *
 * @throws ServiceError 404 where the project has none of that digest
 */
export const readFile = async (
  store: Store,
  projectId: ProjectId,
  digest: string,
  budget: RequestBudget,
): Promise<Buffer> => {
  const [item] = await getItems(store.table, [fileKey(projectId, digest)], budget, { consistent: true });
  if (!item) throw notFound(['body', 'digest'], `there is no file ${digest} in ${projectId}`);
  const packed = asBytes(item.b) ?? (await getObject(store.bucket, fileObject(projectId, digest), budget));
  if (!packed) throw new Error(`a file is missing: ${fileObject(projectId, digest)}`);
  return unpack(packed);
};
