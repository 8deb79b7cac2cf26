import {
  type Grant,
  type Grantee,
  grantRule,
  isKeyId,
  parseGrant,
} from '../../core/foundations/auth/index.ts';
import { type Micros, parseTime } from '../../core/foundations/wire/index.ts';
import { parseFlags } from '../common/parse-flags.ts';
import { UsageError } from '../common/usage-error.ts';

/**
 * Where the table of keys is: a table's name, an output of a deployed stack, or the local service
 * on a port.
 */
export type KeysLocation =
  | { readonly kind: 'table'; readonly name: string }
  | { readonly kind: 'stack'; readonly name: string }
  | { readonly kind: 'local'; readonly port: number };

/** A parsed command. `service` is absent if the configuration decides. */
export type Command =
  | { readonly name: 'help' }
  | {
      readonly name: 'create';
      readonly location: KeysLocation;
      readonly service?: string;
      readonly grantee: Grantee;
    }
  | { readonly name: 'list'; readonly location: KeysLocation; readonly json: boolean }
  | { readonly name: 'revoke'; readonly location: KeysLocation; readonly id: string };

export const help = `Make, list and revoke the keys of a deployed or a local service.

  npm run keys -- create --user ada --grant 'acme/*:write' [--grant …] [--expires 90d]
  npm run keys -- list [--json]
  npm run keys -- revoke <key id>

create
  --user NAME       the user of the key: 1 to 128 printable characters without ":"
  --grant GRANT     <entity>/<project>:<role>, '<entity>/*:<role>' or '*:<role>'; repeat it for more. The quotes
                    keep a * from the shell. Roles: read, write (includes read), inference
  --expires WHEN    days from now (90d), a date (2027-01-01, at 00:00 UTC) or an ISO 8601 time; else never
  --service NAME    what the key begins with; else the local service's name with --local, or serviceName of
                    cdk.json's context, else svc
list
  --json            as JSON, for scripts
where the keys are (one of)
  --stack NAME      the stack whose output KeysTable names the table (default: Pennytrace)
  --table NAME      the DynamoDB table itself
  --local[=PORT]    the local service on that port (default: 8787)

Only the new key goes to standard output. It is shown once. Exit code: 0 done, 1 failed, 2 wrong usage.`;

const defaultPort = '8787';
const defaultStack = 'Pennytrace';
const serviceName = /^[a-z][a-z0-9]*$/;
const dayMicros = 86_400_000_000;

const locationOptions = {
  table: { type: 'string' },
  stack: { type: 'string' },
  local: { type: 'string' },
} as const;
const createOptions = {
  ...locationOptions,
  user: { type: 'string' },
  grant: { type: 'string', multiple: true },
  expires: { type: 'string' },
  service: { type: 'string' },
} as const;
const listOptions = { ...locationOptions, json: { type: 'boolean' } } as const;

/** Completes a `--local` without a port, which parseArgs does not support. */
const withDefaultPort = (argv: readonly string[]): string[] =>
  argv.map((argument) => (argument === '--local' ? `--local=${defaultPort}` : argument));

const locationOf = (values: { table?: string; stack?: string; local?: string }): KeysLocation => {
  const { table, stack, local } = values;
  if ([table, stack, local].filter((value) => value !== undefined).length > 1)
    throw new UsageError('--table, --stack and --local each say where the keys are: give one of them');
  if (table !== undefined) return { kind: 'table', name: table };
  if (local === undefined) return { kind: 'stack', name: stack ?? defaultStack };
  const port = Number(local);
  if (!/^\d{1,5}$/.test(local) || port < 1 || port > 65_535)
    throw new UsageError(`--local=${local}: should be a port, e.g. --local=${defaultPort}`);
  return { kind: 'local', port };
};

const grantOf = (text: string): Grant => {
  const grant = parseGrant(text);
  if (!grant)
    throw new UsageError(`--grant ${text}: ${grantRule}; quote a * for the shell: --grant 'acme/*:write'`);
  return grant;
};

const expiryOf = (text: string, now: Micros): Micros => {
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  const expiry = days === undefined ? parseTime(text) : now + Number(days) * dayMicros;
  if (expiry === undefined)
    throw new UsageError(`--expires ${text}: should be days (90d), a date (2027-01-01) or an ISO 8601 time`);
  return expiry;
};

const createOf = (args: string[], now: Micros): Command => {
  const { values } = parseFlags({ args, options: createOptions });
  const { user, grant: grants = [], expires, service } = values;
  if (user === undefined) throw new UsageError("create: name the key's user, e.g. --user ada");
  if (grants.length === 0)
    throw new UsageError("create: name at least one grant, e.g. --grant 'acme/*:write'");
  if (service !== undefined && !serviceName.test(service))
    throw new UsageError(`--service ${service}: should be a lower-case letter, then letters or digits`);
  return {
    name: 'create',
    location: locationOf(values),
    ...(service !== undefined && { service }),
    grantee: {
      user,
      grants: grants.map(grantOf),
      ...(expires !== undefined && { expiresAt: expiryOf(expires, now) }),
    },
  };
};

const listOf = (args: string[]): Command => {
  const { values } = parseFlags({ args, options: listOptions });
  return { name: 'list', location: locationOf(values), json: values.json ?? false };
};

const revokeOf = (args: string[]): Command => {
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
  return { name: 'revoke', location: locationOf(values), id };
};

/**
 * Parses a command line.
 *
 * @param now UTC microseconds since 1970, from which `--expires 90d` counts
 * @throws UsageError if an argument is wrong
 */
export const parseCommand = (argv: readonly string[], now: Micros): Command => {
  if (argv.some((argument) => argument === '--help' || argument === '-h')) return { name: 'help' };
  const [name, ...args] = withDefaultPort(argv);
  switch (name) {
    case 'create':
      return createOf(args, now);
    case 'list':
      return listOf(args);
    case 'revoke':
      return revokeOf(args);
    default:
      throw new UsageError(`${name ?? 'no command'}: should be create, list or revoke`);
  }
};
