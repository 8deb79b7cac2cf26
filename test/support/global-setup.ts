import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startDynamodb } from '../../local/stores/dynamodb.ts';
import { startS3 } from '../../local/stores/s3.ts';
import type { LocalStore } from '../../local/stores/store.ts';
import { synthesize } from '../../local/synthesize.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The endpoints of the stores that all tests of a run share. */
    readonly stores: { readonly dynamodb: string; readonly s3: string };
    /** Where the stack was synthesized to, or why it could not be. */
    readonly assembly: { readonly folder: string; readonly error?: string };
  }
}

/** A store that somebody else runs, and ends. */
const running = (endpoint: string): LocalStore => ({ endpoint, stop: async () => {} });

/**
 * The message of what went wrong; a stack that does not synthesize fails the tests that need it and
 * no others.
 */
const failureOf = (work: Promise<unknown>): Promise<string | undefined> =>
  work.then(
    () => undefined,
    (error: unknown) => String(error),
  );

/**
 * Once for a test run: starts the stores, or takes those that the environment names, and
 * synthesizes the stack. Gives back how to end and remove it all.
 */
export const setup = async ({ provide }: TestProject): Promise<() => Promise<void>> => {
  const { AWS_ENDPOINT_URL_DYNAMODB: givenDynamodb, AWS_ENDPOINT_URL_S3: givenS3 } = process.env;
  const folder = await mkdtemp(join(tmpdir(), 'pennytrace-test-'));
  const [dynamodb, s3, error] = await Promise.all([
    givenDynamodb ? running(givenDynamodb) : startDynamodb(),
    givenS3 ? running(givenS3) : startS3(),
    failureOf(synthesize(folder)),
  ]);
  provide('stores', { dynamodb: dynamodb.endpoint, s3: s3.endpoint });
  provide('assembly', { folder, ...(error !== undefined && { error }) });
  return async () => {
    await Promise.all([dynamodb.stop(), s3.stop(), rm(folder, { recursive: true, force: true })]);
  };
};
