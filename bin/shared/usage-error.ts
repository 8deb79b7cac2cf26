/** A wrong command line. The message names the argument and what to write. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
