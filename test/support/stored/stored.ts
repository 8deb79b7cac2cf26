import { paginateListObjectsV2 } from '@aws-sdk/client-s3';
import { unpack } from '../../../foundations/encoding/index.ts';
import {
  asBytes,
  getObject,
  requestBudget,
  type Store,
  scanTable,
} from '../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../foundations/wire/index.ts';

/** All that a store holds. */
export interface Stored {
  /** Every item's and object's payload, unpacked, and every header: as text. */
  readonly text: string;
  readonly items: number;
  /** Segments that are items. */
  readonly segments: number;
  readonly objects: number;
}

/**
 * Reads all that a store holds, whether anything leads to it or not.
 *
 * @param projectId reads the items and objects of one project alone. @default - of all
 */
export const everythingStored = async ({ table, bucket }: Store, projectId?: ProjectId): Promise<Stored> => {
  const ofProject = (text: string, name: string): boolean => projectId === undefined || text.includes(name);
  const texts: string[] = [];
  let items = 0;
  let segments = 0;
  for await (const page of scanTable(table, { ConsistentRead: true })) {
    for (const { k, h, b, c, p } of page) {
      if (!ofProject(Buffer.from(asBytes(k) ?? []).toString('latin1'), `${projectId}\0`)) continue;
      const header = asBytes(h);
      items++;
      if (p === 'P') segments++;
      if (header) texts.push(Buffer.from(header).toString());
      const payload = asBytes(b) ?? asBytes(c);
      if (payload) texts.push(unpack(payload).toString());
    }
  }
  let objects = 0;
  const client = await bucket.client;
  for await (const page of paginateListObjectsV2({ client }, { Bucket: bucket.name })) {
    for (const { Key = '' } of page.Contents ?? []) {
      if (!ofProject(Key, `/${projectId}/`)) continue;
      objects++;
      const packed = await getObject(bucket, Key, requestBudget(60_000));
      if (packed) texts.push(unpack(packed).toString());
    }
  }
  return { text: texts.join('\n'), items, segments, objects };
};
