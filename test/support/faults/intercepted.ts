import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { localCredentials } from 'cdk-local-runner';
import { localRegion } from 'cdk-local-runner/template';
import { inject } from 'vitest';
import { dynamodbClient, type Store } from '../../../foundations/storage/index.ts';
import { deep, sample } from '../run/sampling.ts';

/** The connections of all intercepted stores: hundreds of them are made, one after the other. */
const requestHandler = new NodeHttpHandler();

type Handle = NodeHttpHandler['handle'];

/**
 * A client of DynamoDB with something in between.
 *
 * @param handle makes a request, or something else of it; it is given the operation, e.g. `Query`, and
 * its input as it is on the wire
 */
export const clientThrough = (
  handle: (operation: string, input: object, send: () => ReturnType<Handle>) => ReturnType<Handle>,
): DynamoDBClient => {
  const through: Handle = (request, options) => {
    const operation = request.headers['x-amz-target']?.split('.').at(-1) ?? '';
    const { body } = request;
    const input = JSON.parse(typeof body === 'string' ? body : Buffer.concat([body]).toString());
    return handle(operation, input, () => requestHandler.handle(request, options));
  };
  return dynamodbClient({
    region: localRegion,
    credentials: localCredentials,
    endpoint: inject('stores').dynamodb,
    requestHandler: Object.assign(Object.create(requestHandler), { handle: through }),
  });
};

/**
 * The same store, through clients of its own that do something before each of their commands.
 *
 * @param before is given the command's number, from 0, counted over both stores, its operation and
 * its input. The command waits for it, and fails where it does
 */
export const intercepted = (
  store: Store,
  before: (command: number, operation: string, input: object) => Promise<void> | void,
): Store => {
  const endpoints = inject('stores');
  const config = { region: localRegion, credentials: localCredentials, requestHandler };
  let commands = 0;
  const dynamodb = clientThrough(async (operation, input, send) => {
    await before(commands++, `${operation}Command`, input);
    return send();
  });
  let s3: S3Client | undefined;
  // Few commands are of a bucket, and its client takes long to make.
  const s3Client = (): S3Client => {
    if (s3) return s3;
    s3 = new S3Client({ ...config, endpoint: endpoints.s3 });
    s3.middlewareStack.add((next, { commandName }) => async (args) => {
      await before(commands++, commandName ?? '', args.input);
      return next(args);
    });
    return s3;
  };
  return {
    ...store,
    table: { ...store.table, client: dynamodb },
    bucket: {
      ...store.bucket,
      get client() {
        return s3Client();
      },
    },
    ...(store.bookkeeping && { bookkeeping: { ...store.bookkeeping, client: dynamodb } }),
  };
};

/** Tells kinds of commands apart. */
export type GetKind = (operation: string, input: object) => string;

/** Runs something on a store, to learn of what kind each of its commands is. */
export const findKinds = async (
  store: Store,
  work: (store: Store) => Promise<unknown>,
  getKind: GetKind = (operation) => operation,
): Promise<string[]> => {
  const kinds: string[] = [];
  await work(intercepted(store, (_, operation, input) => void kinds.push(getKind(operation, input))));
  return kinds;
};

/**
 * The numbers of the commands before which it is worth stopping: one of each kind, chosen by the
 * seed. In a deep run it is before all of them, and after the last.
 *
 * @param kinds the kind of each command
 * @param taken the kinds that earlier tests have stopped before. An ordinary run leaves them out,
 * or has one of them if there is no other; the chosen ones are added. @default - none
 */
export const stopsAmong = (
  kinds: readonly string[],
  name: string,
  taken: Set<string> = new Set(),
): number[] => {
  const numbers = kinds.map((_, at) => at);
  if (deep) return [...numbers, numbers.length];
  const byKind = [...Map.groupBy(numbers, (at) => kinds[at] ?? '')];
  const fresh = byKind.filter(([kind]) => !taken.has(kind));
  const chosen = fresh.length > 0 ? fresh : sample(byKind, 1, name);
  for (const [kind] of chosen) taken.add(kind);
  return chosen.flatMap(([kind, some]) => sample(some, 1, `${name}: ${kind}`));
};

/**
 * Runs something on a store, to learn before which of its commands it is worth stopping: as
 * {@link stopsAmong} says.
 */
export const stops = async (
  store: Store,
  name: string,
  work: (store: Store) => Promise<unknown>,
  taken?: Set<string>,
): Promise<number[]> => stopsAmong(await findKinds(store, work), name, taken);

/**
 * Runs something on a store, stops it before its command of the given number, runs something else
 * meanwhile, and lets it go on.
 *
 * @returns whether it got as far as that command; else the other thing ran after it
 */
export const interleaved = async (
  store: Store,
  at: number,
  stopped: (store: Store) => Promise<unknown>,
  meanwhile: () => Promise<unknown>,
): Promise<boolean> => {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const gate = intercepted(store, async (command) => {
    if (command !== at) return;
    reached.resolve();
    await released.promise;
  });
  const under = stopped(gate);
  const isStopped = await Promise.race([reached.promise.then(() => true), under.then(() => false)]);
  await meanwhile();
  released.resolve();
  await under;
  return isStopped;
};

/** What a process does that has died. */
export class Crash extends Error {}

/**
 * Runs something on a store until its command of the given number, which fails as all after it do.
 *
 * @returns whether it got as far as that command
 */
export const crashed = async (
  store: Store,
  at: number,
  work: (store: Store) => Promise<unknown>,
): Promise<boolean> => {
  const dying = intercepted(store, (command) => {
    if (command >= at) throw new Crash();
  });
  try {
    await work(dying);
    return false;
  } catch (error) {
    if (!(error instanceof Crash)) throw error;
    return true;
  }
};
