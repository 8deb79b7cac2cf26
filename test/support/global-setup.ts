import type { TestProject } from 'vitest/node';
import { startDynamoDb } from '../../local/dynamodb.ts';
import { startS3 } from '../../local/s3.ts';
import type { LocalStore } from '../../local/store.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The endpoints of the stores that all tests of a run share. */
    readonly stores: { readonly dynamodb: string; readonly s3: string };
  }
}

/** A store that somebody else runs, and ends. */
const running = (endpoint: string): LocalStore => ({ endpoint, stop: async () => {} });

/** Starts the stores once for a test run, or takes those that the environment names; gives back how to end them. */
export const setup = async ({ provide }: TestProject): Promise<() => Promise<void>> => {
  const { AWS_ENDPOINT_URL_DYNAMODB: givenDynamoDb, AWS_ENDPOINT_URL_S3: givenS3 } = process.env;
  const [dynamodb, s3] = await Promise.all([
    givenDynamoDb ? running(givenDynamoDb) : startDynamoDb(),
    givenS3 ? running(givenS3) : startS3(),
  ]);
  provide('stores', { dynamodb: dynamodb.endpoint, s3: s3.endpoint });
  return async () => {
    await Promise.all([dynamodb.stop(), s3.stop()]);
  };
};
