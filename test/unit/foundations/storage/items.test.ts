import { NumberValue } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { asBytes, asMap, asNumber, asText, type Value } from '../../../../foundations/storage/index.ts';

describe('a value', () => {
  const kinds = { asBytes, asMap, asNumber, asText };
  const values: [keyof typeof kinds | 'none', Value | undefined][] = [
    ['asBytes', new Uint8Array()],
    ['asBytes', Buffer.from('x')],
    ['asText', ''],
    ['asNumber', 0],
    ['asMap', {}],
    ['none', undefined],
    ['none', null],
    ['none', false],
    ['none', ['x']],
    ['none', NumberValue.from('12345678901234567890')],
  ];

  it.each(values)('is what %s takes it for alone: %o', (kind, value) => {
    const taken = Object.entries(kinds).filter(([, as]) => as(value) !== undefined);
    expect(taken.map(([name]) => name)).toEqual(kind === 'none' ? [] : [kind]);
    for (const [, as] of taken) expect(as(value)).toBe(value);
  });
});
