import type { PutObjectCommandInput, S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import type { RequestBudget } from './request-budget.ts';
import { type Attempt, withRetries } from './retries.ts';

/** One S3 bucket and the client to reach it with, which may be made when it is first asked for. */
export interface Bucket {
  readonly client: S3Client | Promise<S3Client>;
  readonly name: string;
}

/**
 * S3's part of the SDK, loaded when it is first needed: most requests are over without it, and it
 * would be a third of what a container loads.
 */
const s3 = () => import('@aws-sdk/client-s3');

/** An object as it was read: its bytes, and the ETag that tells whether it is still the same. */
export interface StoredObject {
  readonly body: Uint8Array;
  readonly etag: string;
}

const putInput = (bucket: Bucket, key: string, body: Uint8Array): PutObjectCommandInput => ({
  Bucket: bucket.name,
  Key: key,
  Body: body,
  ContentType: 'application/zstd',
});

/**
 * Stores an object, replacing the one of the same key.
 *
 * @throws ServiceError 503 when S3 does not take it in time
 */
export const putObject = (
  bucket: Bucket,
  key: string,
  body: Uint8Array,
  budget: RequestBudget,
): Promise<void> =>
  withRetries(budget, async (request) => {
    const { PutObjectCommand } = await s3();
    await (await bucket.client).send(new PutObjectCommand(putInput(bucket, key, body)), request);
    return true;
  });

/**
 * Reads a whole object and its ETag.
 *
 * @returns undefined where there is none
 * @throws ServiceError 503 when S3 does not give it in time
 */
export const readObject = async (
  bucket: Bucket,
  key: string,
  budget: RequestBudget,
): Promise<StoredObject | undefined> => {
  let found: StoredObject | undefined;
  await withRetries(budget, async (request) => {
    const { GetObjectCommand } = await s3();
    const client = await bucket.client;
    try {
      const answer = await client.send(new GetObjectCommand({ Bucket: bucket.name, Key: key }), request);
      const body = await answer.Body?.transformToByteArray();
      found = body && { body, etag: answer.ETag ?? '' };
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'NoSuchKey') throw error;
    }
    return true;
  });
  return found;
};

/**
 * Reads a whole object.
 *
 * @returns its bytes, or undefined where there is none
 * @throws ServiceError 503 when S3 does not give it in time
 */
export const getObject = async (
  bucket: Bucket,
  key: string,
  budget: RequestBudget,
): Promise<Uint8Array | undefined> => (await readObject(bucket, key, budget))?.body;

/**
 * What S3 answers to a write on condition: the object is gone, somebody else is writing it, it is
 * another by now.
 */
const changed = new Set<number | undefined>([404, 409, 412]);

/** The status of S3's answer that an error of its client tells of; undefined for other errors. */
const statusOf = (error: unknown): number | undefined =>
  error instanceof Error && '$metadata' in error
    ? (error as S3ServiceException).$metadata.httpStatusCode
    : undefined;

/** Whether the condition of a write held. */
const sendIfUnchanged = async (
  budget: RequestBudget,
  send: (options: Parameters<Attempt>[0]) => Promise<unknown>,
): Promise<boolean> => {
  let held = true;
  await withRetries(budget, async (request) => {
    try {
      await send(request);
    } catch (error) {
      if (!changed.has(statusOf(error))) throw error;
      held = false;
    }
    return true;
  });
  return held;
};

/**
 * Deletes an object; one that is not there is as good as deleted.
 *
 * @throws ServiceError 503 when S3 does not do it in time
 */
export const deleteObject = (bucket: Bucket, key: string, budget: RequestBudget): Promise<void> =>
  withRetries(budget, async (request) => {
    const { DeleteObjectCommand } = await s3();
    await (await bucket.client).send(new DeleteObjectCommand({ Bucket: bucket.name, Key: key }), request);
    return true;
  });

/**
 * Stores an object in the place of one that was read.
 *
 * @param etag of the object that was read
 * @returns false where it is not that one any more, which is also what a write gives whose first
 * answer was lost: look again
 * @throws ServiceError 503 when S3 does not take it in time
 */
export const replaceObject = (
  bucket: Bucket,
  key: string,
  body: Uint8Array,
  etag: string,
  budget: RequestBudget,
): Promise<boolean> =>
  sendIfUnchanged(budget, async (request) => {
    const { PutObjectCommand } = await s3();
    const input = { ...putInput(bucket, key, body), IfMatch: etag };
    await (await bucket.client).send(new PutObjectCommand(input), request);
  });

/**
 * Deletes an object that was read.
 *
 * @param etag of the object that was read
 * @returns false where it is not that one any more, or already gone: look again
 * @throws ServiceError 503 when S3 does not take it in time
 */
export const deleteReadObject = (
  bucket: Bucket,
  key: string,
  etag: string,
  budget: RequestBudget,
): Promise<boolean> =>
  sendIfUnchanged(budget, async (request) => {
    const { DeleteObjectCommand } = await s3();
    const input = { Bucket: bucket.name, Key: key, IfMatch: etag };
    await (await bucket.client).send(new DeleteObjectCommand(input), request);
  });
