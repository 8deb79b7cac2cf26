import * as sdk from '@aws-sdk/util-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Value } from '../../../../../../core/foundations/storage/index.ts';
import {
  marshall,
  NumberValueImpl,
  unmarshall,
} from '../../../../../../core/foundations/storage/sdk/attribute-values.ts';
import { anyCharacter } from '../../../../../support/arbitraries/character.ts';

const { value } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.string({ unit: anyCharacter }),
    fc.oneof(fc.maxSafeInteger(), fc.double({ min: -1e15, max: 1e15, noNaN: true })),
    fc.uint8Array(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.string({ maxLength: 8 }), tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

/** As the document client calls it. */
const options = { convertTopLevelContainer: true };
const back = { convertWithoutMapWrapper: true, wrapNumbers: Number };

describe('what replaces the conversion of the SDK in bundles', () => {
  it('makes the same of every value of an item', () => {
    fc.assert(
      fc.property(value, (one) => {
        expect(marshall(one)).toEqual(sdk.marshall(one, options));
      }),
    );
  });

  it('makes the same of what DynamoDB carries', () => {
    fc.assert(
      fc.property(value, (one) => {
        const carried = marshall(one);
        expect(unmarshall(carried, back)).toEqual(sdk.unmarshall(carried, back));
      }),
    );
  });

  it('refuses, as the SDK does, what no item may hold', () => {
    for (const wrong of [Number.NaN, Number.NEGATIVE_INFINITY, 2 ** 53, undefined, Symbol('x')]) {
      expect(() => marshall(wrong as Value)).toThrow();
      expect(() => sdk.marshall(wrong, options)).toThrow();
    }
    expect(() => unmarshall({ $unknown: ['X', 1] }, back)).toThrow('$unknown');
  });

  it('refuses what functions never store: sets, and numbers that no double spells', () => {
    expect(() => unmarshall({ SS: ['a'] }, back)).toThrow('type SS');
    expect(() => NumberValueImpl.from('0.12345678901234567890')).toThrow('0.12345678901234567890');
  });
});
