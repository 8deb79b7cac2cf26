import {
  formatKey,
  listKeys,
  makeKey,
  newRecord,
  putKey,
  revokeKey,
} from '../../core/foundations/auth/index.ts';
import type { Table } from '../../core/foundations/storage/index.ts';
import type { CommandOutput } from '../common/output.ts';
import { runCommand } from '../common/run-command.ts';
import { UsageError } from '../common/usage-error.ts';
import { Failure } from './failure.ts';
import { factsOf, findTable, type ServiceFacts } from './location.ts';
import { type Command, help, type KeysLocation, parseCommand } from './options.ts';
import { describeKeys, describeNewKey, keysAsJson } from './output.ts';

/** Where the command runs. */
export interface CommandEnvironment extends CommandOutput {
  /**
   * Whether standard output is a terminal. Only then may messages show a key, because err may be a
   * log otherwise.
   */
  readonly interactive: boolean;
  /** The project's folder, absolute. */
  readonly root: string;
}

type CommandOf<Name extends Command['name']> = Extract<Command, { name: Name }>;

/**
 * Runs the command for keys.
 *
 * @param argv the arguments after the command's name
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage (nothing was done)
 */
export const run = (argv: readonly string[], io: CommandEnvironment): Promise<0 | 1 | 2> =>
  runCommand('keys', io, () => execute(parseCommand(argv, nowMicros()), io), explain);

const nowMicros = (): number => Date.now() * 1000;

const execute = async (command: Command, io: CommandEnvironment): Promise<void> => {
  switch (command.name) {
    case 'help':
      return io.out(help);
    case 'create':
      return create(command, io);
    case 'list':
      return list(command, io);
    case 'revoke':
      return revoke(command, io);
  }
};

/**
 * The service name that a new key starts with. The local service knows its own. A deployed one may
 * differ from cdk.json.
 */
const serviceOf = async (
  { location, service }: CommandOf<'create'>,
  { root }: CommandEnvironment,
): Promise<string> => {
  const { service: known } = await factsOf(location, root);
  if (location.kind === 'local' && service !== undefined && service !== known)
    throw new Failure(
      `--service ${service}: the local service on port ${location.port} is named ${known} and accepts no such key; ` +
        'leave --service out',
    );
  return service ?? known;
};

const create = async (command: CommandOf<'create'>, io: CommandEnvironment): Promise<void> => {
  const { location, grantee } = command;
  const key = makeKey(await serviceOf(command, io));
  const record = withUsageErrors(() => newRecord(key, grantee, nowMicros()));
  const table = await findTable(location, io.root);
  const stored = await withTable(table, () => putKey(table, record));
  if (!stored) throw new Failure('the id of the new key exists already: run the command again');
  io.out(formatKey(key));
  io.err(describeNewKey(record, io.interactive ? formatKey(key) : '$KEY'));
};

const list = async ({ location, json }: CommandOf<'list'>, io: CommandEnvironment): Promise<void> => {
  const table = await findTable(location, io.root);
  const records = await withTable(table, () => listKeys(table));
  io.out(json ? keysAsJson(records, nowMicros()) : describeKeys(records, nowMicros()));
};

/** How long a revoked key may still be accepted. */
const graceOf = ({ cacheSeconds }: ServiceFacts, location: KeysLocation): string => {
  if (cacheSeconds === 0) return 'No further request passes with it.';
  const source = location.kind === 'local' ? '' : ' (the setting authorizerCacheSeconds)';
  const length =
    cacheSeconds === undefined ? 'as long as authorizerCacheSeconds says' : `up to ${cacheSeconds} seconds`;
  return `If it was used recently, requests with it may pass for ${length}, while the answer is cached${source}.`;
};

const revoke = async ({ location, id }: CommandOf<'revoke'>, io: CommandEnvironment): Promise<void> => {
  const facts = await factsOf(location, io.root);
  const table = await findTable(location, io.root);
  const record = await withTable(table, () => revokeKey(table, id, nowMicros()));
  if (!record) throw new Failure(`no key ${id} in the table ${table.name}: list shows the ids`);
  io.err(`${id} of ${record.user} is revoked. ${graceOf(facts, location)}`);
};

/** Runs a task on the table, then closes its connections, which would keep the process alive. */
const withTable = async <T>(table: Table, task: () => Promise<T>): Promise<T> => {
  try {
    return await task();
  } finally {
    table.client.destroy();
  }
};

/** A value of the operator beyond a bound is wrong usage, not a failure. */
const withUsageErrors = <T>(make: () => T): T => {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UsageError(`create: ${error.message}`, { cause: error });
  }
};

/** Explains the SDK's errors to an operator. */
const explanations: Readonly<Record<string, string>> = {
  ResourceNotFoundException: 'no such table in this account and region: check --table and AWS_REGION',
  CredentialsProviderError:
    'no AWS credentials: sign in, or set AWS_PROFILE; for the local service add --local',
  ECONNREFUSED: 'nothing answers there: check that the service is running (npm start for the local one)',
};

const explain = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof Failure) return error.message;
  if (error.message.startsWith('Region'))
    return 'no AWS region: set AWS_REGION to where the service is; for the local service add --local';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return explanations[code] ?? `${error.name}: ${error.message}`;
};
