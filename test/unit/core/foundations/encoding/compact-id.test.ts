import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compactId, fromCompactId } from '../../../../../core/foundations/encoding/compact-id.ts';
import { isId } from '../../../../../core/foundations/wire/index.ts';
import { anyCharacter } from '../../../../support/arbitraries/character.ts';

const ids = fc.oneof(
  fc.string({ unit: anyCharacter, minLength: 1, maxLength: 60 }).filter(isId),
  fc.uuid(),
  fc.uuid().map((id) => id.toUpperCase()),
);

describe('compactId', () => {
  it('restores every id', () => {
    fc.assert(fc.property(ids, (id) => fromCompactId(compactId(id)) === id));
  });

  it('distinguishes any two ids', () => {
    fc.assert(fc.property(ids, ids, (a, b) => compactId(a).equals(compactId(b)) === (a === b)));
  });

  it('takes 17 bytes for a UUID and the UTF-8 of anything else', () => {
    expect(compactId('01a0f4c3-0874-7e3e-8297-4bcd6baa9455').toString('hex')).toBe(
      '0101a0f4c308747e3e82974bcd6baa9455',
    );
    expect(compactId('01A0F4C3').toString('utf8')).toBe('01A0F4C3');
    expect(compactId('日').toString('hex')).toBe('e697a5');
  });
});
