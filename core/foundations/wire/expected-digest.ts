import { conflict } from './errors.ts';

/** What a client computed of what it sends, and what it really is. */
interface DigestCheck {
  /** What the digest is of, e.g. `this file`. */
  readonly of: string;
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
export const checkDigest = ({ of, digest, expected, within = [] }: DigestCheck): void => {
  if (expected === null || expected === digest) return;
  const msg = `the digest of ${of} is ${digest}; leave expected_digest out, or write this one`;
  throw conflict({ loc: ['body', ...within, 'expected_digest'], msg, type: 'value_error' });
};
