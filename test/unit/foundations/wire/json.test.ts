import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonicalJson,
  compareNumbers,
  copyJson,
  ExactNumber,
  findProblem,
  hasExactNumber,
  isJsonObject,
  type JsonValue,
  parseJson,
} from '../../../../foundations/wire/index.ts';
import { runs } from '../../../support/run/sampling.ts';
import { anyCharacter } from '../../../support/values/arbitraries/character.ts';

/** Any number as JSON may write it, within the range of a double. */
const numberText = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(
      fc.constantFrom('0', '1', '10', '9007199254740993', '12345678901234567890', '100000000000000000000'),
      fc.bigInt({ min: 0n, max: 10n ** 30n }).map(String),
    ),
    fc.oneof(
      fc.constantFrom('', '.0', '.50', '.10', '.30000000000000004'),
      fc.nat().map((n) => `.${n}0`),
    ),
    fc.oneof(fc.constant(''), fc.stringMatching(/^[eE][+-]?[0-9]{1,2}$/)),
  )
  .map((parts) => parts.join(''));

/** JSON texts without white space, whose numbers are written in any way. */
const jsonText = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    { arbitrary: numberText, weight: 4 },
    { arbitrary: fc.string({ unit: anyCharacter }).map((text) => JSON.stringify(text)), weight: 1 },
    { arbitrary: fc.constantFrom('true', 'false', 'null', '"\\\\"', '"\\"1.0"', '": 1.0,"'), weight: 1 },
    { arbitrary: fc.array(tie('value')).map((items) => `[${items.join(',')}]`), weight: 2 },
    {
      arbitrary: fc
        .uniqueArray(fc.tuple(fc.string(), tie('value')), { selector: ([key]) => key })
        .map(
          (fields) => `{${fields.map(([key, value]) => `${JSON.stringify(`k${key}`)}:${value}`).join(',')}}`,
        ),
      weight: 2,
    },
  ),
})).value;

const plain = (text: string): string => JSON.stringify(JSON.parse(text));

describe('parseJson', () => {
  it('keeps every number as it was written', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        expect(JSON.stringify(parseJson(text))).toBe(text);
      }),
      { numRuns: runs(500) },
    );
  });

  it('finds numbers to keep in just those texts that JavaScript writes otherwise', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        expect(hasExactNumber(text)).toBe(plain(text) !== text);
      }),
      { numRuns: runs(500) },
    );
  });

  it.each(['{"a":1,"b":[0.1,1e+21,-2.5]}', '"1.0"', '{"1.0":"1e5"}', '"\\"1.0"', '[]', '17'])(
    'makes plain numbers only of %s',
    (text) => {
      expect(hasExactNumber(text)).toBe(false);
      expect(parseJson(text)).toEqual(JSON.parse(text));
    },
  );

  it.each(['', '1.', '[1.0', '{"a":-}', '"1.0'])('throws for %j as JSON.parse does', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });

  it('leaves numbers beyond a double to be refused', () => {
    expect(findProblem(parseJson('[1e400]'))).toBe('too large a number');
    expect(findProblem(parseJson(`[-1${'0'.repeat(400)}]`))).toBe('too large a number');
  });
});

describe('an exact number', () => {
  const values = parseJson('[1.0,{"big":12345678901234567890}]') as [ExactNumber, { big: ExactNumber }];

  it('is neither an object nor deep', () => {
    expect(isJsonObject(values[0])).toBe(false);
    expect(findProblem(values[0], 0)).toBeUndefined();
  });

  it('survives a copy of what it is in', () => {
    const copy = copyJson(values as unknown as JsonValue);
    expect(copy).not.toBe(values);
    expect(JSON.stringify(copy)).toBe('[1.0,{"big":12345678901234567890}]');
  });

  it('compares with numbers: integers digit by digit, others as doubles', () => {
    const exact = (text: string) => new ExactNumber(text);
    expect(compareNumbers(exact('1.0'), 1)).toBe(0);
    expect(compareNumbers(exact('-0'), 0)).toBe(0);
    expect(compareNumbers(2 ** 53, exact('9007199254740993'))).toBeLessThan(0);
    expect(compareNumbers(exact('12345678901234567891'), exact('12345678901234567890'))).toBeGreaterThan(0);
    expect(compareNumbers(exact('1.50'), 2)).toBeLessThan(0);
  });
});

describe('canonicalJson', () => {
  it.each([
    ['1.0', '1.0'],
    ['1.50', '1.5'],
    ['1E5', '100000.0'],
    ['1e-05', '0.00001'],
    ['-0', '0'],
    ['-0.0', '-0.0'],
    ['12345678901234567890', '12345678901234567890'],
  ])('writes %s as %s', (text, canonical) => {
    expect(canonicalJson(parseJson(`{"n":${text}}`) as JsonValue)).toBe(`{"n":${canonical}}`);
  });
});
