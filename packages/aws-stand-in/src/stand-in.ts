import type { Signing } from './signature.ts';

/** A stand-in of one of AWS's services, while it runs. */
export interface StandIn {
  /** Its URL, with the address `127.0.0.1`. */
  readonly endpoint: string;
  /** Ends it. Resolves when it has ended. */
  stop(): Promise<void>;
}

/** How a stand-in treats its requests, and whom it tells. */
export interface StandInOptions {
  /** The folder for its data, made if missing. @default - the data are in memory */
  readonly folder?: string;
  /** What requests have to be signed with. @default - any signature will do, for tests */
  readonly signing?: Signing;
  /** Takes a line when the folder cannot be written, and when it can again. @default - dropped */
  readonly notify?: (line: string) => void;
}
