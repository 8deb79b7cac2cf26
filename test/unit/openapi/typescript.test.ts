import { describe, expect, it } from 'vitest';
import { typeOf } from '../../../openapi/typescript.ts';

describe('the TypeScript type', () => {
  it.each([
    ['a text', { type: 'string' }, 'string'],
    ['an integer or null', { type: ['integer', 'null'] }, 'number | null'],
    ['a reference, whatever stands beside it', { type: 'object', $ref: '#/components/schemas/Call' }, 'Call'],
    ['one of some texts', { enum: ['a', "it's"] }, "'a' | 'it\\'s'"],
    ['a constant', { const: 'up' }, "'up'"],
    ['one of several', { anyOf: [{ type: 'string' }, { type: 'null' }] }, 'string | null'],
    ['a list', { type: 'array', items: { type: 'string' } }, '(string)[]'],
    ['a pair', { type: 'array', prefixItems: [{ type: 'string' }, {}] }, '[string, unknown]'],
    ['anything', {}, 'unknown'],
    ['a map', { type: 'object', additionalProperties: { type: 'number' } }, 'Record<string, number>'],
    ['an empty object', { type: 'object' }, 'Record<string, never>'],
  ] as const)('of %s', (_, schema, type) => {
    expect(typeOf(structuredClone(schema) as never)).toBe(type);
  });

  it('of an object has its fields, optional and with texts, and its rest', () => {
    const schema = {
      type: 'object',
      properties: { id: { type: 'string', description: 'The id.' }, 'a-b': { type: 'boolean' } },
      required: ['id'],
      additionalProperties: {},
    };
    expect(typeOf(schema as never)).toBe(
      "{\n  /** The id. */\n  id: string;\n  'a-b'?: boolean;\n  [key: string]: unknown;\n}",
    );
  });
});
