import { type ParseArgsConfig, parseArgs } from 'node:util';
import { type ProjectId, parseProjectId, projectIdRule } from '../foundations/wire/index.ts';
import { withOwnCommands, workFolder } from '../lib/packaged.ts';

/** The project's folder, or that of whoever runs the package: absolute. */
export const root = workFolder;

/** A wrong command line. The message names the argument and what to write. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The command cannot do its work. The message says what to do about it. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

/**
 * What to write about wrong usage: the reason and where to read on.
 *
 * @param command the name of its npm script
 */
export const usageText = (command: string, { message }: UsageError): string =>
  `${command}: ${message}\nSee npm run ${command} -- --help`;

/** Where a command writes to. Each text gets a line end. */
export interface CommandOutput {
  /** Writes a result to standard output. */
  readonly out: (text: string) => void;
  /** Writes a message for people to standard error. */
  readonly err: (text: string) => void;
}

export const processOutput: CommandOutput = {
  out: (text) => process.stdout.write(`${withOwnCommands(text)}\n`),
  err: (text) => process.stderr.write(`${withOwnCommands(text)}\n`),
};

/**
 * Parses flags as `parseArgs` of node:util does.
 *
 * @throws UsageError if a flag is unknown, has no value or repeats one that may not
 */
export const parseFlags = <Config extends ParseArgsConfig>(
  config: Config,
): ReturnType<typeof parseArgs<Config>> => {
  try {
    return parseArgs(config);
  } catch (error) {
    // parseArgs reports what is wrong as a TypeError with a code.
    if (!(error instanceof TypeError && 'code' in error)) throw error;
    throw new UsageError(error.message, { cause: error });
  }
};

/**
 * The dollars of an option.
 *
 * @param option its name without hyphens before it
 * @throws UsageError if they are none
 */
export const parseUsd = (option: string, text: string): number => {
  if (!/^\d{1,9}(\.\d{1,9})?$/.test(text))
    throw new UsageError(`--${option} ${text}: should be dollars, e.g. 5 or 0.50`);
  return Number(text);
};

/** @throws UsageError if it is no project */
export const parseProject = (text: string | undefined): ProjectId => {
  if (text === undefined) throw new UsageError('name the project: --project acme/shop');
  const project = parseProjectId(text);
  if (project === undefined) throw new UsageError(`--project ${text}: ${projectIdRule}`);
  return project;
};

/** Explains the SDK's errors to an operator. */
const explanations: Readonly<Record<string, string>> = {
  ResourceNotFoundException: 'no such table in this account and region: check its name and AWS_REGION',
  CredentialsProviderError: 'no AWS credentials: sign in, or set AWS_PROFILE',
  ECONNREFUSED: 'nothing answers there: check that the service is running (npm start for the local one)',
};

/** @param help of the command, which has the option `--local` or not */
const explain = (error: unknown, help: string): string => {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof Failure) return error.message;
  const orLocal = help.includes('--local') ? '; for the local service add --local' : '';
  if (error.message.startsWith('Region'))
    return `no AWS region: set AWS_REGION to where the service is${orLocal}`;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  const mend = code === 'CredentialsProviderError' ? orLocal : '';
  return `${explanations[code] ?? `${error.name}: ${error.message}`}${mend}`;
};

const asksForHelp = (argument: string): boolean => argument === '--help' || argument === '-h';

/**
 * Runs an operator's command, or prints its help if the command line asks for that. Writes to
 * standard error why it failed.
 *
 * @param name the name of its npm script
 * @param argv the arguments after the command's name
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage
 */
export const runCommand = async (
  { name, help, argv }: { readonly name: string; readonly help: string; readonly argv: readonly string[] },
  { out, err }: CommandOutput,
  task: () => void | Promise<void>,
): Promise<0 | 1 | 2> => {
  try {
    if (argv.some(asksForHelp)) out(help);
    else await task();
    return 0;
  } catch (error) {
    const isUsage = error instanceof UsageError;
    err(isUsage ? usageText(name, error) : `${name}: ${explain(error, help)}`);
    return isUsage ? 2 : 1;
  }
};

/**
 * Runs a command that takes no arguments. For `--help` it says what the command does, and refuses
 * anything else.
 *
 * @param name the name of its npm script
 */
export const runPlain = async (
  name: string,
  help: string,
  task: () => void | Promise<void>,
): Promise<void> => {
  const [argument] = process.argv.slice(2);
  if (argument === undefined) return task();
  if (asksForHelp(argument)) return processOutput.out(help);
  processOutput.err(usageText(name, new UsageError(`${argument}: this command takes no arguments`)));
  process.exitCode = 2;
};
