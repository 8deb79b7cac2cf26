import type { ErrorDetail } from '../wire/errors.ts';

/** What is said of any key that is not valid. It does not tell why. */
export const keyRequired: ErrorDetail = {
  loc: ['header', 'authorization'],
  msg: 'a valid key is required: HTTP Basic with the key as the password, or Bearer on the inference endpoint',
  type: 'unauthorized',
};

/** The header `WWW-Authenticate` of a 401: the schemes of a service (RFC 9110). */
export const challengeOf = (service: string): string =>
  `Basic realm="${service}", charset="UTF-8", Bearer realm="${service}"`;
