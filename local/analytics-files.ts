import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { localCredentials } from './stores.ts';
import { localRegion } from './template/cloudformation.ts';

interface AnalyticsFilesOptions {
  /** The endpoint of S3. */
  readonly s3: string;
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
export const analyticsFiles = ({ s3, bucket, folder }: AnalyticsFilesOptions): (() => Promise<void>) => {
  const client = new S3Client({ endpoint: s3, region: localRegion, credentials: localCredentials });
  const copy = async (): Promise<void> => {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
    const wanted = new Set(Contents.map(({ Key = '' }) => Key));
    const present = new Set(await filesIn(folder));
    for (const key of present) if (!wanted.has(key)) await rm(join(folder, key), { force: true });
    for (const key of wanted) {
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
