import { zstdDecompressSync } from 'node:zlib';
import { type AttributeValue, DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, paginateListObjectsV2, S3Client } from '@aws-sdk/client-s3';
import { localCredentials } from 'cdk-local-runner';
import { localRegion } from 'cdk-local-runner/template';
import { parquetReadObjects } from 'hyparquet';
import type { TestService } from '../service/service.ts';

/*
 * All that a service holds, as texts: the clients are the SDK's own, and nothing of core has a part
 * in how it is read.
 */

const magic = Buffer.of(0x28, 0xb5, 0x2f, 0xfd);

/** Bytes as text, and the text of the zstd frame or the Parquet file that they may be. */
const readTexts = async (bytes: Uint8Array): Promise<string[]> => {
  const buffer = Buffer.from(bytes);
  const own = [buffer.toString('utf8'), buffer.toString('latin1')];
  if (buffer.subarray(0, magic.length).equals(magic))
    own.push(...(await readTexts(zstdDecompressSync(buffer, {}))));
  if (buffer.subarray(0, 4).toString() === 'PAR1') {
    const file = new Uint8Array(buffer).buffer;
    own.push(
      JSON.stringify(await parquetReadObjects({ file }), (_, value) =>
        typeof value === 'bigint' ? String(value) : value,
      ),
    );
  }
  return own;
};

const textsOfAttribute = async (value: AttributeValue): Promise<string[]> => {
  if (value.B) return readTexts(value.B);
  if (value.M) return (await Promise.all(Object.values(value.M).map(textsOfAttribute))).flat();
  if (value.L) return (await Promise.all(value.L.map(textsOfAttribute))).flat();
  return [JSON.stringify(value)];
};

/** Where something of a service lies, and what it says. */
export interface Place {
  readonly where: string;
  readonly text: string;
}

/** Everything in all tables and all buckets of a service. */
export const readEverything = async ({ dynamodb, s3, stack }: TestService): Promise<Place[]> => {
  const shared = { region: localRegion, credentials: localCredentials };
  const client = new DynamoDBClient({ ...shared, endpoint: dynamodb });
  const bucketClient = new S3Client({ ...shared, endpoint: s3 });
  const places: Place[] = [];
  for (const { name } of stack.tables)
    for await (const { Items = [] } of paginateScan({ client }, { TableName: name, ConsistentRead: true }))
      for (const item of Items)
        for (const [attribute, value] of Object.entries(item))
          for (const text of await textsOfAttribute(value))
            places.push({ where: `${name} ${attribute}`, text });
  for (const bucket of stack.buckets)
    for await (const { Contents = [] } of paginateListObjectsV2({ client: bucketClient }, { Bucket: bucket }))
      for (const { Key = '' } of Contents) {
        const { Body } = await bucketClient.send(new GetObjectCommand({ Bucket: bucket, Key }));
        const bytes = (await Body?.transformToByteArray()) ?? new Uint8Array();
        for (const text of [Key, ...(await readTexts(bytes))])
          places.push({ where: `${bucket}/${Key}`, text });
      }
  client.destroy();
  bucketClient.destroy();
  return places;
};
