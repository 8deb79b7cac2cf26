import { type ParseArgsConfig, parseArgs } from 'node:util';
import { UsageError } from './usage-error.ts';

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
