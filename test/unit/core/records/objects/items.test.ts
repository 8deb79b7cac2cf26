import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { getBaseObjectClass } from '../../../../../core/records/objects/create.ts';
import {
  digestKey,
  headKey,
  noteKey,
  noteRange,
  valueObject,
  versionKey,
  versionRange,
} from '../../../../../core/records/objects/items.ts';
import type { ObjectName } from '../../../../../core/records/objects/model.ts';
import type { KeyRange } from '../../../../../foundations/storage/index.ts';
import {
  isObjectId,
  type JsonValue,
  type ProjectId,
  parseVersionName,
} from '../../../../../foundations/wire/index.ts';

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
    [{ _type: 'SavedView', name: 'errors' }, 'SavedView'],
    [{ _type: 'Leaf', _class_name: 'Prompt' }, 'Prompt'],
    [{ _type: 'Leaf', _bases: ['Object'] }, null],
    [{ _type: 'Evaluator', _class_name: null }, null],
    [{ _type: 'Evaluator', _bases: null }, null],
    [{ _type: 'Evaluator', _class_name: null, _bases: ['Model'] }, 'Model'],
    [{ _type: 7 }, null],
    [{}, null],
    [null, null],
    [['Model'], null],
  ])('of %j is %j', (value, expected) => {
    expect(getBaseObjectClass(value, 'object')).toBe(expected);
  });

  it('of an op is none, unless it names one', () => {
    expect(getBaseObjectClass({ _type: 'op' }, 'op')).toBeNull();
    expect(getBaseObjectClass({ _type: 'op', _class_name: 'Op' }, 'op')).toBe('Op');
  });
});

const name: fc.Arbitrary<ObjectName> = fc.record({
  projectId: fc.constantFrom('a/b', 'a/bh', 'a/b0').map((id) => id as ProjectId),
  objectId: fc.oneof(
    fc.constantFrom('a', 'ab', 'a\u0001', 'h', '..', 'é'),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 5 }).filter(isObjectId),
  ),
});
const index = fc.oneof(fc.nat(3), fc.constantFrom(255, 256, 65_536, 2 ** 32 - 1));
const digest = fc.constantFrom('x'.repeat(43), 'y'.repeat(43));

const text = ({ k, s }: ReturnType<typeof headKey>): string =>
  [k, s].map((bytes) => Buffer.from(bytes).toString('hex')).join(' ');
const isIn = ({ partition, sort }: KeyRange, { k, s }: ReturnType<typeof headKey>): boolean =>
  Buffer.compare(partition[1], k) === 0 &&
  (!sort || (Buffer.compare(sort[1], s) <= 0 && Buffer.compare(s, sort[2]) <= 0));

describe('keys', () => {
  it('are the same for the same thing and for no other', () => {
    const thing = fc.record({ name, index, digest });
    fc.assert(
      fc.property(thing, thing, (a, b) => {
        const toKeys = ({ name, index, digest }: typeof a) => [
          text(headKey(name)),
          text(versionKey(name, index)),
          text(digestKey(name, digest)),
          text(noteKey({ ...name, versionIndex: index, digest })),
          valueObject({ ...name, versionIndex: index, digest }),
        ];
        const sameName = a.name.projectId === b.name.projectId && a.name.objectId === b.name.objectId;
        const [head, version, byDigest, note, value] = toKeys(b);
        const keys = new Set(toKeys(a));
        expect(keys.has(head ?? '')).toBe(sameName);
        expect(keys.has(version ?? '')).toBe(sameName && a.index === b.index);
        expect(keys.has(byDigest ?? '')).toBe(sameName && a.digest === b.digest);
        expect(keys.has(note ?? '')).toBe(sameName && a.index === b.index && a.digest === b.digest);
        expect(keys.has(value ?? '')).toBe(sameName && a.index === b.index && a.digest === b.digest);
      }),
    );
  });

  it('lie in the ranges of their objects and in no others', () => {
    fc.assert(
      fc.property(name, name, index, fc.integer({ min: 1, max: 2 ** 32 }), (a, b, index, below) => {
        const same = a.projectId === b.projectId && a.objectId === b.objectId;
        expect(isIn(versionRange(b), versionKey(a, index))).toBe(same);
        expect(isIn(versionRange(b, below), versionKey(a, index))).toBe(same && index < below);
        const note = noteKey({ ...a, versionIndex: index, digest: 'z'.repeat(43) });
        expect(isIn(noteRange(b, below), note)).toBe(same && index < below);
      }),
    );
  });

  it('are within the bounds of DynamoDB and S3 for the longest names', () => {
    const longest = {
      projectId: `${'x'.repeat(128)}/${'y'.repeat(128)}` as ProjectId,
      objectId: '😀'.repeat(128),
    };
    expect(isObjectId(longest.objectId)).toBe(true);
    const value = { ...longest, versionIndex: 2 ** 32 - 1, digest: 'x'.repeat(43) };
    for (const { k, s } of [
      headKey(longest),
      versionKey(longest, 0),
      digestKey(longest, value.digest),
      noteKey(value),
    ]) {
      expect(k.length).toBeLessThanOrEqual(2048);
      expect(s.length).toBeLessThanOrEqual(1024);
    }
    expect(Buffer.byteLength(valueObject(value))).toBeLessThanOrEqual(1024);
  });
});

describe('an object id', () => {
  it.each(['x', 'my prompt', '日本', 'a.b*', '😀'.repeat(128)])('can be %j', (id) => {
    expect(isObjectId(id)).toBe(true);
  });

  it.each(['', 'a/b', 'a:b', 'a\u0000', 'a\nb', '\ud800', '😀'.repeat(129)])('cannot be %j', (id) => {
    expect(isObjectId(id)).toBe(false);
  });
});

describe('the name of a version', () => {
  it.each([
    ['latest', 'latest'],
    ['v0', { versionIndex: 0 }],
    ['v4294967295', { versionIndex: 4_294_967_295 }],
    ['v4294967296', { digest: 'v4294967296' }],
    ['v01', { digest: 'v01' }],
    ['V1', { digest: 'V1' }],
    ['v', { digest: 'v' }],
  ])('%s is read as it is meant', (text, expected) => {
    expect(parseVersionName(text)).toEqual(expected);
  });
});
