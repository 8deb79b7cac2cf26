import { createHash } from 'node:crypto';

/** Sixteen bytes that stand for a text of any length: the first half of its SHA-256. */
export const shortDigest = (text: string): Buffer =>
  createHash('sha256').update(text).digest().subarray(0, 16);
