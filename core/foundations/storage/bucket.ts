import type { PutObjectCommandInput, S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import { type Attempt, type RequestBudget, withRetries } from './requests.ts';

/** An S3 bucket and a client for it, which may still be on its way. */
export interface Bucket {
  readonly client: S3Client | Promise<S3Client>;
  readonly name: string;
}

/**
 * Loads S3's part of the SDK when it is first needed. It would be a third of what a container
 * loads, and most requests end without it.
 */
const s3 = () => import('@aws-sdk/client-s3');

/** An object as it was read. The ETag is another one once the object changes. */
export interface StoredObject {
  readonly body: Uint8Array;
  readonly etag: string;
}

/** The type of what calls, objects and feedback keep there. */
const zstd = 'application/zstd';

const putInput = (
  bucket: Bucket,
  key: string,
  body: Uint8Array,
  ContentType: string,
): PutObjectCommandInput => ({
  Bucket: bucket.name,
  Key: key,
  Body: body,
  ContentType,
});

/**
 * Stores an object and replaces the one of the same key.
 *
 * @param contentType zstd's unless it is something else
 * @throws ServiceError 503 when S3 does not answer in time
 */
export const putObject = (
  bucket: Bucket,
  key: string,
  body: Uint8Array,
  budget: RequestBudget,
  contentType = zstd,
): Promise<void> =>
  withRetries(budget, async (request) => {
    const { PutObjectCommand } = await s3();
    await (await bucket.client).send(new PutObjectCommand(putInput(bucket, key, body, contentType)), request);
    return true;
  });

/**
 * Reads a whole object and its ETag.
 *
 * @returns undefined if there is none
 * @throws ServiceError 503 when S3 does not answer in time
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
 * @returns its bytes, or undefined if there is none
 * @throws ServiceError 503 when S3 does not answer in time
 */
export const getObject = async (
  bucket: Bucket,
  key: string,
  budget: RequestBudget,
): Promise<Uint8Array | undefined> => (await readObject(bucket, key, budget))?.body;

/**
 * The statuses of a conditional write that does not hold: the object is gone, somebody else is
 * writing it, or it has changed.
 */
const changed = new Set<number | undefined>([404, 409, 412]);

/** The HTTP status of an error that S3 answered with; undefined for other errors. */
const statusOf = (error: unknown): number | undefined =>
  error instanceof Error && '$metadata' in error
    ? (error as S3ServiceException).$metadata.httpStatusCode
    : undefined;

/** Sends a conditional write. Returns whether its condition held. */
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
 * Deletes an object. Succeeds if there is none.
 *
 * @throws ServiceError 503 when S3 does not answer in time
 */
export const deleteObject = (bucket: Bucket, key: string, budget: RequestBudget): Promise<void> =>
  withRetries(budget, async (request) => {
    const { DeleteObjectCommand } = await s3();
    await (await bucket.client).send(new DeleteObjectCommand({ Bucket: bucket.name, Key: key }), request);
    return true;
  });

/**
 * Replaces an object if it is still as it was read.
 *
 * @param etag of the object that was read
 * @returns false if it has changed; also if the write held and its first answer was lost, so read
 * again
 * @throws ServiceError 503 when S3 does not answer in time
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
    const input = { ...putInput(bucket, key, body, zstd), IfMatch: etag };
    await (await bucket.client).send(new PutObjectCommand(input), request);
  });

/**
 * Deletes an object if it is still as it was read.
 *
 * @param etag of the object that was read
 * @returns false if it has changed or is gone, so read again
 * @throws ServiceError 503 when S3 does not answer in time
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
