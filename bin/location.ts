/*
 * Where the operator's commands find a service: a deployed stack by its outputs, and the local service
 * by the file that it writes.
 */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { z } from 'zod';
import { dynamodbClient, type Table } from '../foundations/storage/index.ts';
import { type TableName, tables } from '../foundations/storage/tables.ts';
import { settings } from '../lib/config.ts';
import { isRunning } from '../local/data-dir.ts';
import { Failure, UsageError } from './common.ts';

/** Where a service is: a deployed stack, or the local service on a port. */
export type Location =
  | { readonly kind: 'stack'; readonly name: string }
  | { readonly kind: 'local'; readonly port: number };

/** Where the table of keys is: the service's, or a table of a name. */
export type KeysLocation = Location | { readonly kind: 'table'; readonly name: string };

export const defaultPort = '8787';
export const defaultStack = 'Pennytrace';

/** The options that say where a service is. */
export const locationOptions = { stack: { type: 'string' }, local: { type: 'string' } } as const;

/** Completes a `--local` without a port, which parseArgs does not support. */
export const withDefaultPort = (argv: readonly string[]): string[] =>
  argv.map((argument) => (argument === '--local' ? `--local=${defaultPort}` : argument));

/** @throws UsageError if both say where the service is, or the port is none */
export const toLocation = ({ stack, local }: { stack?: string; local?: string }): Location => {
  if (stack !== undefined && local !== undefined)
    throw new UsageError('--stack and --local each say where the service is: give one of them');
  if (local === undefined) return { kind: 'stack', name: stack ?? defaultStack };
  const port = Number(local);
  if (!/^\d{1,5}$/.test(local) || port < 1 || port > 65_535)
    throw new UsageError(`--local=${local}: should be a port, e.g. --local=${defaultPort}`);
  return { kind: 'local', port };
};

/**
 * Reads a JSON file; undefined if it does not exist.
 *
 * @throws Failure if it cannot be read or is not JSON
 */
const readJson = async (path: string): Promise<unknown> => {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new Failure(`${path} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
};

const schema = z.object({
  pid: z.int().positive(),
  authorizerCacheSeconds: z.number(),
  dynamodb: z.url(),
  credentials: z.object({ accessKeyId: z.string(), secretAccessKey: z.string() }),
  tables: z.object({ keys: z.string() }).catchall(z.string()),
});

/** The fields of a running service's file that the command needs. */
export type LocalService = z.output<typeof schema>;

/**
 * Reads the file of the local service on a port.
 *
 * @param root the project's folder, absolute
 * @throws Failure if there is no file, or its service has ended
 */
const runningService = async (port: number, root: string): Promise<LocalService> => {
  const file = join('.local', `${port}.json`);
  const content = await readJson(join(root, file));
  if (content === undefined)
    throw new Failure(
      `no local service on port ${port} (there is no ${file}): start it (npm start), or name its port (--local=PORT)`,
    );
  const { success, data } = schema.safeParse(content);
  if (!success) throw new Failure(`${file} was not written by this version of the service: restart it`);
  if (!isRunning(data.pid))
    throw new Failure(
      `the local service on port ${port}, process ${data.pid}, has ended without removing ${file}: ` +
        'start it (npm start), or name the port of another (--local=PORT)',
    );
  return data;
};

/**
 * The outputs of a deployed stack, by their names.
 *
 * @throws Failure if there is no such stack; the SDK's error if AWS refuses
 */
export const outputsOfStack = async (stack: string): Promise<ReadonlyMap<string, string>> => {
  // Only operators of deployed stacks need it, and it loads slowly.
  const { CloudFormationClient, DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation');
  const client = new CloudFormationClient();
  try {
    const answer = await client.send(new DescribeStacksCommand({ StackName: stack }));
    const outputs = answer.Stacks?.[0]?.Outputs ?? [];
    return new Map(outputs.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]));
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ValidationError') throw error;
    throw new Failure(
      `no stack ${stack} in ${await client.config.region()}: deploy it (npm run deploy), name it (--stack NAME), ` +
        'set AWS_REGION to where it is, or use the local service (--local)',
      { cause: error },
    );
  } finally {
    client.destroy();
  }
};

/**
 * The value of an output of a deployed stack.
 *
 * @param mend what to do if there is no such output
 * @throws Failure if there is no such stack or output; the SDK's error if AWS refuses
 */
export const outputOfStack = async (
  stack: string,
  output: string,
  mend = 'check that it is this service and deployed',
): Promise<string> => {
  const value = (await outputsOfStack(stack)).get(output);
  if (value === undefined) throw new Failure(`the stack ${stack} has no output ${output}: ${mend}`);
  return value;
};

/** The tables that the stack has an output for. */
type OutputTable = Exclude<TableName, 'rates'>;

const findTable = async (location: KeysLocation, root: string, table: OutputTable): Promise<Table> => {
  if (location.kind === 'table') return { client: dynamodbClient(), name: location.name };
  if (location.kind === 'stack')
    return { name: await outputOfStack(location.name, tables[table].output), client: dynamodbClient() };
  const { dynamodb, credentials, tables: names } = await runningService(location.port, root);
  const name = names[table];
  if (name === undefined)
    throw new Failure(
      `.local/${location.port}.json was not written by this version of the service: restart it`,
    );
  const client = new DynamoDBClient({
    endpoint: dynamodb,
    region: 'us-east-1',
    credentials,
    maxAttempts: 2,
  });
  return { client, name };
};

/**
 * Does something with a table of a service, and closes its connections, which would keep the process
 * alive.
 *
 * @param root the project's folder, absolute
 * @throws Failure if there is no such stack or local service; the SDK's error if AWS refuses
 */
export const withTable = async <T>(
  location: KeysLocation,
  root: string,
  name: OutputTable,
  task: (table: Table) => Promise<T>,
): Promise<T> => {
  const table = await findTable(location, root, name);
  try {
    return await task(table);
  } finally {
    table.client.destroy();
  }
};

export interface ServiceFacts {
  /**
   * How long a revoked key may still be accepted, in seconds; absent if the configuration does not
   * say.
   */
  readonly cacheSeconds?: number;
}

/**
 * Facts about the service of a location. The local service states them in its file, cdk.json for
 * others.
 *
 * @param root the project's folder, absolute
 * @throws Failure if there is no such local service, or cdk.json cannot be read
 */
export const readFacts = async (location: KeysLocation, root: string): Promise<ServiceFacts> => {
  if (location.kind !== 'local') return configured(root);
  const { authorizerCacheSeconds } = await runningService(location.port, root);
  return { cacheSeconds: authorizerCacheSeconds };
};

/** The settings in cdk.json; none if there is no such file. */
const readContext = async (
  root: string,
): Promise<{ authorizerCacheSeconds?: unknown; auditDays?: unknown }> => {
  const config = (await readJson(join(root, 'cdk.json'))) as { context?: object } | undefined;
  return config?.context ?? {};
};

/** How long entries of the audit trail stay, in days, as cdk.json says. */
export const readAuditDays = async (root: string): Promise<number> =>
  settings.shape.auditDays.parse((await readContext(root)).auditDays ?? undefined);

const configured = async (root: string): Promise<ServiceFacts> => {
  const { authorizerCacheSeconds: seconds } = await readContext(root);
  const cache = settings.shape.authorizerCacheSeconds.safeParse(seconds ?? undefined);
  return cache.success ? { cacheSeconds: cache.data } : {};
};
