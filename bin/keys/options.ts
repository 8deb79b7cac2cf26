import { parseArgs } from 'node:util';
import { type Grant, type Grantee, grantRule, isKeyId, parseGrant } from '../../core/auth/index.ts';
import { type Micros, parseTime } from '../../core/wire/index.ts';
import { UsageError } from '../shared/usage-error.ts';

/**
 * Where the table of keys is: named, in a deployed stack's outputs, or in the local service on a
 * port.
 */
export type Place =
  | { readonly kind: 'table'; readonly name: string }
  | { readonly kind: 'stack'; readonly name: string }
  | { readonly kind: 'local'; readonly port: number };

/** What the operator asked for. `service` is absent where the configuration's is meant. */
export type Command =
  | { readonly name: 'help' }
  | { readonly name: 'create'; readonly place: Place; readonly service?: string; readonly grantee: Grantee }
  | { readonly name: 'list'; readonly place: Place; readonly json: boolean }
  | { readonly name: 'revoke'; readonly place: Place; readonly id: string };

export const help = `Make, list and revoke the keys of a deployed or a local service.

  npm run keys -- create --user ada --grant 'acme/*:write' [--grant …] [--expires 90d]
  npm run keys -- list [--json]
  npm run keys -- revoke <key id>

create
  --user NAME       whom the key is for: 1 to 128 printable characters without ":"
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

The new key alone goes to standard output, and is shown this once. Exit code: 0 done, 1 failed, 2 not understood.`;

const defaultPort = '8787';
const defaultStack = 'Pennytrace';
const serviceName = /^[a-z][a-z0-9]*$/;
const dayMicros = 86_400_000_000;

const placeOptions = {
  table: { type: 'string' },
  stack: { type: 'string' },
  local: { type: 'string' },
} as const;
const createOptions = {
  ...placeOptions,
  user: { type: 'string' },
  grant: { type: 'string', multiple: true },
  expires: { type: 'string' },
  service: { type: 'string' },
} as const;
const listOptions = { ...placeOptions, json: { type: 'boolean' } } as const;

/** `--local` may stand alone, which parseArgs has no notion of. */
const completed = (argv: readonly string[]): string[] =>
  argv.map((argument) => (argument === '--local' ? `--local=${defaultPort}` : argument));

const placeOf = (values: { table?: string; stack?: string; local?: string }): Place => {
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
  const { values } = parseArgs({ args, options: createOptions, strict: true });
  const { user, grant: grants = [], expires, service } = values;
  if (user === undefined) throw new UsageError('create: say whom the key is for, e.g. --user ada');
  if (grants.length === 0) throw new UsageError("create: say what it allows, e.g. --grant 'acme/*:write'");
  if (service !== undefined && !serviceName.test(service))
    throw new UsageError(`--service ${service}: should be a lower-case letter, then letters or digits`);
  return {
    name: 'create',
    place: placeOf(values),
    ...(service !== undefined && { service }),
    grantee: {
      user,
      grants: grants.map(grantOf),
      ...(expires !== undefined && { expiresAt: expiryOf(expires, now) }),
    },
  };
};

const listOf = (args: string[]): Command => {
  const { values } = parseArgs({ args, options: listOptions, strict: true });
  return { name: 'list', place: placeOf(values), json: values.json ?? false };
};

const revokeOf = (args: string[]): Command => {
  const { values, positionals } = parseArgs({
    args,
    options: placeOptions,
    allowPositionals: true,
    strict: true,
  });
  const [id, ...more] = positionals;
  if (id === undefined || more.length > 0)
    throw new UsageError('revoke: give one key id; list shows the ids');
  // Not repeated: it may be a whole key, and what fails ends in logs.
  if (!isKeyId(id)) throw new UsageError('revoke: a key id is 16 of 0-9 and a-z, the middle part of the key');
  return { name: 'revoke', place: placeOf(values), id };
};

/**
 * Understands a command line.
 *
 * @param now microseconds since 1970, which `--expires 90d` counts from
 * @throws UsageError where it cannot; also parseArgs' own TypeError, e.g. for an unknown option
 */
export const parseCommand = (argv: readonly string[], now: Micros): Command => {
  if (argv.some((argument) => argument === '--help' || argument === '-h')) return { name: 'help' };
  const [name, ...args] = completed(argv);
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
