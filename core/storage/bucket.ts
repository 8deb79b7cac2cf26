import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { type Effort, persist } from './effort.ts';

/** One S3 bucket and the client to reach it with. */
export interface Bucket {
  readonly client: S3Client;
  readonly name: string;
}

/**
 * Stores an object, replacing the one of the same key.
 *
 * @throws ServiceError 503 when S3 does not take it in time
 */
export const putObject = (bucket: Bucket, key: string, body: Uint8Array, effort: Effort): Promise<void> =>
  persist(effort, async (request) => {
    await bucket.client.send(
      new PutObjectCommand({ Bucket: bucket.name, Key: key, Body: body, ContentType: 'application/zstd' }),
      request,
    );
    return true;
  });

/**
 * Reads a whole object.
 *
 * @returns its bytes, or undefined where there is none
 * @throws ServiceError 503 when S3 does not give it in time
 */
export const getObject = async (
  bucket: Bucket,
  key: string,
  effort: Effort,
): Promise<Uint8Array | undefined> => {
  let body: Uint8Array | undefined;
  await persist(effort, async (request) => {
    try {
      const answer = await bucket.client.send(
        new GetObjectCommand({ Bucket: bucket.name, Key: key }),
        request,
      );
      body = await answer.Body?.transformToByteArray();
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'NoSuchKey') throw error;
    }
    return true;
  });
  return body;
};

/**
 * Deletes an object; one that is not there is as good as deleted.
 *
 * @throws ServiceError 503 when S3 does not do it in time
 */
export const deleteObject = (bucket: Bucket, key: string, effort: Effort): Promise<void> =>
  persist(effort, async (request) => {
    await bucket.client.send(new DeleteObjectCommand({ Bucket: bucket.name, Key: key }), request);
    return true;
  });
