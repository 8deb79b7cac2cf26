import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { orderedByDigest, sortableId } from '../../../../../core/foundations/encoding/sortable-id.ts';
import { compareText } from '../../../../../core/foundations/expression/index.ts';
import { isId } from '../../../../../core/foundations/wire/index.ts';
import { anyCharacter } from '../../../../support/arbitraries/character.ts';

const head = '日'.repeat(90);
const short = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 60 }).filter(isId);
/** Ids of more than 300 bytes, many with a common beginning. */
const long = fc
  .tuple(
    fc.constantFrom(head, '😀'.repeat(70), ''),
    fc.string({ unit: 'grapheme', minLength: 100, maxLength: 120 }),
  )
  .map((parts) => parts.join(''))
  .filter(isId);
const ids = fc.oneof(short, fc.uuid(), fc.stringMatching(/^[a-c]{1,3}$/), long);

describe('sortableId', () => {
  it('orders as ids do by code point, unless a digest decides', () => {
    fc.assert(
      fc.property(ids, ids, (a, b) => {
        if (a !== b && orderedByDigest(a, b)) return;
        expect(Math.sign(Buffer.compare(sortableId(a), sortableId(b)))).toBe(Math.sign(compareText(a, b)));
      }),
    );
  });

  it('distinguishes any two ids in at most 300 bytes', () => {
    fc.assert(
      fc.property(ids, ids, (a, b) => {
        expect(sortableId(a).equals(sortableId(b))).toBe(a === b);
        expect(sortableId(a).length).toBeLessThanOrEqual(300);
      }),
    );
  });

  it('keeps 300 bytes, and of longer ids the first 236 with a SHA-256 in hex', () => {
    const fitting = 'a'.repeat(300);
    expect(sortableId(fitting).toString()).toBe(fitting);
    const tooLong = `${fitting}b`;
    const digest = createHash('sha256').update(tooLong).digest('hex');
    expect(sortableId(tooLong).toString()).toBe(`${'a'.repeat(236)}${digest}`);
  });
});

describe('orderedByDigest', () => {
  it('is true only for long ids that start alike', () => {
    expect(orderedByDigest(`${head}${'a'.repeat(40)}`, `${head}${'b'.repeat(40)}`)).toBe(true);
    expect(orderedByDigest(`a${head}`, `b${head}`)).toBe(false);
    expect(orderedByDigest('a', 'b')).toBe(false);
  });
});
