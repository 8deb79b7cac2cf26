/**
 * `npm run verify -- --url <ApiUrl>`: tries a deployed service, or the local one, from outside. See
 * docs/deploying.md.
 */
import { randomBytes } from 'node:crypto';
import { formatKey, type Grant, revokeKey } from '../foundations/auth/index.ts';
import type { ProjectId } from '../foundations/wire/index.ts';
import { type CommandOutput, parseFlags, processOutput, root, runCommand, UsageError } from './common.ts';
import { type Location, locationOptions, toLocation, withDefaultPort, withTable } from './location.ts';
import { type Check, NotTried, Red, type Target } from './verify/check.ts';
import { keyMaker } from './verify/cleanup.ts';
import type { Deployed } from './verify/deployed.ts';
import { checks, cleanup, last, untried } from './verify/list.ts';

export const help = `Try a service from outside: what was not tested against AWS, item by item.

  npm run verify -- --url https://….execute-api.eu-west-1.amazonaws.com/api/
  npm run verify -- --url http://127.0.0.1:8787 --local

  --url URL         the service, as the stack's output ApiUrl has it
  --stack NAME      the stack of the service (default: Pennytrace)
  --model NAME      sends it a chat, a message and a response, each whole and as a stream; they cost money.
                    Repeat it for a model of each upstream
  --embedding NAME  sends it a text to embed
  --reporter NAME   a function with grantReport and a key, not one that signs: reports a span with the key in its
                    environment, and deletes it
  --disturb         also tries what other callers notice: sends requests with its key until the stage throttles
  --local[=PORT]    the local service on that port (default: 8787): only the items that it has

It makes a key for twenty minutes, reports and queries in the project pennytrace/verify, and deletes all that at
the end. It takes three minutes, and up to eight more if the stack has analytics. AWS_ENDPOINT_URL and
AWS_ENDPOINT_URL_<SERVICE> lead it to an emulator. Standard output has one line for each item: green, red, or
not tried. Exit code: 0 nothing is red, 1 something is red, 2 wrong usage.`;

const project = 'pennytrace/verify' as ProjectId;
const grants: readonly Grant[] = [
  { scope: project, role: 'write' },
  { scope: project, role: 'inference' },
];
const keySeconds = 20 * 60;

interface Options {
  readonly url: string;
  readonly location: Location;
  readonly asked: Pick<Target, 'models' | 'embeddings' | 'reporter' | 'disturb'>;
}

const options = {
  ...locationOptions,
  url: { type: 'string' },
  model: { type: 'string', multiple: true, default: [] as string[] },
  embedding: { type: 'string', multiple: true, default: [] as string[] },
  reporter: { type: 'string' },
  disturb: { type: 'boolean', default: false },
} as const;

/** @throws UsageError if an argument is wrong */
const parseOptions = (argv: readonly string[]): Options => {
  const { values } = parseFlags({ args: withDefaultPort(argv), options });
  if (values.url === undefined || !URL.canParse(values.url))
    throw new UsageError('--url: give the URL of the service, the output ApiUrl of the stack');
  return {
    url: values.url.replace(/\/+$/, ''),
    location: toLocation(values),
    asked: {
      models: values.model,
      embeddings: values.embedding,
      reporter: values.reporter,
      disturb: values.disturb,
    },
  };
};

const readStack = async (location: Location): Promise<Deployed | undefined> => {
  if (location.kind === 'local') return undefined;
  // It loads slowly, and the local service needs none of it.
  const { readDeployed } = await import('./verify/deployed.ts');
  return readDeployed(location.name);
};

/** What clients of SDKs throw where an emulator lacks an operation. AWS has all that are asked for. */
const lackingErrors: ReadonlySet<string> = new Set(['UnknownOperationException', 'NotImplemented']);

/** Why a check could not be tried; undefined if that is not what went wrong. */
const whyNotTried = (error: unknown): string | undefined => {
  if (error instanceof NotTried) return error.message;
  if (!(error instanceof Error) || !lackingErrors.has(error.name)) return undefined;
  return `the emulator does not have it: ${error.message}`;
};

type Outcome = 'green' | 'red' | 'not tried';

/** Runs a check, and prints its line. */
const printed = async ({ name, run }: Check, target: Target, { out }: CommandOutput): Promise<Outcome> => {
  try {
    await run(target);
    out(`green  ${name}`);
    return 'green';
  } catch (error) {
    const why = whyNotTried(error);
    if (why !== undefined) {
      out(`not tried: ${name}: ${why}`);
      return 'not tried';
    }
    const advice = error instanceof Red ? ` → ${error.advice}` : '';
    out(`red    ${name}: ${error instanceof Error ? error.message : error}${advice}`);
    return 'red';
  }
};

/** Runs every check, and prints how many had each outcome. */
const runChecks = async (target: Target, io: CommandOutput): Promise<boolean> => {
  const counts: Record<Outcome, number> = { green: 0, red: 0, 'not tried': untried.length };
  for (const check of [...checks, cleanup, ...last]) counts[await printed(check, target, io)]++;
  for (const { name, why } of untried) io.out(`not tried: ${name}: ${why}`);
  io.out(`${counts.green} green, ${counts.red} red, ${counts['not tried']} not tried`);
  return counts.red === 0;
};

const verify = ({ url, location, asked }: Options, io: CommandOutput, root: string): Promise<boolean> =>
  withTable(location, root, 'keys', (table) =>
    withTable(location, root, 'calls', async (calls) => {
      await using keys = keyMaker(table);
      const stack = await readStack(location);
      const key = await keys.make(grants, keySeconds);
      const revoked = await keys.make(grants, keySeconds);
      await revokeKey(table, revoked.id, Date.now() * 1000);
      const target: Target = {
        ...asked,
        url,
        project,
        run: `verify-${randomBytes(6).toString('hex')}`,
        since: Date.now(),
        key: formatKey(key),
        revoked: formatKey(revoked),
        makeKey: async (some, seconds) => formatKey(await keys.make(some, seconds)),
        calls,
        stack,
      };
      // The keys are there until it is done.
      return await runChecks(target, io);
    }),
  );

/**
 * Runs the command.
 *
 * @param argv the arguments after the command's name
 * @param root the project's folder, absolute
 * @returns the exit code: 0 nothing is red, 1 something is red or the command failed, 2 wrong usage
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
