/**
 * One fault in a request: where it is, what to do about it, and its kind by the names pydantic
 * users know.
 */
export interface ErrorDetail {
  readonly loc: readonly string[];
  readonly msg: string;
  readonly type: string;
}

/** The body of every error that the service answers. */
export interface ErrorBody {
  readonly detail: readonly ErrorDetail[];
}

/**
 * An error that the caller is told of: its status, in HTTP's terms, and what is wrong. Anything
 * else thrown is a 500.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly status: number;
  readonly detail: readonly ErrorDetail[];
  /** Seconds after which the request may be repeated as it is, for 429 and 503. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    status: number,
    detail: readonly ErrorDetail[],
    options: { cause?: unknown; retryAfterSeconds?: number } = {},
  ) {
    super(detail[0]?.msg ?? `status ${status}`, 'cause' in options ? { cause: options.cause } : undefined);
    this.status = status;
    this.detail = detail;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** 422: the body does not fit the schema. */
export const invalid = (...detail: ErrorDetail[]): ServiceError => new ServiceError(422, detail);

/** 403: a known key that may not do this to this project. */
export const forbidden = (loc: readonly string[], msg: string): ServiceError =>
  new ServiceError(403, [{ loc, msg, type: 'forbidden' }]);

/** 404: what the request names at this place does not exist. */
export const notFound = (loc: readonly string[], msg: string): ServiceError =>
  new ServiceError(404, [{ loc, msg, type: 'not_found' }]);

/** 409: what the request creates is there already, and is something else. */
export const conflict = (...detail: ErrorDetail[]): ServiceError => new ServiceError(409, detail);

/** 413: one value is over its own limit. */
export const tooLarge = (...detail: ErrorDetail[]): ServiceError => new ServiceError(413, detail);

/**
 * 503: storage throttled or failed until the time for retries ran out. The request may be sent
 * again as it is.
 */
export const unavailable = (
  cause: unknown,
  msg = 'storage did not take or give the data in time; send the same request again',
): ServiceError =>
  new ServiceError(
    503,
    [
      {
        loc: ['storage'],
        msg,
        type: 'storage_unavailable',
      },
    ],
    { cause, retryAfterSeconds: 1 },
  );
