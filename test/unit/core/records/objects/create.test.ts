import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../../../core/foundations/wire/index.ts';
import { baseObjectClassOf } from '../../../../../core/records/objects/create.ts';

describe('the base class of a value', () => {
  it.each<[JsonValue, string | null]>([
    [{ _class_name: 'Support', _bases: ['Agent', 'Model', 'Object', 'BaseModel'] }, 'Model'],
    [{ _class_name: 'Prompt', _bases: ['Object', 'BaseModel'] }, 'Prompt'],
    [{ _class_name: 'Prompt', _bases: [] }, 'Prompt'],
    [{ _class_name: 'Prompt' }, 'Prompt'],
    [{ _bases: ['Model'] }, 'Model'],
    [{ _bases: ['Model', 7, '', null] }, 'Model'],
    [{ _class_name: 'x'.repeat(257), _bases: 'Model' }, null],
    [{ _class_name: 7 }, null],
    [{}, null],
    [null, null],
    [['Model'], null],
  ])('of %j is %j', (value, expected) => {
    expect(baseObjectClassOf(value)).toBe(expected);
  });
});
