import { randomUUID } from 'node:crypto';
import type { ProvidedContext } from 'vitest';
import type { TestProject } from 'vitest/node';
import { type LocalService, startLocalService } from '../../../local/service.ts';
import { launchServer } from './chromium.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The service and the browser that all tests of the page share. */
    readonly page: { readonly url: string; readonly key: string; readonly browser: string };
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
  });
};

/** Starts the service and the browser for all tests of the page, and ends them after the last. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const [service, browser] = await Promise.all([startService(project.getProvidedContext()), launchServer()]);
  project.provide('page', { url: service.url, key: service.key, browser: browser.wsEndpoint() });
  return async () => {
    await browser.close();
    await service.stop();
  };
};
