import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { localCredentials } from 'cdk-local-runner';
import { localRegion } from 'cdk-local-runner/template';
import type { LaunchOptions } from 'playwright-core';
import type { ProvidedContext } from 'vitest';
import type { TestProject } from 'vitest/node';
import { launchOptions, NoBrowser } from '../../../bench/harness/browser.ts';
import { formatKey, makeKey, newRecord, putKey } from '../../../foundations/auth/index.ts';
import { type LocalService, startLocalService } from '../../../local/service.ts';
import { getTableName } from '../../../local/stack.ts';
import { testPoolLimits } from '../../support/service/pool-limits.ts';
import { withTestShards } from '../../support/service/shards.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The service that all tests of the page share, and how to start a browser. */
    readonly page: {
      readonly url: string;
      /** A key that may do everything. */
      readonly key: string;
      /** A key that may only read, and only the projects of tests. */
      readonly reader: string;
      /** A key that may write to the projects of tests, of another user. */
      readonly writer: string;
      readonly browser: LaunchOptions;
      /** Why there is no browser, if there is none. */
      readonly lacks?: string;
    };
  }
}

/** Starts the service on the stores of this run. */
const startService = async (shared: Partial<ProvidedContext>): Promise<LocalService> => {
  const { stores, assembly } = shared;
  if (!stores || !assembly) throw new Error('the stores have to be set up first');
  if (assembly.error !== undefined) throw new Error(assembly.error);
  return startLocalService({
    ...stores,
    assembly: assembly.folder,
    stackName: `page-${randomUUID().slice(0, 8)}`,
    poolLimits: testPoolLimits,
    // A page does not tell why a request failed.
    log: (source, line) => source === 'gateway' && console.error(line),
    wrapStores: async ({ functions, ...given }) => ({ ...given, functions: withTestShards(functions) }),
  });
};

/** Makes a key for the projects of tests. */
const createKey = async (
  { dynamodb, stack }: LocalService,
  user: string,
  role: 'read' | 'write',
): Promise<string> => {
  const client = new DynamoDBClient({
    endpoint: dynamodb,
    region: localRegion,
    credentials: localCredentials,
  });
  const key = makeKey();
  const grantee = { user, grants: [{ scope: 'page/*', role }] } as const;
  await putKey({ client, name: getTableName(stack, 'keys') }, newRecord(key, grantee, Date.now() * 1000));
  client.destroy();
  return formatKey(key);
};

/** How to start a browser, or why there is none. */
const findBrowser = async (): Promise<{ browser: LaunchOptions; lacks?: string }> => {
  try {
    return { browser: await launchOptions() };
  } catch (error) {
    if (!(error instanceof NoBrowser)) throw error;
    return { browser: {}, lacks: `a browser (${error.message})` };
  }
};

/** Starts the service for all tests of the page, and ends it after the last. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const [service, found] = await Promise.all([startService(project.getProvidedContext()), findBrowser()]);
  const [reader, writer] = await Promise.all([
    createKey(service, 'reader', 'read'),
    createKey(service, 'writer', 'write'),
  ]);
  project.provide('page', { url: service.url, key: service.key, reader, writer, ...found });
  return () => service.stop();
};
