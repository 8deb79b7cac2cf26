import type { S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import { type RequestBudget, type RequestOptions, withRetries } from './requests.ts';

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

type Sdk = Awaited<ReturnType<typeof s3>>;

/**
 * Makes a request of a bucket.
 *
 * @param isExpected whether an error is an answer like any other
 * @returns what the request gave; undefined after an expected error
 */
const ask = async <T>(
  bucket: Bucket,
  budget: RequestBudget,
  request: (client: S3Client, sdk: Sdk, options: RequestOptions) => Promise<T>,
  isExpected: (error: unknown) => boolean = () => false,
): Promise<T | undefined> => {
  let answer: T | undefined;
  await withRetries(budget, async (options) => {
    try {
      answer = await request(await bucket.client, await s3(), options);
    } catch (error) {
      if (!isExpected(error)) throw error;
    }
    return true;
  });
  return answer;
};

/**
 * Stores an object and replaces the one of the same key.
 *
 * @param contentType zstd's unless it is something else
 * @throws ServiceError 503 when S3 does not answer in time
 */
export const putObject = async (
  bucket: Bucket,
  key: string,
  body: Uint8Array,
  budget: RequestBudget,
  contentType = zstd,
): Promise<void> => {
  const input = { Bucket: bucket.name, Key: key, Body: body, ContentType: contentType };
  await ask(bucket, budget, (client, { PutObjectCommand }, options) =>
    client.send(new PutObjectCommand(input), options),
  );
};

/**
 * Reads a whole object and its ETag.
 *
 * @returns undefined if there is none
 * @throws ServiceError 503 when S3 does not answer in time
 */
export const readObject = (
  bucket: Bucket,
  key: string,
  budget: RequestBudget,
): Promise<StoredObject | undefined> =>
  ask(
    bucket,
    budget,
    async (client, { GetObjectCommand }, options) => {
      const command = new GetObjectCommand({ Bucket: bucket.name, Key: key });
      const { Body, ETag = '' } = await client.send(command, options);
      const body = await Body?.transformToByteArray();
      return body && { body, etag: ETag };
    },
    (error) => error instanceof Error && error.name === 'NoSuchKey',
  );

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

/** Whether an error says that the condition of a write did not hold. */
const hasChanged = (error: unknown): boolean =>
  error instanceof Error &&
  '$metadata' in error &&
  changed.has((error as S3ServiceException).$metadata.httpStatusCode);

/**
 * Deletes an object. Succeeds if there is none.
 *
 * @throws ServiceError 503 when S3 does not answer in time
 */
export const deleteObject = async (bucket: Bucket, key: string, budget: RequestBudget): Promise<void> => {
  await ask(bucket, budget, (client, { DeleteObjectCommand }, options) =>
    client.send(new DeleteObjectCommand({ Bucket: bucket.name, Key: key }), options),
  );
};

/**
 * Replaces an object if it is still as it was read.
 *
 * @param etag of the object that was read
 * @returns false if it has changed; also if the write held and its first answer was lost, so read
 * again
 * @throws ServiceError 503 when S3 does not answer in time
 */
export const replaceObject = async (
  bucket: Bucket,
  key: string,
  body: Uint8Array,
  etag: string,
  budget: RequestBudget,
): Promise<boolean> => {
  const input = { Bucket: bucket.name, Key: key, Body: body, ContentType: zstd, IfMatch: etag };
  const answer = await ask(
    bucket,
    budget,
    (client, { PutObjectCommand }, options) => client.send(new PutObjectCommand(input), options),
    hasChanged,
  );
  return answer !== undefined;
};

/**
 * Deletes an object if it is still as it was read.
 *
 * @param etag of the object that was read
 * @returns false if it has changed or is gone, so read again
 * @throws ServiceError 503 when S3 does not answer in time
 */
export const deleteReadObject = async (
  bucket: Bucket,
  key: string,
  etag: string,
  budget: RequestBudget,
): Promise<boolean> => {
  const input = { Bucket: bucket.name, Key: key, IfMatch: etag };
  const answer = await ask(
    bucket,
    budget,
    (client, { DeleteObjectCommand }, options) => client.send(new DeleteObjectCommand(input), options),
    hasChanged,
  );
  return answer !== undefined;
};

/** The names directly below a prefix, as if slashes made folders: each with its slash. */
export const listFolders = async (
  bucket: Bucket,
  prefix: string,
  budget: RequestBudget,
): Promise<string[]> => {
  const folders: string[] = [];
  let token: string | undefined;
  do {
    const input = { Bucket: bucket.name, Prefix: prefix, Delimiter: '/', ContinuationToken: token };
    const page = await ask(bucket, budget, (client, { ListObjectsV2Command }, options) =>
      client.send(new ListObjectsV2Command(input), options),
    );
    folders.push(...(page?.CommonPrefixes ?? []).flatMap(({ Prefix }) => Prefix ?? []));
    token = page?.NextContinuationToken;
  } while (token !== undefined);
  return folders;
};

/**
 * The keys below a prefix, a page of at most 1,000 at a time and in their order.
 *
 * @param after the key before the first. @default - none
 * @throws ServiceError 503 when S3 does not give a page in time
 */
export async function* listObjects(
  bucket: Bucket,
  prefix: string,
  budget: RequestBudget,
  after?: string,
): AsyncGenerator<string[]> {
  let last = after;
  for (;;) {
    const input = { Bucket: bucket.name, Prefix: prefix, StartAfter: last };
    const page = await ask(bucket, budget, (client, { ListObjectsV2Command }, options) =>
      client.send(new ListObjectsV2Command(input), options),
    );
    const keys = (page?.Contents ?? []).flatMap(({ Key }) => Key ?? []);
    if (keys.length > 0) yield keys;
    last = keys.at(-1);
    if (!page?.IsTruncated || last === undefined) return;
  }
}

/**
 * Gives an object one tag, in the place of others. Succeeds if there is no object.
 *
 * @throws ServiceError 503 when S3 does not answer in time
 */
export const tagObject = async (
  bucket: Bucket,
  key: string,
  tag: { readonly name: string; readonly value: string },
  budget: RequestBudget,
): Promise<void> => {
  const input = {
    Bucket: bucket.name,
    Key: key,
    Tagging: { TagSet: [{ Key: tag.name, Value: tag.value }] },
  };
  await ask(
    bucket,
    budget,
    (client, { PutObjectTaggingCommand }, options) =>
      client.send(new PutObjectTaggingCommand(input), options),
    (error) => error instanceof Error && error.name === 'NoSuchKey',
  );
};
