/** `npm run keys -- create | list | revoke`: the operator's command for keys. See docs/keys.md. */

import type { AuditedChange } from '../core/records/audit.ts';
import { describeKey, scopesOf } from '../core/records/people.ts';
import {
  allowsAnywhere,
  formatGrant,
  formatKey,
  type Grant,
  type Grantee,
  type GrantRecord,
  getKey,
  grantRole,
  grantRule,
  isKeyId,
  keyState,
  listKeys,
  makeKey,
  newRecord,
  parseGrant,
  parseRoleArn,
  putKey,
  type Role,
  type RoleArn,
  revokeKey,
  roleArnRule,
  type SpendingLimits,
  toRoleId,
} from '../foundations/auth/index.ts';
import { formatTime, type Micros, parseTime } from '../foundations/wire/index.ts';
import {
  type CommandOutput,
  Failure,
  parseFlags,
  parseUsd,
  processOutput,
  root,
  runCommand,
  UsageError,
} from './common.ts';
import {
  locationOptions as commonLocationOptions,
  defaultPort,
  defaultStack,
  type KeysLocation,
  readFacts,
  type ServiceFacts,
  toLocation,
  withDefaultPort,
  withTable,
} from './location.ts';
import { auditOperator } from './operator.ts';

/** A parsed command. */
export type Command =
  | {
      readonly name: 'create';
      readonly location: KeysLocation;
      readonly grantee: Grantee;
    }
  | {
      readonly name: 'grant role';
      readonly location: KeysLocation;
      readonly arn: RoleArn;
      readonly grantee: Omit<Grantee, 'user'>;
    }
  | { readonly name: 'list'; readonly location: KeysLocation; readonly json: boolean }
  | { readonly name: 'revoke'; readonly location: KeysLocation; readonly id: string };

export const help = `Make, list and revoke the keys of a deployed or a local service.

  npm run keys -- create --user ada --grant 'acme/*:write' [--grant …] [--expires 90d]
                        [--usd-per-day 5] [--usd-per-month 50]
  npm run keys -- create --role arn:aws:iam::123456789012:role/agent --grant acme/shop:write [--grant …] [--expires 90d]
  npm run keys -- list [--json]
  npm run keys -- revoke <key id>

create
  --user NAME       the user of the key: 1 to 128 printable characters without ":"
  --role ARN        in place of --user: an IAM role that signs requests and needs no key. It counts where the
                    service has the setting iam. The same role again replaces its grants
  --grant GRANT     <entity>/<project>:<role>, '<entity>/*:<role>' or '*:<role>'; repeat it for more. The quotes
                    keep a * from the shell. Roles: read, report, write (includes both), inference,
                    admin (includes all). A key in a web page is public: give it report alone
  --expires WHEN    days from now (90d), a date (2027-01-01, at 00:00 UTC) or an ISO 8601 time; else never
  --usd-per-day USD, --usd-per-month USD
                    the most dollars that its model requests may cost in a UTC day or month; it counts where the
                    service has the setting limits
list
  --json            as JSON, for scripts
where the keys are (one of)
  --stack NAME      the stack whose output KeysTable names the table (default: ${defaultStack})
  --table NAME      the DynamoDB table itself
  --local[=PORT]    the local service on that port (default: ${defaultPort})

Only the new key goes to standard output. It is shown once. Exit code: 0 done, 1 failed, 2 wrong usage.`;

const dayMicros = 86_400_000_000;

const locationOptions = { ...commonLocationOptions, table: { type: 'string' } } as const;
const createOptions = {
  ...locationOptions,
  user: { type: 'string' },
  role: { type: 'string' },
  grant: { type: 'string', multiple: true },
  expires: { type: 'string' },
  'usd-per-day': { type: 'string' },
  'usd-per-month': { type: 'string' },
} as const;
const listOptions = { ...locationOptions, json: { type: 'boolean' } } as const;

