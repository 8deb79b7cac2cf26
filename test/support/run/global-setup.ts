import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StandIn } from 'aws-stand-in';
import { startS3 } from 'cdk-local-runner';
import { startStore } from 'dynamodb-on-sqlite';
import { startDynamodbLocal } from 'dynamodb-on-sqlite/dynamodb-local';
import type { ProvidedContext } from 'vitest';
import type { TestProject } from 'vitest/node';
import { assemble } from '../../../local/assembly.ts';
import { testSettings } from '../stack/every-setting.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The endpoints of the stores that all tests of a run share. */
    readonly stores: { readonly dynamodb: string; readonly s3: string };
    /** Where the stack was synthesized to, or why it could not be. */
    readonly assembly: { readonly folder: string; readonly error?: string };
    /** An empty folder for what tests write. */
    readonly scratch: string;
  }
}

/** What the projects of a run share: the stores and the synthesized stack. */
interface Shared {
  readonly provided: Pick<ProvidedContext, 'stores' | 'assembly' | 'scratch'>;
  /** Ends and removes it all. */
  readonly stop: () => Promise<void>;
}

/** A store that somebody else runs, and ends. */
const running = (endpoint: string): StandIn => ({ endpoint, stop: async () => {} });

/**
 * The message of what went wrong; a stack that does not synthesize fails the tests that need it and
 * no others.
 */
const catchFailure = (work: Promise<unknown>): Promise<string | undefined> =>
  work.then(
    () => undefined,
    (error: unknown) => String(error),
  );

/** The store of a run: Amazon's if `DYNAMODB_LOCAL` is set, as for the service. */
const startDynamodb = (): Promise<StandIn> =>
  process.env.DYNAMODB_LOCAL ? startDynamodbLocal() : startStore();

/** Starts the stores, or takes those that the environment names, and synthesizes the stack. */
const start = async (): Promise<Shared> => {
  const { AWS_ENDPOINT_URL_DYNAMODB: givenDynamodb, AWS_ENDPOINT_URL_S3: givenS3 } = process.env;
  const scratch = await mkdtemp(join(tmpdir(), 'pennytrace-test-'));
  const folder = join(scratch, 'assembly');
  const [dynamodb, s3, error] = await Promise.all([
    givenDynamodb ? running(givenDynamodb) : startDynamodb(),
    givenS3 ? running(givenS3) : startS3(),
    catchFailure(assemble(folder, testSettings, undefined, { program: 'test/support/stack/app.ts' })),
  ]);
  const stores = { dynamodb: dynamodb.endpoint, s3: s3.endpoint };
  return {
    provided: { stores, scratch, assembly: { folder, ...(error !== undefined && { error }) } },
    stop: async () => {
      await Promise.all([dynamodb.stop(), s3.stop(), rm(scratch, { recursive: true, force: true })]);
    },
  };
};

/** The shared things of this process, and how many projects use them. */
interface Slot {
  shared?: Promise<Shared>;
  users: number;
}

/** Each project has its own instance of this module: what they share hangs on the process. */
const slot = (): Slot => {
  const holder = globalThis as { pennytraceTests?: Slot };
  holder.pennytraceTests ??= { users: 0 };
  return holder.pennytraceTests;
};

/**
 * Starts what the tests of a project need. The projects of one run share it: the first starts it,
 * and the last ends it.
 */
export const setup = async ({ provide }: TestProject): Promise<() => Promise<void>> => {
  const own = slot();
  own.users++;
  own.shared ??= start();
  const { provided, stop } = await own.shared;
  provide('stores', provided.stores);
  provide('assembly', provided.assembly);
  provide('scratch', provided.scratch);
  return async () => {
    own.users--;
    if (own.users === 0) await stop();
  };
};
