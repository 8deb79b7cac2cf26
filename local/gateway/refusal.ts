/** API Gateway's default status and message for each type of gateway response. */
export const refusals = {
  ACCESS_DENIED: { status: 403, message: 'User is not authorized to access this resource' },
  AUTHORIZER_CONFIGURATION_ERROR: { status: 500, message: 'Internal server error' },
  AUTHORIZER_FAILURE: { status: 500, message: 'Internal server error' },
  DEFAULT_5XX: { status: 500, message: 'Internal server error' },
  /** A function that fails has no type of its own. */
  BAD_GATEWAY: { status: 502, message: 'Internal server error' },
  INTEGRATION_FAILURE: { status: 504, message: 'Internal server error' },
  INTEGRATION_TIMEOUT: { status: 504, message: 'Endpoint request timed out' },
  MISSING_AUTHENTICATION_TOKEN: { status: 403, message: 'Missing Authentication Token' },
  REQUEST_TOO_LARGE: { status: 413, message: 'Request Too Long' },
  THROTTLED: { status: 429, message: 'Too Many Requests' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'Unsupported Media Type' },
  UNAUTHORIZED: { status: 401, message: 'Unauthorized' },
} as const;

export type RefusalType = keyof typeof refusals;

/** The gateway answers by itself, instead of a function. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly type: RefusalType;

  /** @param cause the failure, for the log only; absent if the client made the mistake */
  constructor(type: RefusalType, cause?: unknown) {
    super(refusals[type].message, { cause });
    this.type = type;
  }
}