/** @throws UsageError if several say where the keys are, or the port is none */
const toKeysLocation = ({
  table,
  ...service
}: {
  table?: string;
  stack?: string;
  local?: string;
}): KeysLocation => {
  if (table === undefined) return toLocation(service);
  if (service.stack !== undefined || service.local !== undefined)
    throw new UsageError('--table, --stack and --local each say where the keys are: give one of them');
  return { kind: 'table', name: table };
};

const parseGrantOption = (text: string): Grant => {
  const grant = parseGrant(text);
  if (!grant)
    throw new UsageError(`--grant ${text}: ${grantRule}; quote a * for the shell: --grant 'acme/*:write'`);
  return grant;
};

const parseExpiry = (text: string, now: Micros): Micros => {
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  const expiry = days === undefined ? parseTime(text) : now + Number(days) * dayMicros;
  if (expiry === undefined)
    throw new UsageError(`--expires ${text}: should be days (90d), a date (2027-01-01) or an ISO 8601 time`);
  return expiry;
};

const parseRole = (text: string): RoleArn => {
  const arn = parseRoleArn(text);
  if (arn === undefined) throw new UsageError(`--role ${text}: ${roleArnRule}`);
  return arn;
};

const parseLimits = (perDay: string | undefined, perMonth: string | undefined): SpendingLimits | undefined =>
  perDay === undefined && perMonth === undefined
    ? undefined
    : {
        ...(perDay !== undefined && { usdPerDay: parseUsd('usd-per-day', perDay) }),
        ...(perMonth !== undefined && { usdPerMonth: parseUsd('usd-per-month', perMonth) }),
      };

const parseCreate = (args: string[], now: Micros): Command => {
  const { values } = parseFlags({ args, options: createOptions });
  const { user, role, grant: grants = [], expires } = values;
  const limits = parseLimits(values['usd-per-day'], values['usd-per-month']);
  if (user !== undefined && role !== undefined)
    throw new UsageError('create: --user makes a key and --role none: give one of them');
  const arn = role === undefined ? undefined : parseRole(role);
  if (grants.length === 0)
    throw new UsageError("create: name at least one grant, e.g. --grant 'acme/*:write'");
  const location = toKeysLocation(values);
  const grantee = {
    grants: grants.map(parseGrantOption),
    ...(expires !== undefined && { expiresAt: parseExpiry(expires, now) }),
    ...(limits && { limits }),
  };
  if (arn !== undefined) return { name: 'grant role', location, arn, grantee };
  if (user === undefined)
    throw new UsageError("create: name the key's user, e.g. --user ada, or a role: --role arn:aws:iam::…");
  return { name: 'create', location, grantee: { user, ...grantee } };
};

const parseList = (args: string[]): Command => {
  const { values } = parseFlags({ args, options: listOptions });
  return { name: 'list', location: toKeysLocation(values), json: values.json ?? false };
};

const parseRevoke = (args: string[]): Command => {
  const { values, positionals } = parseFlags({
    args,
    options: locationOptions,
    allowPositionals: true,
  });
  const [id, ...more] = positionals;
  if (id === undefined || more.length > 0)
    throw new UsageError('revoke: give one key id; list shows the ids');
  // The argument is not repeated: it may be a complete key, and error messages end in logs.
  if (!isKeyId(id)) throw new UsageError('revoke: a key id is 16 of 0-9 and a-z, the middle part of the key');
  return { name: 'revoke', location: toKeysLocation(values), id };
};

/**
 * Parses a command line.
 *
 * @param now UTC microseconds since 1970, from which `--expires 90d` counts
 * @throws UsageError if an argument is wrong
 */
const parseCommand = (argv: readonly string[], now: Micros): Command => {
  const [name, ...args] = withDefaultPort(argv);
  switch (name) {
    case 'create':
      return parseCreate(args, now);
    case 'list':
      return parseList(args);
    case 'revoke':
      return parseRevoke(args);
    default:
      throw new UsageError(`${name ?? 'no command'}: should be create, list or revoke`);
  }
};

