import { formatKey, listKeys, makeKey, newRecord, putKey, revokeKey } from '../../core/auth/index.ts';
import type { Table } from '../../core/storage/index.ts';
import { UsageError } from '../shared/usage-error.ts';
import { Failure } from './failure.ts';
import { type Command, help, type Place, parseCommand } from './options.ts';
import { describeKeys, describeNewKey, keysAsJson } from './output.ts';
import { factsOf, findTable, type ServiceFacts } from './place.ts';

/** The command's surroundings. */
export interface Surroundings {
  /** Writes a text and a line end to standard output: results, and nothing else. */
  readonly out: (text: string) => void;
  /** Writes a text and a line end to standard error: what is for people. */
  readonly err: (text: string) => void;
  /**
   * Whether standard output is a terminal, where a key may be shown beside it as well; elsewhere,
   * err may be a log.
   */
  readonly interactive: boolean;
  /** The project's folder, absolute. */
  readonly root: string;
}

type CommandOf<Name extends Command['name']> = Extract<Command, { name: Name }>;

/**
 * Runs the command for keys.
 *
 * @param argv the arguments after the command's own name
 * @returns the exit code: 0 done, 1 failed, 2 not understood (nothing was done)
 */
export const run = async (argv: readonly string[], io: Surroundings): Promise<0 | 1 | 2> => {
  try {
    await carryOut(understand(argv), io);
    return 0;
  } catch (error) {
    const misunderstood = error instanceof UsageError;
    io.err(`keys: ${explain(error)}${misunderstood ? '\nSee npm run keys -- --help' : ''}`);
    return misunderstood ? 2 : 1;
  }
};

const nowMicros = (): number => Date.now() * 1000;

/** parseArgs tells of an option that it does not know by a TypeError with a code of its own. */
const understand = (argv: readonly string[]): Command => {
  try {
    return parseCommand(argv, nowMicros());
  } catch (error) {
    if (!(error instanceof TypeError && 'code' in error)) throw error;
    throw new UsageError(error.message, { cause: error });
  }
};

const carryOut = async (command: Command, io: Surroundings): Promise<void> => {
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
 * What a new key begins with. The local service is known by its name; a deployed one may have been
 * given another than cdk.json says.
 */
const serviceOf = async (
  { place, service }: CommandOf<'create'>,
  { root }: Surroundings,
): Promise<string> => {
  const { service: known } = await factsOf(place, root);
  if (place.kind === 'local' && service !== undefined && service !== known)
    throw new Failure(
      `--service ${service}: the local service on port ${place.port} is called ${known} and takes no such key; ` +
        'leave --service out',
    );
  return service ?? known;
};

const create = async (command: CommandOf<'create'>, io: Surroundings): Promise<void> => {
  const { place, grantee } = command;
  const key = makeKey(await serviceOf(command, io));
  const record = bounded(() => newRecord(key, grantee, nowMicros()));
  const table = await findTable(place, io.root);
  const stored = await using(table, () => putKey(table, record));
  if (!stored) throw new Failure('the id of the new key is taken: run it again');
  io.out(formatKey(key));
  io.err(describeNewKey(record, io.interactive ? formatKey(key) : '$KEY'));
};

const list = async ({ place, json }: CommandOf<'list'>, io: Surroundings): Promise<void> => {
  const table = await findTable(place, io.root);
  const records = await using(table, () => listKeys(table));
  io.out(json ? keysAsJson(records, nowMicros()) : describeKeys(records, nowMicros()));
};

/** How long a revoked key may still be taken. */
const graceOf = ({ cacheSeconds }: ServiceFacts, place: Place): string => {
  if (cacheSeconds === 0) return 'No further request passes with it.';
  const source = place.kind === 'local' ? '' : ' (the setting authorizerCacheSeconds)';
  const length =
    cacheSeconds === undefined ? 'as long as authorizerCacheSeconds says' : `up to ${cacheSeconds} seconds`;
  return `Where it was used just now, requests with it may pass for ${length}: so long the answer is cached${source}.`;
};

const revoke = async ({ place, id }: CommandOf<'revoke'>, io: Surroundings): Promise<void> => {
  const facts = await factsOf(place, io.root);
  const table = await findTable(place, io.root);
  const record = await using(table, () => revokeKey(table, id, nowMicros()));
  if (!record) throw new Failure(`no key ${id} in the table ${table.name}: list shows the ids`);
  io.err(`${id} of ${record.user} is revoked. ${graceOf(facts, place)}`);
};

/** Does something with the table and closes its connections, which would keep the process. */
const using = async <T>(table: Table, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } finally {
    table.client.destroy();
  }
};

/** Bounds that the operator's values break are a misunderstanding, not a failure. */
const bounded = <T>(make: () => T): T => {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UsageError(`create: ${error.message}`, { cause: error });
  }
};

/** What the errors of the SDK mean to an operator. */
const explanations: Readonly<Record<string, string>> = {
  ResourceNotFoundException: 'no such table in this account and region: check --table and AWS_REGION',
  CredentialsProviderError:
    'no AWS credentials: sign in, or set AWS_PROFILE; for the local service add --local',
  ECONNREFUSED: 'nothing answers there: is the service running? (npm start for the local one)',
};

const explain = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof UsageError || error instanceof Failure) return error.message;
  if (error.message.startsWith('Region'))
    return 'no AWS region: set AWS_REGION to where the service is; for the local service add --local';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return explanations[code] ?? `${error.name}: ${error.message}`;
};
