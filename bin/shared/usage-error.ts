/** A command line that cannot be meant; its message names the place and the mend. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
