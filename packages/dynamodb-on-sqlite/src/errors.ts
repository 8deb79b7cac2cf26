import { describeFailure, type SignatureRefusal } from 'aws-stand-in';

/*
 * Errors as DynamoDB's API answers them. The names are those of its reference, the messages those
 * of Amazon's DynamoDB Local:
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
 */

const dynamodbErrors = 'com.amazonaws.dynamodb.v20120810';

/** The namespaces of errors that do not belong to DynamoDB itself. */
const namespaces: Readonly<Record<string, string>> = {
  ValidationException: 'com.amazon.coral.validate',
  SerializationException: 'com.amazon.coral.service',
  InvalidSignatureException: 'com.amazon.coral.service',
  MissingAuthenticationTokenException: 'com.amazon.coral.service',
};

/** A request that the store refuses, or that it failed to do. */
export class StoreError extends Error {
  /** DynamoDB's name of the error, e.g. `ValidationException`. */
  readonly code: string;
  /** The status of the answer: 400, or 500 if the same request may succeed later. */
  readonly status: number;
  /** Further fields of the answer. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: string,
    message: string,
    { status = 400, details = {}, cause }: { status?: number; details?: object; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.code = code;
    this.status = status;
    this.details = { ...details };
  }

  /** The body of the answer. */
  get body(): string {
    const type = `${namespaces[this.code] ?? dynamodbErrors}#${this.code}`;
    return JSON.stringify({ __type: type, message: this.message, ...this.details });
  }
}

/** A request that breaks a rule of DynamoDB. */
export const invalid = (message: string): StoreError => new StoreError('ValidationException', message);

/**
 * A request for something that DynamoDB has and this store has not.
 *
 * @param feature e.g. `NOT in conditions`
 */
export const unsupported = (feature: string): StoreError =>
  invalid(`the embedded store does not support ${feature}: Amazon's DynamoDB Local does`);

/** A value of the request that is not of the type that the API has there. */
export const malformed = (what: string): StoreError => new StoreError('SerializationException', what);

/** A table that is not there. */
export const noTable = (): StoreError =>
  new StoreError('ResourceNotFoundException', 'Cannot do operations on a non-existent table');

/** A condition that does not hold. */
export const conditionFailed = (details: object = {}): StoreError =>
  new StoreError('ConditionalCheckFailedException', 'The conditional request failed', { details });

/** A request that was not signed with the secret of this run. */
export const unsigned = ({ isMissing, message }: SignatureRefusal): StoreError =>
  new StoreError(isMissing ? 'MissingAuthenticationTokenException' : 'InvalidSignatureException', message);

/** A failure of the store itself, e.g. a full disk. Clients repeat the request. */
export const internal = (cause: unknown): StoreError =>
  new StoreError('InternalServerError', `the embedded store failed: ${describeFailure(cause)}`, {
    status: 500,
    cause,
  });
