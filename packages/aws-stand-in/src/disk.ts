/*
 * What went wrong when something was written to a disk, in words for whoever runs the service.
 */

/** SQLite's code for a disk, or a file, that takes no more: https://sqlite.org/rescode.html#full */
const sqliteFull = 13;

/** The codes of the operating system: the disk is full, or the user's part of it. */
const fullCodes: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

/** Whether an error says that the disk is full. */
export const isDiskFull = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  if ('code' in error && fullCodes.has(error.code)) return true;
  return 'errcode' in error && error.errcode === sqliteFull;
};

/** Why something could not be written. */
export const describeFailure = (error: unknown): string => {
  if (isDiskFull(error)) return 'the disk is full';
  return error instanceof Error ? error.message : String(error);
};

/**
 * Tells of a place that takes no writes, once each time that it begins, and once when it takes them
 * again.
 */
export class DiskReport {
  readonly #place: string;
  readonly #tell: (line: string) => void;
  readonly #consequence: string;
  #reason: string | undefined;

  /**
   * @param place a file or a folder
   * @param notify takes a line for whoever runs the service
   * @param consequence what comes of it
   */
  constructor(place: string, notify: (line: string) => void, consequence = 'Requests that write fail') {
    this.#place = place;
    this.#tell = notify;
    this.#consequence = consequence;
  }

  failed(error: unknown): void {
    const reason = describeFailure(error);
    if (reason === this.#reason) return;
    this.#reason = reason;
    this.#tell(
      `${this.#place} cannot be written: ${reason}. ${this.#consequence}` +
        (isDiskFull(error) ? ' until some space is free' : ''),
    );
  }

  succeeded(): void {
    if (this.#reason === undefined) return;
    this.#reason = undefined;
    this.#tell(`${this.#place} can be written again`);
  }
}
