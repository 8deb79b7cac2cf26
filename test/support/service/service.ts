import { randomUUID } from 'node:crypto';
import type { Access } from 'cdk-local-runner/template';
import { inject } from 'vitest';
import {
  type LocalService,
  type LocalServiceOptions,
  startLocalService,
  type WrapStores,
} from '../../../local/service.ts';
import { assemblyWith } from '../stack/assembly.ts';
import { leastPrivilege } from '../stack/iam/least-privilege.ts';
import { testPoolLimits } from './pool-limits.ts';
import { withTestShards } from './shards.ts';
import { sharedServices } from './shared.ts';

/**
 * The service for one test file: the stack of this test run, on its stores, with tables of its own.
 * Its functions may do what their roles allow.
 */
export interface TestService extends LocalService {
  /** POSTs JSON with the service's key, as Basic credentials. */
  post(path: string, body: unknown, init?: RequestInit): Promise<Response>;
  /** What the functions and the gateway logged, as `<source>: <line>`. */
  readonly logged: readonly string[];
}

/** How to run the service for a test file. */
export interface TestServiceOptions extends Omit<LocalServiceOptions, 'wrapStores'> {
  /**
   * Takes each access to a store, with the route that made it or `authorizer`. @default - dropped
   */
  readonly onAccess?: (source: string, access: Access) => void;
  /**
   * Cuts the time-outs of functions, in seconds, for tests that wait for them. @default - as
   * deployed
   */
  readonly maxTimeoutSeconds?: number;
}

/**
 * Functions with shorter time-outs and the shards of tests, before something else is put between
 * them and the stores.
 */
const adjusted =
  (maxSeconds: number, wrap: WrapStores): WrapStores =>
  ({ functions, ...stores }, ...rest) => {
    const ofTests = withTestShards(functions).map((spec) => ({
      ...spec,
      timeoutSeconds: Math.min(spec.timeoutSeconds, maxSeconds),
    }));
    return wrap({ ...stores, functions: ofTests }, ...rest);
  };

/**
 * Starts the service for a test file, which stops it at its end.
 *
 * @param options what shall differ, e.g. `settings` for a stack of its own
 */
export const startService = async ({
  onAccess,
  maxTimeoutSeconds = Number.POSITIVE_INFINITY,
  settings,
  ...options
}: TestServiceOptions = {}): Promise<TestService> => {
  const logged: string[] = [];
  const log = options.log ?? ((source: string, line: string) => logged.push(`${source}: ${line}`));
  const service = await startLocalService({
    ...inject('stores'),
    assembly: options.assembly ?? (await assemblyWith(settings)),
    poolLimits: testPoolLimits,
    stackName: `test-${randomUUID().slice(0, 13)}`,
    ...options,
    log,
    wrapStores: adjusted(maxTimeoutSeconds, leastPrivilege(log, onAccess)),
  });
  const authorization = `Basic ${Buffer.from(`api:${service.key}`).toString('base64')}`;
  const post: TestService['post'] = (path, body, { headers, ...init } = {}) =>
    fetch(service.url + path, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      ...init,
    });
  return { ...service, post, logged };
};

/** A service that the files of a worker share. It ends with the worker. */
export type SharedService = Omit<TestService, 'stop' | 'killWorkers'>;

/**
 * The service of this worker, which the first file starts that needs it: loading functions takes
 * longer than most tests. Its tables have the data of other files, so each file has projects of its
 * own.
 *
 * @param settings of another stack. @default - that of this test run
 */
export const sharedService = (settings?: Readonly<Record<string, unknown>>): Promise<SharedService> => {
  const services = sharedServices();
  const key = JSON.stringify(settings ?? {});
  const service = services.get(key) ?? startService(settings ? { settings } : {});
  services.set(key, service);
  return service;
};

/** A service by its door of Weave's SDKs: paths are those below `/weave`. */
export const throughWeave = <Service extends SharedService>(service: Service): Service => ({
  ...service,
  url: `${service.url}/weave`,
  post: (path: string, ...rest: unknown[]) =>
    (service.post as (path: string, ...rest: unknown[]) => Promise<Response>)(`/weave${path}`, ...rest),
});
