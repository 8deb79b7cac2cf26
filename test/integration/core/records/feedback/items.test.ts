import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fromHead,
  indexKeys,
  payloadObject,
  positionBytes,
  positionFrom,
  readRecordId,
  recordKey,
  refRange,
  timeRange,
  toHead,
  typeRange,
} from '../../../../../core/records/feedback/items.ts';
import { fromUnsignedTimeBytes } from '../../../../../foundations/encoding/index.ts';
import { isId, type ProjectId } from '../../../../../foundations/wire/index.ts';
import { anyCharacter } from '../../../../support/values/arbitraries/character.ts';

const id = fc.oneof(
  fc.string({ minLength: 1, maxLength: 256, unit: anyCharacter }).filter(isId),
  fc.uuid(),
  fc.uuid().map((text) => text.toUpperCase()),
);
const projectId = fc.constantFrom('a/b', 'acme/shop', 'acme/sho', 'acme/shop2') as fc.Arbitrary<ProjectId>;
const time = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const place = fc.record({ createdAt: time, id });
const text = fc.string({ maxLength: 2000, unit: anyCharacter });

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe('keys', () => {
  it('of different records are different, and tell their ids', () => {
    fc.assert(
      fc.property(projectId, id, projectId, id, (projectA, a, projectB, b) => {
        const keyA = recordKey(projectA, a).k;
        const keyB = recordKey(projectB, b).k;
        expect(readRecordId(projectA, keyA)).toBe(a);
        expect(hex(keyA) === hex(keyB)).toBe(projectA === projectB && a === b);
      }),
    );
  });

  it('of times order as the times do', () => {
    fc.assert(
      fc.property(place, place, projectId, (a, b, project) => {
        const toKeys = (at: typeof a) => indexKeys({ ...at, projectId: project, ref: 'r', type: 't' }, 4);
        expect(Math.sign(Buffer.compare(toKeys(a).t, toKeys(b).t))).toBe(
          Math.sign(a.createdAt - b.createdAt),
        );
        expect(fromUnsignedTimeBytes(toKeys(a).t)).toBe(a.createdAt);
      }),
    );
  });

  it('of places tell the places', () => {
    fc.assert(
      fc.property(place, (at) => {
        expect(positionFrom(positionBytes(at))).toEqual(at);
      }),
    );
  });

  it('in the indexes are in the ranges that are read for them, and fit', () => {
    fc.assert(
      fc.property(place, projectId, text, text, (at, project, ref, type) => {
        const keys = indexKeys({ ...at, projectId: project, ref, type }, 8);
        const shard = keys.tk.at(-1) ?? -1;
        const bounds = { from: at.createdAt, to: at.createdAt };
        for (const { partition, sort } of [
          timeRange(project, shard, bounds),
          refRange(project, ref, bounds),
          typeRange(project, shard, type, bounds),
        ]) {
          const [name, value] = partition;
          expect(hex(value)).toBe(hex(keys[name as 'tk' | 'rk' | 'yk']));
          expect(sort?.slice(1).map((bound) => hex(bound as Uint8Array))).toEqual([hex(keys.t), hex(keys.t)]);
        }
        expect(keys.rk.length).toBeLessThan(300);
      }),
    );
  });

  it('in the bucket say nothing of the id but a hash of it', () => {
    const name = { projectId: 'acme/shop' as ProjectId, id: '../../etc' };
    expect(payloadObject(name, 'abcd', undefined)).toMatch(
      /^feedback\/kept\/acme\/shop\/[0-9a-f]{32}-abcd\.zst$/,
    );
    expect(payloadObject(name, 'abcd', 30)).toMatch(/^feedback\/expiring-30\/acme\/shop\//);
  });
});

describe('a head', () => {
  const ref = fc.oneof(
    fc.constantFrom(
      'svc:///acme/shop/call/c',
      'svc:///acme/shop/object/a:b/attr/x',
      'svc:///acme/shop2/call/c',
    ),
    fc.constantFrom('svc:///acme/sho/op/a:b', 'svc:///other/x/object/call/c:d'),
  );
  const orNull = fc.option(ref, { nil: null });
  const header = fc.record({
    id,
    createdAt: time,
    projectId: fc.constant('acme/shop' as ProjectId),
    ref,
    type: text,
    userId: text,
    creator: fc.option(text, { nil: null }),
    annotationRef: orNull,
    runnableRef: orNull,
    callRef: orNull,
    triggerRef: orNull,
  });
  const payload = fc.option(
    fc.jsonValue().map((value) => JSON.stringify({ value })),
    { nil: null },
  );

  it('keeps all that it is made of, whatever stands in it', () => {
    fc.assert(
      fc.property(header, payload, fc.nat(), (made, text, bytes) => {
        const read = fromHead(made.projectId, toHead(made, bytes, text));
        const { id: _id, createdAt: _at, projectId: _project, ...rest } = made;
        expect(read).toEqual({ ...JSON.parse(JSON.stringify(rest)), payload: text, payloadBytes: bytes });
      }),
    );
  });
});
