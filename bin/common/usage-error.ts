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
