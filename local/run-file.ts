import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { LocalService } from './service.ts';
import { authorizerCacheSecondsOf, outputOf, tableNameOf } from './template/stack.ts';

const folder = join(resolve(import.meta.dirname, '..'), '.local');

/**
 * Writes the running service's stores to `.local/<port>.json`, for commands that use them.
 *
 * @returns removes the file
 */
export const writeRunFile = async ({
  url,
  port,
  service,
  dynamodb,
  s3,
  stack,
}: LocalService): Promise<() => Promise<void>> => {
  const file = join(folder, `${port}.json`);
  const run = {
    url,
    pid: process.pid,
    service,
    authorizerCacheSeconds: authorizerCacheSecondsOf(stack),
    dynamodb,
    s3,
    tables: { calls: tableNameOf(stack, 'calls'), keys: tableNameOf(stack, 'keys') },
    bucket: outputOf(stack, 'PayloadsBucket'),
  };
  await mkdir(folder, { recursive: true });
  await writeFile(file, `${JSON.stringify(run, null, 2)}\n`);
  return () => rm(file, { force: true });
};
