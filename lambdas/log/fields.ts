/** How a request ended, or what the authorizer made of its key. */
export type Outcome = 'answered' | 'refused' | 'failed' | 'broken' | 'timed_out' | 'gone' | 'allowed';

/**
 * One problem of a refused request: its kind and its place. A `*` stands for any step that the
 * client chose.
 */
export interface LoggedProblem {
  readonly type: string;
  readonly loc: string;
}

/** An error as it is logged. */
export interface LoggedError {
  readonly name: string;
  readonly message: string;
  /** The frames alone, without the message. */
  readonly stack?: string;
  readonly cause?: LoggedError;
}

/**
 * The fields of a log line, in order; docs/operations.md explains them to operators. Times are in
 * milliseconds, sizes in bytes, units DynamoDB's. No field ever holds a key or a header's value. Of
 * a body they hold the projects alone.
 */
export interface LineFields {
  readonly level: 'info' | 'warn' | 'error';
  /**
   * What the line is about: a request, the look-up of a key, or a batch of records of tables'
   * streams. A request has one line by its function, a look-up one by the authorizer.
   */
  readonly message: 'request' | 'authorizer' | 'stream';
  /** API Gateway's, the client's `x-request-id`. The access log and the authorizer have it too. */
  readonly requestId: string;
  /** Lambda's. The lines that Lambda writes itself begin with it. */
  readonly lambdaRequestId: string;
  /** X-Ray's, if the request has one. */
  readonly traceId?: string;
  /** Whether it is the first request of its container. */
  readonly coldStart: boolean;
  readonly route: string;
  readonly outcome: Outcome;
  /** Why the authorizer refused or failed. */
  readonly reason?: string;
  /** The answer's. A stream that broke off has sent its status before. */
  readonly status?: number;
  readonly user?: string;
  readonly keyId?: string;
  /** The first ten projects that the body names, each once. */
  readonly projects?: readonly string[];
  /** How many projects the body names, if more than ten. */
  readonly projectCount?: number;
  /** The fields of the request that the service does not know, in Weave's dialect. */
  readonly passedOver?: readonly string[];
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
  /** How many of these storage throttled, or did in part only. */
  readonly throttled: number;
  /** 1 if the service is to blame, else 0: a sum counts failures. */
  readonly failed: 0 | 1;
  /** Which upstream a model request went to. */
  readonly upstream?: string;
  /** What was wrong with a refused request: the first ten problems. */
  readonly errors?: readonly LoggedProblem[];
  /** What went wrong on the service's side, or what the caller's own time-out cut off. */
  readonly error?: LoggedError;
  /** Why a model request was answered but not recorded. */
  readonly recordError?: LoggedError;
}