/** Formats a time to the second: `2027-01-01 00:00:00Z`. */
const shortTime = (micros: Micros): string => `${formatTime(micros).slice(0, 19).replace('T', ' ')}Z`;

const expiry = (record: GrantRecord): string =>
  record.expiresAt === undefined ? 'never' : shortTime(record.expiresAt);

/** `$5 a day, $50 a month`; empty without limits. */
const limitsText = ({ limits = {} }: GrantRecord): string =>
  [
    ...(limits.usdPerDay === undefined ? [] : [`$${limits.usdPerDay} a day`]),
    ...(limits.usdPerMonth === undefined ? [] : [`$${limits.usdPerMonth} a month`]),
  ].join(', ');

const describeGrants = (record: GrantRecord): string[] => [
  `  id       ${record.id}`,
  `  user     ${record.user}`,
  `  grants   ${record.grants.map(formatGrant).join(' ')}`,
  `  expires  ${expiry(record)}`,
  ...(record.limits ? [`  limits   ${limitsText(record)}`] : []),
];

/**
 * The message about a new key, on several lines.
 *
 * @param shown the key, or a variable's name in its place if the text may end in a log
 */
const describeNewKey = (record: GrantRecord, shown: string): string => {
  const lines = [
    'A new key. It is shown only now; the service stores its digest.',
    '',
    ...describeGrants(record),
  ];
  // The user name "api" goes with every key, and needs no quoting in a shell.
  const has = (...names: readonly Role[]) => names.some((role) => allowsAnywhere(record.grants, role));
  if (has('read', 'report')) lines.push(`  curl     -u "api:${shown}"`);
  if (has('inference')) lines.push(`  curl     -H "Authorization: Bearer ${shown}"   (inference)`);
  return lines.join('\n');
};

/**
 * Formats keys as a table for people, one per line under a header.
 *
 * @param now UTC microseconds since 1970
 */
const describeKeys = (records: readonly GrantRecord[], now: Micros): string => {
  const hasLimits = records.some(({ limits }) => limits);
  const rows = records.map((record) => [
    record.id,
    keyState(record, now),
    record.user,
    shortTime(record.createdAt),
    expiry(record),
    record.grants.map(formatGrant).join(' '),
    ...(hasLimits ? [limitsText(record)] : []),
  ]);
  const titles = ['KEY ID', 'STATE', 'USER', 'CREATED', 'EXPIRES', 'GRANTS'];
  const table = [[...titles, ...(hasLimits ? ['LIMITS'] : [])], ...rows];
  const widths = table.reduce<number[]>(
    (widest, row) => row.map((cell, i) => Math.max(cell.length, widest[i] ?? 0)),
    [],
  );
  return table
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};

/**
 * Formats keys as a JSON list for scripts: times in ISO 8601 or null, without digests.
 *
 * @param now UTC microseconds since 1970
 */
const keysAsJson = (records: readonly GrantRecord[], now: Micros): string => {
  const time = (micros: Micros | undefined) => (micros === undefined ? null : formatTime(micros));
  const list = records.map((record) => ({
    id: record.id,
    state: keyState(record, now),
    user: record.user,
    grants: record.grants.map(formatGrant),
    created_at: time(record.createdAt),
    expires_at: time(record.expiresAt),
    revoked_at: time(record.revokedAt),
    usd_per_day: record.limits?.usdPerDay ?? null,
    usd_per_month: record.limits?.usdPerMonth ?? null,
  }));
  return JSON.stringify(list, undefined, 2);
};

