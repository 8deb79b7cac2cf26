/** One problem of a request: its place, what to do about it, and its kind by pydantic's names. */
export interface ErrorDetail {
  readonly loc: readonly string[];
  readonly msg: string;
  readonly type: string;
}

/** The body of every error. */
export interface ErrorBody {
  readonly detail: readonly ErrorDetail[];
}

/**
 * An error that the caller is told of: an HTTP status and what is wrong. Anything else thrown is a
 * 500.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly status: number;
  readonly detail: readonly ErrorDetail[];
  /** Seconds until the same request may be sent again, for 429 and 503. */
  readonly retryAfterSeconds: number | undefined;
  /** Whether the caller's own time-out caused it, so that the service did not fail. */
  readonly isCallersTimeout: boolean;

  constructor(
    status: number,
    detail: readonly ErrorDetail[],
    options: { cause?: unknown; retryAfterSeconds?: number; isCallersTimeout?: boolean } = {},
  ) {
    super(detail[0]?.msg ?? `status ${status}`, 'cause' in options ? { cause: options.cause } : undefined);
    this.status = status;
    this.detail = detail;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.isCallersTimeout = options.isCallersTimeout ?? false;
  }
}

/** 422: the body does not fit the schema. */
export const invalid = (...detail: ErrorDetail[]): ServiceError => new ServiceError(422, detail);

/** 422: what the request has at this place will not do. */
export const invalidAt = (loc: readonly string[], msg: string): ServiceError =>
  invalid({ loc, msg, type: 'value_error' });

/** 403: the key may not do this to this project. */
export const forbidden = (loc: readonly string[], msg: string): ServiceError =>
  new ServiceError(403, [{ loc, msg, type: 'forbidden' }]);

/** 404: the request names something at this place that does not exist. */
export const notFound = (loc: readonly string[], msg: string): ServiceError =>
  new ServiceError(404, [{ loc, msg, type: 'not_found' }]);

/** 409: the id exists already, with other content. */
export const conflict = (...detail: ErrorDetail[]): ServiceError => new ServiceError(409, detail);

/** 413: one value is over its own limit. */
export const tooLarge = (...detail: ErrorDetail[]): ServiceError => new ServiceError(413, detail);

/**
 * 503: storage throttled or failed until the time for retries ran out. The same request may be sent
 * again.
 */
export const unavailable = (
  cause: unknown,
  msg = 'storage did not take or give the data in time; send the same request again',
): ServiceError =>
  new ServiceError(503, [{ loc: ['storage'], msg, type: 'storage_unavailable' }], {
    cause,
    retryAfterSeconds: 1,
  });

/** What a client computed of what it sends, and what it really is. */
interface DigestCheck {
  /** What the digest is of, e.g. `this file`. */
  readonly what: string;
  readonly digest: string;
  /** Null if the client computed none. */
  readonly expected: string | null;
  /** Where `expected_digest` stands, in the body. @default - at its top */
  readonly within?: readonly string[];
}

/**
 * Refuses what is not what its client expects.
 *
 * @throws ServiceError 409
 */
export const checkDigest = ({ what, digest, expected, within = [] }: DigestCheck): void => {
  if (expected === null || expected === digest) return;
  const msg = `the digest of ${what} is ${digest}; leave expected_digest out, or write this one`;
  throw conflict({ loc: ['body', ...within, 'expected_digest'], msg, type: 'value_error' });
};

const unauthorized = (msg: string): ErrorDetail => ({
  loc: ['header', 'authorization'],
  msg,
  type: 'unauthorized',
});

/** What is said of any key that is not valid. It does not tell why. */
export const keyRequired = /* @__PURE__ */ unauthorized(
  'a valid key is required: HTTP Basic with the key as the password, or Bearer on the inference endpoint',
);

/** The same where people sign in, of any key or token. */
export const keyOrTokenRequired = /* @__PURE__ */ unauthorized(
  'a valid key is required (HTTP Basic with the key as the password, or Bearer on the inference endpoint), or the token of a person, as Bearer: GET /sign-in says where people sign in',
);

/** The header `WWW-Authenticate` of a 401: the schemes of the service (RFC 9110). */
export const challenge = 'Basic realm="svc", charset="UTF-8", Bearer realm="svc"';
