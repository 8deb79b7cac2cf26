/** Where a command writes to. Each text gets a line end. */
export interface CommandOutput {
  /** Writes a result to standard output. */
  readonly out: (text: string) => void;
  /** Writes a message for people to standard error. */
  readonly err: (text: string) => void;
}

/** The output of this process. */
export const processOutput: CommandOutput = {
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
};
