import { access, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { type Credentials, isDiskFull, type StandIn, type StandInOptions } from 'aws-stand-in';
import { startS3 } from 'cdk-local-runner';
import { localRegion } from 'cdk-local-runner/template';
import { startStore, storeFile } from 'dynamodb-on-sqlite';
import { MissingPrerequisite, startDynamodbLocal } from 'dynamodb-on-sqlite/dynamodb-local';
import { BadSetting } from './settings.ts';

/** A full disk is for the operator to mend; any other error stays as it is. */
const unwritable = (folder: string | undefined, error: unknown): unknown =>
  folder !== undefined && isDiskFull(error)
    ? new BadSetting(
        `DATA_DIR has ${resolve(folder)}, whose disk is full: free some space, or name another folder`,
        {
          cause: error,
        },
      )
    : error;

/** Starts the embedded store. @throws BadSetting if the disk of its folder is full; what {@link startStore} throws */
export const startEmbedded = (options: StandInOptions, signal: AbortSignal): Promise<StandIn> =>
  startStore({ ...options, signal }).catch((error: unknown) => {
    throw unwritable(options.folder, error);
  });

/** Starts the local S3. @throws BadSetting if the disk of its folder is full; what {@link startS3} throws */
export const startBuckets = (options: StandInOptions): Promise<StandIn> =>
  startS3(options).catch((error: unknown) => {
    throw unwritable(options.folder, error);
  });

/**
 * Starts Amazon's DynamoDB Local.
 *
 * @throws BadSetting if Java is missing or too old, or the folder has data of the embedded store; what
 * {@link startDynamodbLocal} throws
 */
export const startAmazons = async (folder: string | undefined, signal: AbortSignal): Promise<StandIn> => {
  if (folder !== undefined) {
    const path = join(folder, storeFile);
    const isThere = await access(path).then(
      () => true,
      () => false,
    );
    if (isThere)
      throw new BadSetting(
        `DATA_DIR has ${path}, which the embedded store wrote: leave DYNAMODB_LOCAL out to go on with it, or name another folder`,
      );
  }
  return startDynamodbLocal(folder, signal).catch((error: unknown) => {
    if (!(error instanceof MissingPrerequisite)) throw error;
    throw new BadSetting(`${error.message}, or leave DYNAMODB_LOCAL out to use the embedded store`, {
      cause: error,
    });
  });
};

/** The variables that name external stores. */
type StoreVariable = 'AWS_ENDPOINT_URL_DYNAMODB' | 'AWS_ENDPOINT_URL_S3';

const answerMs = 5000;

const toReason = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no answer within ${answerMs / 1000} s`;
  const { cause } = error;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : error.message;
};

/**
 * Uses a store that the operator runs. Stopping it is left to them.
 *
 * @param signal cancels the wait
 * @throws BadSetting if nothing answers at the endpoint within 5 s; the signal's reason
 */
export const externalStore = async (
  variable: StoreVariable,
  endpoint: string,
  signal: AbortSignal,
): Promise<StandIn> => {
  try {
    // Any answer will do, also one that refuses the missing signature.
    await fetch(endpoint, {
      method: 'HEAD',
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
    });
  } catch (error) {
    signal.throwIfAborted();
    throw new BadSetting(
      `${variable} is ${endpoint}, where nothing answers (${toReason(error)}): start it, or leave ${variable} out ` +
        'to start one',
      { cause: error },
    );
  }
  return { endpoint, stop: async () => {} };
};

/**
 * Awaits a task on a store. A failure of an external store is reported as a wrong setting.
 *
 * @param endpoint the external store; undefined or empty if the service started the store, whose
 * failures stay as they are
 * @throws BadSetting that names the variable
 */
export const usingExternal = async <T>(
  variable: StoreVariable,
  endpoint: string | undefined,
  task: Promise<T>,
): Promise<T> => {
  try {
    return await task;
  } catch (error) {
    if (!endpoint || !(error instanceof Error)) throw error;
    const [message] = error.message.split('\n');
    throw new BadSetting(
      `${variable} is ${endpoint}, which failed (${error.name}: ${message}): check the address`,
      { cause: error },
    );
  }
};

interface AnalyticsFilesOptions {
  /** The endpoint of S3. */
  readonly s3: string;
  readonly credentials: Credentials;
  readonly bucket: string;
  readonly folder: string;
}

const filesIn = async (folder: string): Promise<string[]> => {
  await mkdir(folder, { recursive: true });
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
};

/**
 * Makes a folder the same as the bucket of analytics, so that DuckDB and others find the files. The
 * local S3 keeps what it has in a database of its own.
 *
 * @returns does it once; two at the same time are one after the other
 */
export const analyticsFiles = ({
  s3,
  credentials,
  bucket,
  folder,
}: AnalyticsFilesOptions): (() => Promise<void>) => {
  const client = new S3Client({ endpoint: s3, region: localRegion, credentials });
  const copy = async (): Promise<void> => {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
    const keys = new Set(Contents.map(({ Key = '' }) => Key));
    const present = new Set(await filesIn(folder));
    for (const key of present) if (!keys.has(key)) await rm(join(folder, key), { force: true });
    for (const key of keys) {
      if (present.has(key)) continue;
      const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
      await mkdir(dirname(join(folder, key)), { recursive: true });
      await writeFile(join(folder, key), (await Body?.transformToByteArray()) ?? new Uint8Array());
    }
  };
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.catch(() => {}).then(copy);
    return last;
  };
};
