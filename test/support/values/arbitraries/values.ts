import fc from 'fast-check';
import {
  formatTime,
  type JsonObject,
  type JsonValue,
  type Micros,
} from '../../../../foundations/wire/index.ts';
import { anyCharacter } from './character.ts';

const refs = ['svc:///acme/shop/object/prompt:v1', 'svc:///acme/shop/object/prompt:v2/attr/x'];

/**
 * Texts that look like each other, like other types or like times, and such as code units order
 * differently from code points.
 */
const text = fc.oneof(
  fc.constantFrom('', 'a', 'A', 'ab', 'AB', 'Zoë', 'zoË', 'İ', '\uffff', '😀', '😀a', '\ud800', ...refs),
  fc.constantFrom(
    '10',
    '9',
    ' 2.5\n',
    '+.5',
    '1e3',
    '1e400',
    '0x10',
    '01.',
    '.',
    'true',
    'False',
    ' TRUE',
    '1',
    '0',
  ),
  fc.constantFrom('2026-10-01', '2026-10-01T00:00:00.000001Z', '[1]', '{}'),
  fc.string({ unit: anyCharacter, maxLength: 3 }),
);
/** Numbers, whole ones and others, that lie close together or far out. */
export const number = fc.oneof(
  fc.constantFrom(0, 1, -1, 2, 2.5, -2.5, 9, 10, 0.1, 1e21, 1e-7, 1e308, 2 ** 53),
  fc.integer({ min: -3, max: 3 }),
);

/** A JSON value that is no list or object. */
export const scalar: fc.Arbitrary<JsonValue> = fc.oneof(
  { arbitrary: text, weight: 4 },
  { arbitrary: number, weight: 4 },
  { arbitrary: fc.boolean(), weight: 1 },
  { arbitrary: fc.constant(null), weight: 1 },
);

const key = fc.constantFrom('a', 'a', 'b', 'b', 'c', 'a.b', 'b.c', '0', '1', '', '😀', '__proto__', 'length');

/** Any JSON value, with the same few keys again and again. */
export const value: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    { arbitrary: scalar, weight: 3 },
    { arbitrary: fc.array(tie('value'), { maxLength: 3 }), weight: 1 },
    { arbitrary: tie('object'), weight: 2 },
  ),
  object: fc
    .uniqueArray(fc.tuple(key, tie('value')), { maxLength: 4, selector: ([name]) => name })
    .map(Object.fromEntries),
})).value;

/** A free-form JSON object. */
export const object = fc
  .uniqueArray(fc.tuple(key, value), { maxLength: 5, selector: ([name]) => name })
  .map((members): JsonObject => Object.fromEntries(members));

/** Texts that all mean the same time: in UTC with and without saying so, and with offsets. */
export const timeTexts = (time: Micros): string[] => [
  formatTime(time),
  formatTime(time).replace('Z', ''),
  formatTime(time + 7_200_000_000).replace('Z', '+02:00'),
  formatTime(time - 19_800_000_000).replace('Z', '-0530'),
  // Whole seconds need no fraction.
  formatTime(time).replace('.000000', ''),
];
