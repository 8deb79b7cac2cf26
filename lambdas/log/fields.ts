/** How a request ended, or what the authorizer made of its key. */
export type Outcome = 'answered' | 'refused' | 'failed' | 'broken' | 'gone' | 'allowed';

/**
 * One fault of a refused request, as it is logged: its kind and its place, of which what the client
 * chose is a `*`.
 */
export interface LoggedFault {
  readonly type: string;
  readonly loc: string;
}

/** An error as it is logged. */
export interface LoggedError {
  readonly name: string;
  readonly message: string;
  /** The frames alone: the message is above. */
  readonly stack?: string;
  readonly cause?: LoggedError;
}

/**
 * The fields of a log line, in order; docs/operations.md says to operators what each is. Times are
 * in milliseconds, sizes in bytes, units DynamoDB's. None of them ever holds a key, a header's
 * value or anything of a body but the projects that it names.
 */
export interface LineFields {
  readonly level: 'info' | 'error';
  /**
   * What the line is about: one is written for each request by its function, one for each look-up
   * of a key by the authorizer.
   */
  readonly message: 'request' | 'authorizer';
  /**
   * API Gateway's, which is the client's `x-request-id`; the access log and the authorizer have it
   * too.
   */
  readonly requestId: string;
  /** Lambda's, which the lines that Lambda itself writes begin with. */
  readonly lambdaRequestId: string;
  /** X-Ray's, where the request has one. */
  readonly traceId?: string;
  /** Whether it is the first request of its container. */
  readonly coldStart: boolean;
  readonly route: string;
  readonly outcome: Outcome;
  /** Why the authorizer refused or failed. */
  readonly reason?: string;
  /** The answer's. A stream that broke off had its status sent before. */
  readonly status?: number;
  readonly user?: string;
  readonly keyId?: string;
  /** The projects that the body names, each once, the first ten of them. */
  readonly projects?: readonly string[];
  /** How many projects the body names, where they are more than `projects` has. */
  readonly projectCount?: number;
  /** How a query was answered. */
  readonly plan?: object;
  /** Records that were written or answered. */
  readonly rows: number;
  /** Records that a query looked at. */
  readonly scanned?: number;
  /** Records whose payloads a query read. */
  readonly hydrated?: number;
  /** The answer's body, before it is compressed. */
  readonly bytes: number;
  /** From the function's start with the request until its answer was written or given up. */
  readonly ms: number;
  readonly readUnits: number;
  readonly writeUnits: number;
  /** Requests to storage. */
  readonly requests: number;
  /** Of these, those that storage throttled, or did in part only. */
  readonly throttled: number;
  /** 1 where the service is to blame, else 0: to be summed up. */
  readonly failed: 0 | 1;
  /** Which upstream a model request went to. */
  readonly upstream?: string;
  /** What was wrong with a refused request, the first ten faults. */
  readonly errors?: readonly LoggedFault[];
  /** What went wrong on the service's side. */
  readonly error?: LoggedError;
  /** Why a model request was not recorded, though it was answered. */
  readonly recordError?: LoggedError;
}
