import { paginateScan } from '@aws-sdk/client-dynamodb';
import { paginateListObjectsV2 } from '@aws-sdk/client-s3';
import { unpack } from '../../core/encoding/index.ts';
import { getObject, requestBudget, type Store } from '../../core/storage/index.ts';

/** All that a store holds. */
export interface Stored {
  /** Every item's and object's payload, unpacked, and every header: as text. */
  readonly text: string;
  readonly items: number;
  /** Segments that are items. */
  readonly segments: number;
  readonly objects: number;
}

/** Reads all that a store holds, whether anything leads to it or not. */
export const everythingStored = async ({ table, bucket }: Store): Promise<Stored> => {
  const texts: string[] = [];
  let items = 0;
  let segments = 0;
  for await (const page of paginateScan(table, { TableName: table.name, ConsistentRead: true })) {
    for (const { h, b, p } of page.Items ?? []) {
      items++;
      if (p?.S === 'P') segments++;
      if (h?.B) texts.push(Buffer.from(h.B).toString());
      if (b?.B) texts.push((await unpack(b.B)).toString());
    }
  }
  let objects = 0;
  const client = await bucket.client;
  for await (const page of paginateListObjectsV2({ client }, { Bucket: bucket.name })) {
    for (const { Key = '' } of page.Contents ?? []) {
      objects++;
      const packed = await getObject(bucket, Key, requestBudget(10_000));
      if (packed) texts.push((await unpack(packed)).toString());
    }
  }
  return { text: texts.join('\n'), items, segments, objects };
};
