import type { CommandOutput } from './output.ts';
import { UsageError, usageText } from './usage-error.ts';

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
