/**
 * `npm run verify -- --url <ApiUrl>`: tries a deployed service, or the local one, from outside. See
 * docs/deploying.md.
 */
import { randomBytes } from 'node:crypto';
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { formatKey, type Grant, makeKey, newRecord, putKey, revokeKey } from '../foundations/auth/index.ts';
import type { Table } from '../foundations/storage/index.ts';
import type { ProjectId } from '../foundations/wire/index.ts';
import { type CommandOutput, parseFlags, processOutput, root, runCommand, UsageError } from './common.ts';
import { type Location, locationOptions, toLocation, withDefaultPort, withTable } from './location.ts';
import { type Check, checks, cleanup, modelChecks, Red, type Target } from './verify/checks.ts';

export const help = `Try a service from outside: what was not tested against AWS, item by item.

  npm run verify -- --url https://….execute-api.eu-west-1.amazonaws.com/api/
  npm run verify -- --url http://127.0.0.1:8787 --local

  --url URL         the service, as the stack's output ApiUrl has it
  --stack NAME      the stack of the service (default: Pennytrace)
  --model NAME      sends it a chat, a message and a response, each whole and as a stream; they cost money
  --embedding NAME  sends it a text to embed
  --local[=PORT]    the local service on that port (default: 8787): only the items that it has

It makes a key for twenty minutes, reports and queries in the project pennytrace/verify, and deletes all that at
the end. It takes two minutes, and up to eight more if the stack has analytics. Standard output has one line
for each item. Exit code: 0 all green, 1 something is red, 2 wrong usage.`;

const project = 'pennytrace/verify' as ProjectId;
const grants: readonly Grant[] = [
  { scope: project, role: 'write' },
  { scope: project, role: 'inference' },
];
const keyMicros = 20 * 60 * 1_000_000;

interface Options {
  readonly url: string;
  readonly location: Location;
  readonly models: Target['models'];
}

const options = {
  ...locationOptions,
  url: { type: 'string' },
  model: { type: 'string' },
  embedding: { type: 'string' },
} as const;

/** @throws UsageError if an argument is wrong */
const parseOptions = (argv: readonly string[]): Options => {
  const { values } = parseFlags({ args: withDefaultPort(argv), options });
  if (values.url === undefined || !URL.canParse(values.url))
    throw new UsageError('--url: give the URL of the service, the output ApiUrl of the stack');
  return {
    url: values.url.replace(/\/+$/, ''),
    location: toLocation(values),
    models: { chat: values.model, embedding: values.embedding },
  };
};

/** Makes a key for this run, and one that is revoked. Disposal deletes both. */
const makeKeys = async (table: Table) => {
  const now = Date.now() * 1000;
  const make = async () => {
    const key = makeKey();
    await putKey(table, newRecord(key, { user: 'verify', grants, expiresAt: now + keyMicros }, now));
    return key;
  };
  const key = await make();
  const revoked = await make();
  await revokeKey(table, revoked.id, now);
  return {
    key: formatKey(key),
    revoked: formatKey(revoked),
    [Symbol.asyncDispose]: async () => {
      for (const { id } of [key, revoked])
        await table.client.send(new DeleteCommand({ TableName: table.name, Key: { id } }));
    },
  };
};

const readStackChecks = async (stack: string): Promise<readonly Check[]> => {
  // It loads slowly, and the local service needs none of it.
  const { readDeployed, awsChecks } = await import('./verify/aws.ts');
  return awsChecks(await readDeployed(stack));
};

/** Runs a check, and prints its line. */
const printed = async ({ name, run }: Check, target: Target, { out }: CommandOutput): Promise<boolean> => {
  try {
    await run(target);
    out(`green  ${name}`);
    return true;
  } catch (error) {
    const advice = error instanceof Red ? ` → ${error.advice}` : '';
    out(`red    ${name}: ${error instanceof Error ? error.message : error}${advice}`);
    return false;
  }
};

const verify = ({ url, location, models }: Options, io: CommandOutput, root: string): Promise<boolean> =>
  withTable(location, root, 'keys', async (table) => {
    await using keys = await makeKeys(table);
    const run = `verify-${randomBytes(6).toString('hex')}`;
    const target = { url, project, run, key: keys.key, revoked: keys.revoked, models };
    const further = location.kind === 'stack' ? await readStackChecks(location.name) : [];
    let green = true;
    for (const check of [...checks, ...modelChecks(models), ...further, cleanup])
      green = (await printed(check, target, io)) && green;
    return green;
  });

/**
 * Runs the command.
 *
 * @param argv the arguments after the command's name
 * @param root the project's folder, absolute
 * @returns the exit code: 0 all green, 1 something is red or it could not be tried, 2 wrong usage
 */
export const run = async (argv: readonly string[], io: CommandOutput, root: string): Promise<0 | 1 | 2> => {
  let green = true;
  const code = await runCommand({ name: 'verify', help, argv }, io, async () => {
    green = await verify(parseOptions(argv), io, root);
  });
  return code === 0 && !green ? 1 : code;
};

export const main = (argv: readonly string[]): Promise<number> => run(argv, processOutput, root);

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
