import { inject } from 'vitest';
import type { Sender } from '../service/in-process.ts';
import { overHttp } from '../service/over-http.ts';
import { startService, type TestService, type TestServiceOptions } from '../service/service.ts';
import { startFaultyProxy } from './faulty-proxy.ts';

/** A service whose requests to both of its stores go through proxies. */
export interface FaultyService {
  readonly service: TestService;
  readonly sender: Sender;
  stop(): Promise<void>;
}

/**
 * Starts the functions that are deployed behind the local gateway, with stores that fail when they
 * are told to.
 *
 * @param decide what happens to a request to either store, as {@link startFaultyProxy} asks it
 * @param done is told of what has been passed on
 * @param options what shall differ from the deployed functions
 */
export const startFaultyService = async (
  decide: Parameters<typeof startFaultyProxy>[1],
  done?: Parameters<typeof startFaultyProxy>[2],
  options: Pick<
    TestServiceOptions,
    'maxTimeoutSeconds' | 'settings' | 'concurrency' | 'maxWindowMs' | 'eventFate'
  > = {},
): Promise<FaultyService> => {
  const { dynamodb, s3 } = inject('stores');
  const [toDynamodb, toS3] = await Promise.all([
    startFaultyProxy(dynamodb, decide, done),
    startFaultyProxy(s3, decide, done),
  ]);
  const service = await startService({ dynamodb: toDynamodb.endpoint, s3: toS3.endpoint, ...options });
  const stop = async () => {
    // What still waits for a store is let go by that.
    await toDynamodb[Symbol.asyncDispose]();
    await toS3[Symbol.asyncDispose]();
    await service.stop();
  };
  return { service, sender: overHttp(service), stop };
};
