import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ownDigests } from '../../../foundations/door.ts';
import { canonicalJson, isDigest, type JsonValue } from '../../../foundations/wire/index.ts';

const json = fc.jsonValue({ depthSize: 'medium' }) as fc.Arbitrary<JsonValue>;

/** The same value with the keys of every object in another order. */
const shuffled = (value: JsonValue): JsonValue => {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]): [string, JsonValue] => [key, shuffled(item)]);
  return Object.fromEntries(entries.reverse());
};

describe('canonical JSON', () => {
  it('is JSON of the same value', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('is the same for equal values, whatever the order of their keys, and for no others', () => {
    const pair = fc.oneof(
      fc.tuple(json, json),
      json.map((value) => [value, shuffled(value)] as const),
    );
    fc.assert(
      fc.property(pair, ([a, b]) => {
        const asRead = [a, b].map((value) => JSON.parse(JSON.stringify(value)) as JsonValue);
        expect(canonicalJson(a) === canonicalJson(b)).toBe(isDeepStrictEqual(asRead[0], asRead[1]));
      }),
    );
  });

  it.each<[string, string]>([
    // The examples of RFC 8785, but for its lone surrogates.
    [
      '{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001], "string": "\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/", "literals": [null, true, false]}',
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    ],
    [
      '{"\\u20ac": "Euro Sign", "\\r": "Carriage Return", "\\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One", "\\ud83d\\ude00": "Emoji: Grinning Face", "\\u0080": "Control", "\\u00f6": "Latin Small Letter O With Diaeresis"}',
      '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","😀":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    ],
    ['{"10": 1, "9": 2, "a": -0}', '{"10":1,"9":2,"a":0}'],
    ['{"__proto__": {"b": 1, "a": 2}}', '{"__proto__":{"a":2,"b":1}}'],
    ['"\\ud800"', '"\\ud800"'],
  ])('of %s is as the RFC has it', (text, canonical) => {
    expect(canonicalJson(JSON.parse(text))).toBe(canonical);
  });
});

describe('a digest', () => {
  it('is the SHA-256 of the canonical JSON, in base64url', () => {
    const expected = createHash('sha256').update('{"a":[1,2],"b":"é"}', 'utf8').digest('base64url');
    expect(ownDigests.ofValue({ b: 'é', a: [1, 2] })).toBe(expected);
  });

  it('can stand in a ref and a URL', () => {
    fc.assert(
      fc.property(json, (value) => {
        const digest = ownDigests.ofValue(value);
        expect(isDigest(digest)).toBe(true);
        expect(encodeURIComponent(digest)).toBe(digest);
      }),
    );
  });

  it.each(['latest', 'v0', '', 'a'.repeat(42), 'a'.repeat(44), `${'a'.repeat(42)}/`, `${'a'.repeat(43)}\n`])(
    'is not %j',
    (text) => expect(isDigest(text)).toBe(false),
  );
});
