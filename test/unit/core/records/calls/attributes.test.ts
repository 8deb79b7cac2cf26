import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type HeaderAttribute, headerAttributes } from '../../../../../api/calls.ts';
import { attributesForHeader, knownAttributes } from '../../../../../core/records/calls/attributes.ts';
import { packHeader, unpackHeader } from '../../../../../core/records/calls/header.ts';
import type { StartHeader } from '../../../../../core/records/calls/model.ts';
import { signedTimeBytes } from '../../../../../foundations/encoding/index.ts';
import { pick, valueAt } from '../../../../../foundations/expression/index.ts';
import { ownPolicy } from '../../../../../foundations/policy.ts';
import type { JsonObject, JsonValue, ProjectId } from '../../../../../foundations/wire/index.ts';
import { runs } from '../../../../support/sampling.ts';

const owner = { projectId: 'acme/airline' as ProjectId, id: 'call-1', policy: ownPolicy };

/** The attributes of a stored call, as its header has them. */
const startOf = (attributes: JsonObject): StartHeader => {
  const payload = { segment: null, offset: 0, length: 0 };
  const start: StartHeader = {
    ...{ opName: 'op', displayName: null, traceId: 't', parentId: null, threadId: null, turnId: null },
    ...{ startedAt: 1, userId: 'ada', runId: null, runStep: null, bytes: 0, payload },
    attributes: attributesForHeader(attributes),
  };
  const stored = unpackHeader(packHeader({ start, end: null }, owner), owner, signedTimeBytes(1)).start;
  if (!stored) throw new Error('no start was stored');
  return stored;
};

const pathOf = (name: HeaderAttribute) => name.split('.');

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 140 }),
  fc.string({ unit: fc.constantFrom('a', '\ud83d', '\ude00', '\0'), maxLength: 8 }),
  fc.constantFrom('agent', 'production', '', 'x'.repeat(128), 'x'.repeat(129)),
);
const value: fc.Arbitrary<JsonValue> = fc.oneof(
  text,
  fc.constantFrom<JsonValue>(null, true, 1, [], ['a'], {}, { id: 'u' }, { id: null }),
  fc.record({ id: text }),
);
const attributes: fc.Arbitrary<JsonObject> = fc.dictionary(
  fc.constantFrom('user', 'user.id', 'kind', 'environment', 'release', 'other'),
  value,
  { noNullPrototype: true },
);

describe('what a header holds of attributes', () => {
  it('is what their paths lead to, or that the payload has it', () => {
    fc.assert(
      fc.property(attributes, (attributes) => {
        const start = startOf(attributes);
        for (const name of headerAttributes) {
          const held = start.attributes[name];
          const expected = valueAt(attributes, pathOf(name));
          if (held === true) expect(expected).toBeDefined();
          else {
            expect(held).toEqual(expected);
            expect(pick(knownAttributes(start), [pathOf(name)])).toEqual(pick(attributes, [pathOf(name)]));
          }
        }
      }),
      { numRuns: runs(200, 3000) },
    );
  });

  it('is any well-formed text of at most 128 characters', () => {
    const held = (environment: JsonValue) => startOf({ environment }).attributes.environment;
    for (const fits of ['', 'eu', '😀'.repeat(64), 'é'.repeat(128), 'a\0b']) expect(held(fits)).toBe(fits);
    for (const other of ['x'.repeat(129), '\ud83d', 7, true, [], {}]) expect(held(other)).toBe(true);
    expect(held(null)).toBeNull();
    expect(startOf({}).attributes).toEqual({});
  });
});
