import { describe, expect, it } from 'vitest';
import { formats } from '../../../../foundations/json-schema/formats.ts';
import {
  maxExpanded,
  maxNested,
  maxSchema,
  maxSubschemas,
  readSchema,
} from '../../../../foundations/json-schema/read.ts';
import { type JsonValue, parseJson } from '../../../../foundations/wire/index.ts';

const findProblem = (schema: unknown): string => {
  const read = readSchema(schema as JsonValue);
  return 'problem' in read ? `${read.problem.path.join('.')}: ${read.problem.msg}` : 'none';
};

/** A chain of definitions, each of which has the next one `width` times. */
const chain = (length: number, width: number, entry: (ref: string) => object = (ref) => ({ $ref: ref })) => ({
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries([
    ...Array.from({ length }, (_, i) => [
      `d${i}`,
      { allOf: Array.from({ length: width }, () => entry(`#/$defs/d${i + 1}`)) },
    ]),
    [`d${length}`, { type: 'string' }],
  ]),
});

/** A schema in others. */
const nested = (depth: number): object => (depth === 0 ? {} : { not: nested(depth - 1) });

describe('a JSON Schema', () => {
  it('is read without what means nothing', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'https://example.org/order',
      title: 'Order',
      type: 'object',
      properties: {
        pattern: { type: ['string', 'null'], default: 'x' },
        format: { format: 'email' },
        __proto__: {},
      },
      required: ['pattern'],
      additionalProperties: false,
      $defs: { node: { items: { $ref: '#/$defs/node' }, 'x-note': { pattern: '(a+)+' } } },
    };
    expect(readSchema(schema)).toEqual({
      schema: {
        type: 'object',
        properties: { pattern: { type: ['string', 'null'] }, format: { format: 'email' } },
        required: ['pattern'],
        additionalProperties: false,
        $defs: { node: { items: { $ref: '#/$defs/node' } } },
      },
    });
    expect(readSchema(true)).toEqual({ schema: true });
    expect(
      readSchema(parseJson('{"maximum": 1e2, "properties": {"__proto__": {"type": "null"}}}') as JsonValue),
    ).toEqual({
      schema: { maximum: 100, properties: JSON.parse('{"__proto__": {"type": "null"}}') },
    });
  });

  it.each<[string, unknown, string]>([
    ['a text', 'x', ': should be a JSON Schema'],
    ['a text inside', { not: 'x' }, 'not: should be a JSON Schema'],
    ['a pattern', { items: { pattern: '(a+)+$' } }, 'items.pattern: is not taken'],
    ['a pattern in a list', { pattern: ['(a+)+$'] }, 'pattern: is not taken'],
    ['patterns of names', { patternProperties: { '(a+)+$': true } }, 'patternProperties: is not taken'],
    ['a format in a list', { format: ['regex'] }, 'format: should be one of date-time, '],
    ['a format of objects', { format: 'toString' }, 'format: should be one of'],
    ['a reference elsewhere', { $ref: 'https://example.org/x' }, '$ref: should be # or a pointer'],
    ['a reference to nothing', { $ref: '#/$defs/x' }, '$ref: leads to no schema'],
    [
      'a reference to what is no schema',
      { $ref: '#/const', const: { pattern: 'x' } },
      '$ref: leads to no schema',
    ],
    ['a reference to an annotation', { $ref: '#/x-a', 'x-a': { pattern: 'x' } }, '$ref: leads to no schema'],
    ['a reference that cannot be read', { $ref: '#/%E0%A4%A' }, '$ref: should be # or a pointer'],
    ['an unused reference to nothing', { $defs: { a: { $ref: '#/x' } } }, '$defs.a.$ref: leads to no schema'],
    ['an id inside', { items: { $id: 'x' } }, 'items.$id: is taken at the top alone'],
    ['a reference to itself', { $ref: '#' }, ': leads back to itself'],
    [
      'a round of references',
      { $defs: { a: { not: { $ref: '#/$defs/b' } }, b: { anyOf: [{ $ref: '#/$defs/a' }] } } },
      'leads back to itself',
    ],
    [
      'a round that a descent hides',
      {
        $defs: {
          a: { properties: { x: { $ref: '#/$defs/b' } }, allOf: [{ $ref: '#/$defs/b' }] },
          b: { if: { $ref: '#/$defs/a' } },
        },
      },
      'leads back to itself',
    ],
    ['a dynamic reference', { $dynamicRef: '#x' }, '$dynamicRef: is not taken'],
    ['a recursive reference', { $recursiveRef: '#' }, '$recursiveRef: is not taken'],
    ['names that are none', { required: 5 }, 'required: should be a list of names'],
    ['a number that is none', { multipleOf: '2' }, 'multipleOf: should be a number above 0'],
    ['a step of nothing', { multipleOf: 0 }, 'multipleOf: should be a number above 0'],
    ['a type that there is not', { type: 'text' }, 'type: should be one of'],
    ['schemas that are no list', { allOf: {} }, 'allOf: should be a list'],
    ['schemas without names', { properties: [] }, 'properties: should be an object'],
    ['schemas too deep in each other', nested(maxNested + 1), 'deep'],
    ['too many schemas', { allOf: Array(maxSubschemas).fill({}) }, `at most ${maxSubschemas} schemas`],
    ['too long a text', { const: 'x'.repeat(maxSchema) }, `at most ${maxSchema} characters`],
    ['a chain that doubles', chain(20, 2), `at most ${maxExpanded} schemas`],
    [
      'a chain that grows in properties',
      chain(13, 3, (ref) => ({ properties: { a: { $ref: ref } } })),
      `at most ${maxExpanded}`,
    ],
  ])('with %s is refused, with the place and the reason', (_, schema, expected) => {
    expect(findProblem(schema)).toContain(expected);
  });

  it.each<[string, unknown]>([
    ['every format', { anyOf: Object.keys(formats).map((format) => ({ format })) }],
    ['a chain that does not grow', chain(50, 1)],
    ['one that grows a little', chain(10, 2)],
    [
      'recursion into the value',
      {
        $defs: { tree: { properties: { children: { items: { $ref: '#/$defs/tree' } } } } },
        $ref: '#/$defs/tree',
      },
    ],
    ['recursion to the top', { properties: { next: { $ref: '#' } } }],
    ['names that pointers write otherwise', { $ref: '#/$defs/a~1b~0c%20d', $defs: { 'a/b~c d': {} } }],
    ['as many schemas as there may be', { allOf: Array(maxSubschemas - 1).fill({}) }],
  ])('with %s is taken', (_, schema) => {
    expect(findProblem(schema)).toBe('none');
  });
});