interface CommandEnvironment extends CommandOutput {
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
  runCommand({ name: 'keys', help, argv }, io, () => execute(parseCommand(argv, nowMicros()), io));

const nowMicros = (): number => Date.now() * 1000;

const execute = async (command: Command, io: CommandEnvironment): Promise<void> => {
  switch (command.name) {
    case 'create':
      return create(command, io);
    case 'grant role':
      return grantToRole(command, io);
    case 'list':
      return list(command, io);
    case 'revoke':
      return revoke(command, io);
  }
};

/** What the audit trail says of a key, in each scope that it is for. */
const describeChanges = (
  action: string,
  { id, ...grantee }: Grantee & { readonly id: string },
  place: 'before' | 'after',
): AuditedChange[] =>
  scopesOf(grantee.grants).map((scope) => ({
    scope,
    action,
    target: id,
    [place]: describeKey(grantee, scope),
  }));

const create = async (command: CommandOf<'create'>, io: CommandEnvironment): Promise<void> => {
  const { location, grantee } = command;
  const key = makeKey();
  const record = withUsageErrors(() => newRecord(key, grantee, nowMicros()));
  await auditOperator(location, io.root, describeChanges('key.create', record, 'after'), io);
  const stored = await withTable(location, io.root, 'keys', (table) => putKey(table, record));
  if (!stored) throw new Failure('the id of the new key exists already: run the command again');
  io.out(formatKey(key));
  io.err(describeNewKey(record, io.interactive ? formatKey(key) : '$KEY'));
};

const grantToRole = async (command: CommandOf<'grant role'>, io: CommandEnvironment): Promise<void> => {
  const { location, arn, grantee } = command;
  const granted = { id: toRoleId(arn), user: arn, ...grantee };
  await auditOperator(location, io.root, describeChanges('key.create', granted, 'after'), io);
  const record = await withTable(location, io.root, 'keys', (table) =>
    grantRole(table, arn, grantee, nowMicros()).catch(refuseUsage),
  );
  io.out(record.id);
  const lines = ['The role has these grants, and no key: it signs its requests (docs/keys.md).', ''];
  io.err([...lines, ...describeGrants(record)].join('\n'));
};

const list = async ({ location, json }: CommandOf<'list'>, io: CommandEnvironment): Promise<void> => {
  const records = await withTable(location, io.root, 'keys', listKeys);
  io.out(json ? keysAsJson(records, nowMicros()) : describeKeys(records, nowMicros()));
};

/** How long a revoked key may still be accepted. */
const describeGrace = ({ cacheSeconds }: ServiceFacts, location: KeysLocation): string => {
  if (cacheSeconds === 0) return 'No further request passes with it.';
  const source = location.kind === 'local' ? '' : ' (the setting authorizerCacheSeconds)';
  const length =
    cacheSeconds === undefined ? 'as long as authorizerCacheSeconds says' : `up to ${cacheSeconds} seconds`;
  return `If it was used recently, requests with it may pass for ${length}, while the answer is cached${source}.`;
};

const revoke = async ({ location, id }: CommandOf<'revoke'>, io: CommandEnvironment): Promise<void> => {
  const facts = await readFacts(location, io.root);
  const record = await withTable(location, io.root, 'keys', async (table) => {
    const known = await getKey(table, id);
    if (known && known.revokedAt === undefined)
      await auditOperator(location, io.root, describeChanges('key.revoke', known, 'before'), io);
    const revoked = await revokeKey(table, id, nowMicros());
    if (revoked) return revoked;
    throw new Failure(`no key ${id} in the table ${table.name}: list shows the ids`);
  });
  io.err(`${id} of ${record.user} is revoked. ${describeGrace(facts, location)}`);
};

/** A value of the operator beyond a bound is wrong usage, not a failure. */
const refuseUsage = (error: unknown): never => {
  if (!(error instanceof RangeError)) throw error;
  throw new UsageError(`create: ${error.message}`, { cause: error });
};

const withUsageErrors = <T>(make: () => T): T => {
  try {
    return make();
  } catch (error) {
    return refuseUsage(error);
  }
};

export const main = (argv: readonly string[]): Promise<number> =>
  run(argv, { ...processOutput, interactive: process.stdout.isTTY === true, root });

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
