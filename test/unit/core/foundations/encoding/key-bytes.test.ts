import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fromSignedTimeBytes,
  fromUnsignedTimeBytes,
  joinBytes,
  signedTimeBytes,
  unsignedTimeBytes,
} from '../../../../../core/foundations/encoding/key-bytes.ts';

it('joins texts, single bytes and bytes in their order', () => {
  expect(joinBytes('a/é', 0, Buffer.from('ff00', 'hex'), 255, '').toString('hex')).toBe('612fc3a900ff00ff');
});

const safe = Number.MAX_SAFE_INTEGER;
const signed = fc.integer({ min: -safe, max: safe });
const unsigned = fc.integer({ min: 0, max: safe });

describe('signedTimeBytes', () => {
  it('orders as the times do, before 1970 too', () => {
    fc.assert(
      fc.property(signed, signed, (a, b) => {
        expect(Math.sign(Buffer.compare(signedTimeBytes(a), signedTimeBytes(b)))).toBe(Math.sign(a - b));
      }),
    );
  });

  it.each([
    [0, '20000000000000'],
    [-1, '1fffffffffffff'],
    [1_788_000_000_123_456, '265a2d30dda240'],
    [safe, '3fffffffffffff'],
    [-safe, '00000000000001'],
  ])('writes %d as %s', (micros, hex) => {
    expect(signedTimeBytes(micros).toString('hex')).toBe(hex);
  });

  it('is undone, whatever follows', () => {
    fc.assert(
      fc.property(signed, fc.uint8Array(), (micros, after) => {
        expect(fromSignedTimeBytes(Buffer.concat([signedTimeBytes(micros), after]))).toBe(micros);
      }),
    );
  });
});

describe('unsignedTimeBytes', () => {
  it('orders as the times do, and restores them', () => {
    fc.assert(
      fc.property(unsigned, unsigned, (a, b) => {
        expect(Math.sign(Buffer.compare(unsignedTimeBytes(a), unsignedTimeBytes(b)))).toBe(Math.sign(a - b));
        expect(fromUnsignedTimeBytes(unsignedTimeBytes(a))).toBe(a);
      }),
    );
  });

  it.each([
    [0, '0000000000000000'],
    [1_788_000_000_123_456, '00065a2d30dda240'],
    [safe, '001fffffffffffff'],
    [-1, '0000000000000000'],
    [Number.POSITIVE_INFINITY, '001fffffffffffff'],
  ])('writes %d as %s', (micros, hex) => {
    expect(unsignedTimeBytes(micros).toString('hex')).toBe(hex);
  });

  it('is read even if more bytes follow', () => {
    expect(fromUnsignedTimeBytes(Buffer.concat([unsignedTimeBytes(7), Buffer.from('id')]))).toBe(7);
  });
});
