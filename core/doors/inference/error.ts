import type { ErrorAnswer } from '../../../api/fields.ts';
import type { ErrorDetail } from '../../../foundations/wire/errors.ts';

/** OpenAI's names for kinds of errors. */
const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
};

/** OpenAI's name for the kind of error that a status means. */
export const openAiErrorType = (status: number): string =>
  types[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error');

/** A problem with its place, unless that says nothing to who writes a request. */
const sentence = ({ loc: [part, ...path], msg }: ErrorDetail): string =>
  part === 'body' && path.length > 0 ? `${path.join('.')} ${msg}` : msg;

/** The `error` that stands beside `detail` where OpenAI's clients may be asking. */
export const openAiError = (
  status: number,
  detail: readonly ErrorDetail[],
): NonNullable<ErrorAnswer['error']> => ({
  message: detail.map(sentence).join('; '),
  type: openAiErrorType(status),
  code: detail[0]?.type ?? 'unknown',
});

/**
 * Anthropic's names for kinds of errors, by status
 * (platform.claude.com/docs/en/api/errors and the types of @anthropic-ai/sdk 1.13.0).
 */
const anthropicTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** Anthropic's name for the kind of error that a status means. */
export const anthropicErrorType = (status: number): string =>
  anthropicTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');

/** What stands beside `detail` where Anthropic's clients are asking. */
export const anthropicError = (status: number, detail: readonly ErrorDetail[]) => ({
  type: 'error',
  error: {
    type: anthropicErrorType(status),
    message: detail.map(sentence).join('; '),
  },
});

/** The body of an error that any client may read: the service's own shape, and OpenAI's beside it. */
export const errorForAll = (status: number, ...detail: ErrorDetail[]) => ({
  detail,
  error: openAiError(status, detail),
});
