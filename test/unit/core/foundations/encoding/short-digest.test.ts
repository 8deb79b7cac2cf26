import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { shortDigest } from '../../../../../core/foundations/encoding/short-digest.ts';

it('makes a short digest of the first 16 bytes of the SHA-256 of a text', () => {
  const whole = createHash('sha256').update('日', 'utf8').digest('hex');
  expect(shortDigest('日').toString('hex')).toBe(whole.slice(0, 32));
});
