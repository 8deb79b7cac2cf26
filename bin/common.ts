import { type ParseArgsConfig, parseArgs } from 'node:util';

/** A wrong command line. The message names the argument and what to write. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
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
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
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
export const usdOf = (option: string, text: string): number => {
  if (!/^\d{1,9}(\.\d{1,9})?$/.test(text))
    throw new UsageError(`--${option} ${text}: should be dollars, e.g. 5 or 0.50`);
  return Number(text);
};

/**
 * Runs an operator's command, and writes to standard error why it failed.
 *
 * @param name the name of its npm script
 * @param explain what to say of any error but wrong usage
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage
 */
export const runCommand = async (
  name: string,
  { err }: Pick<CommandOutput, 'err'>,
  task: () => void | Promise<void>,
  explain: (error: unknown) => string,
): Promise<0 | 1 | 2> => {
  try {
    await task();
    return 0;
  } catch (error) {
    const isUsage = error instanceof UsageError;
    err(isUsage ? usageText(name, error) : `${name}: ${explain(error)}`);
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
  if (argument === '--help' || argument === '-h') return processOutput.out(help);
  processOutput.err(usageText(name, new UsageError(`${argument}: this command takes no arguments`)));
  process.exitCode = 2;
};
