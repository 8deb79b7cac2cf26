import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type HeaderAttribute, headerAttributes } from '../../../../../api/shared/header-fields.ts';
import {
  attributesForHeader,
  foldHeader,
  type HeaderContent,
  knownAttributes,
  packHeader,
  unpackHeader,
} from '../../../../../core/records/calls/header.ts';
import type {
  EndHeader,
  PayloadPointer,
  StartAttributes,
  StartHeader,
} from '../../../../../core/records/calls/model.ts';
import { signedTimeBytes } from '../../../../../foundations/encoding/index.ts';
import { pick, valueAt } from '../../../../../foundations/expression/index.ts';
import {
  isId,
  type JsonObject,
  type JsonValue,
  type ProjectId,
} from '../../../../../foundations/wire/index.ts';
import { runs } from '../../../../support/run/sampling.ts';
import { anyCharacter } from '../../../../support/values/arbitraries/character.ts';

const owner = {
  projectId: 'acme/airline' as ProjectId,
  id: '01a0f4c3-0874-7e3e-8297-4bcd6baa9455',
};
/** A text as names and ids are: well-formed, of any script. */
const someText = fc.string({ unit: anyCharacter, maxLength: 20 });
const arbitraryHex = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength, maxLength });
const someId = fc.oneof(
  fc.uuid(),
  fc.uuid().map((id) => owner.id.slice(0, 8) + id.slice(8)),
  fc.constant(owner.id),
  arbitraryHex(1, 40),
  arbitraryHex(0, 20).map((digits) => `01a0f4c308747e3e${digits}`),
  someText.filter(isId),
);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const micros = fc.oneof(
  fc.integer({ min: -9e15, max: 9e15 }),
  fc.constantFrom(Number.MIN_SAFE_INTEGER, -1, 0, 1, 2 ** 32, Number.MAX_SAFE_INTEGER),
);

const pointer: fc.Arbitrary<PayloadPointer> = fc.record({
  segment: maybe(fc.stringMatching(/^0[01][0-9a-f]{24}$/)),
  offset: fc.nat(),
  length: fc.nat(),
});

const op = fc.oneof(
  fc.constantFrom('svc:///acme/airline/op/agent.turn:0a8e', 'svc:///acme/air/op/x:1', 'plain'),
  someText.filter(isId),
  fc
    .record({
      scheme: fc.constantFrom('', 'svc:///acme/airline/op/', 'svc:///acme/air/op/'),
      name: fc.oneof(
        fc.constantFrom('openai.chat.completions.create', 'openai.', 'langchain.Llm.X', ''),
        someText,
      ),
      digest: fc.oneof(
        arbitraryHex(14, 66),
        fc
          .uint8Array({ minLength: 32, maxLength: 32 })
          .map((bytes) => Buffer.from(bytes).toString('base64url')),
        fc.stringMatching(/^[\w-]{43}$/),
        fc.constantFrom('*', 'v0', ''),
      ),
    })
    .map(({ scheme, name, digest }) => `${scheme}${name}:${digest}`),
);

/** What a header holds of an attribute; true stands for what is in the payload. */
const attribute = fc.oneof(
  someText,
  fc.uuid(),
  fc.constantFrom('agent', 'model', 'production', 'sandbox', '', 'true', 'null'),
  fc.constantFrom(null, true as const),
);
const attributes: fc.Arbitrary<StartAttributes> = fc
  .record(
    Object.fromEntries(headerAttributes.map((name) => [name, attribute])) as Record<
      HeaderAttribute,
      typeof attribute
    >,
    { requiredKeys: [], noNullPrototype: true },
  )
  .chain((fields) => {
    const withDot = headerAttributes.filter((name) => name.includes('.') && fields[name] !== undefined);
    return fc.subarray(withDot).map((dotted) => (dotted.length > 0 ? { ...fields, dotted } : fields));
  });

const plainStart: fc.Arbitrary<StartHeader> = fc.record({
  opName: op,
  displayName: maybe(someText),
  traceId: someId,
  parentId: maybe(someId),
  threadId: maybe(someId),
  turnId: maybe(someId),
  startedAt: micros,
  userId: someText,
  runId: maybe(someText),
  runStep: maybe(fc.integer()),
  attributes,
  bytes: fc.nat(),
  payload: pointer,
});
const start = fc.oneof(
  plainStart,
  plainStart.map((plain): StartHeader => ({ ...plain, isJudges: true })),
  fc
    .tuple(
      plainStart,
      fc.record({
        isRun: fc.boolean(),
        isPlain: fc.boolean(),
        hasRemoteParent: fc.boolean(),
        pauses: fc.boolean(),
        threadId: maybe(someId),
      }),
      fc.boolean(),
    )
    .map(([plain, span, isGiven]): StartHeader => {
      const user = plain.attributes['user.id'];
      const givenUser = isGiven && typeof user === 'string' ? user : null;
      return { ...plain, span: { ...span, givenUser } };
    }),
);

const count = fc.oneof(fc.nat({ max: 4 }), fc.nat(), fc.constantFrom(0.25, 2 ** 53));
const usageKey = fc.oneof(
  fc.constantFrom(
    'gpt-4o',
    'prompt_tokens',
    'completion_tokens',
    'completion_tokens_details',
    'total_tokens',
    'requests',
    'cached_tokens',
    '',
    '0',
    'constructor',
    'toString',
  ),
  fc.string().filter((key) => key !== '__proto__'),
);
/** Objects as a parser makes them. */
const plain = { noNullPrototype: true };
const usage: fc.Arbitrary<JsonObject | true> = fc.oneof(
  fc.constant(true as const),
  fc.dictionary(
    usageKey,
    fc.oneof(count, fc.string(), fc.constant(null), fc.dictionary(usageKey, count, plain)),
    plain,
  ),
  fc.constant<JsonObject>({ 'gpt-4o': { choices: [{ prompt_tokens: 1 }, []] } }),
);

const end: fc.Arbitrary<EndHeader> = fc.record({
  endedAt: micros,
  status: fc.constantFrom('success', 'error', 'descendant_error'),
  runStepEnd: maybe(fc.integer()),
  waited: fc.oneof(fc.constantFrom(null, true as const), fc.nat()),
  usage: maybe(usage),
  bytes: fc.nat(),
  payload: pointer,
});

const unpacked = (packed: Uint8Array, start: StartHeader | null = null): HeaderContent =>
  unpackHeader(packed, owner, start ? signedTimeBytes(start.startedAt) : new Uint8Array());

describe('a header', () => {
  it('is unpacked as it was packed, beside its sort key', () => {
    const earlyTraces = fc.option(fc.array(someId, { minLength: 1, maxLength: 3 }), { nil: undefined });
    fc.assert(
      fc.property(maybe(start), maybe(end), earlyTraces, (start, end, earlyTraces) => {
        const header = { start, end, ...(earlyTraces && { earlyTraces }) };
        expect(unpacked(packHeader(header, owner), start)).toEqual(header);
      }),
      { numRuns: runs(100, 1200) },
    );
  });

  it('is unpacked as it was packed when the end lies behind the start', () => {
    fc.assert(
      fc.property(start, end, (start, end) => {
        const { segment, offset, length } = start.payload;
        const payload = { ...end.payload, segment, offset: offset + length };
        const header = { start, end: { ...end, payload } };
        expect(unpacked(packHeader(header, owner), start)).toEqual(header);
      }),
    );
  });

  it.each<JsonObject>([
    { completion_tokens: { toString: 1 }, total_tokens: 5 },
    { completion_tokens: [{ toString: 1 }], total_tokens: 5 },
    { completion_tokens: '2', prompt_tokens: [3], total_tokens: 5 },
  ])('holds a usage whose tokens are no numbers: %j', (usage) => {
    const payload = { segment: null, offset: 0, length: 0 };
    const end: EndHeader = {
      endedAt: 0,
      status: 'success',
      runStepEnd: null,
      usage,
      waited: null,
      bytes: 0,
      payload,
    };
    const header = { start: null, end };
    expect(unpacked(packHeader(header, owner))).toEqual(header);
  });

  it('takes a small fraction of a write unit for a typical agent’s call', () => {
    const packed = packHeader(
      {
        start: {
          opName:
            'svc:///acme/airline/op/openai.chat.completions.create:67f95dda5b758eb910bd47a15db0418a3e79a8e474a',
          displayName: null,
          traceId: '01a0f4c3-0874-7424-a0b8-b998f728b4fa',
          parentId: '01a0f4c3-0874-7e3e-8297-4bcd6baa9456',
          threadId: 'airline-0-0',
          turnId: '01a0f4c3-0874-7e3e-8297-4bcd6baa9456',
          startedAt: 1790812817524762,
          userId: 'ada',
          runId: null,
          runStep: null,
          attributes: {},
          bytes: 7500,
          payload: { segment: '00aabbccddeeff00112233aabb', offset: 123456, length: 7000 },
        },
        end: null,
      },
      owner,
    );
    expect(packed.length).toBeLessThan(100);
  });

  it('stores a location that start and end share once, and common usage names as numbers', () => {
    const segment = '00aabbccddeeff00112233aabb';
    const together: EndHeader = {
      endedAt: 1790812817524762,
      status: 'success',
      runStepEnd: null,
      usage: { 'gpt-4o': { prompt_tokens: 1823, completion_tokens: 50, requests: 1, total_tokens: 1873 } },
      waited: null,
      bytes: 500,
      payload: { segment, offset: 7000, length: 400 },
    };
    const begun = fc.sample(start, { numRuns: 1, seed: 1 })[0];
    if (!begun) throw new Error('no start was made');
    const beside = { ...begun, payload: { segment, offset: 0, length: 7000 } };
    const bytes = (end: EndHeader | null) => packHeader({ start: beside, end }, owner).length;
    // What is left: the time, status and sizes, `gpt-4o` and four small numbers.
    expect(bytes(together) - bytes(null)).toBeLessThan(32);
    expect(unpacked(packHeader({ start: beside, end: together }, owner), beside).end).toEqual(together);
  });

  it('grows by what its attributes need, and by nothing without them', () => {
    const begun = fc.sample(start, { numRuns: 1, seed: 1 })[0];
    if (!begun) throw new Error('no start was made');
    const bytes = (attributes: StartAttributes) =>
      packHeader({ start: { ...begun, displayName: 'x', attributes }, end: null }, owner).length;
    expect(bytes({ kind: 'model' }) - bytes({})).toBe(2);
    const all = { 'user.id': 'ada', kind: 'tool', environment: 'production', release: '1.4.2' };
    expect(bytes(all) - bytes({})).toBe(1 + (2 + 3) + 1 + 1 + (2 + 5));
    expect(bytes({ ...all, 'tool.name': 'orders.lookup' }) - bytes(all)).toBe(1 + (2 + 13));
  });

  it('of another version is refused, not misread', () => {
    expect(() => unpacked(Uint8Array.of(4, 0))).toThrow('version 4');
    expect(() => unpacked(Uint8Array.of(2, 0))).toThrow('version 2');
  });

  it('that is damaged, or of a start without its sort key, is refused', () => {
    const [begun] = fc.sample(start, { numRuns: 1, seed: 1 });
    const packed = packHeader({ start: begun ?? null, end: null }, owner);
    const key = signedTimeBytes(0);
    expect(() => unpackHeader(packed.subarray(0, -1), owner, key)).toThrow('too early');
    expect(() => unpackHeader(Buffer.concat([packed, key]), owner, key)).toThrow('behind its end');
    expect(() => unpacked(packed)).toThrow('sort key');
  });
});

describe('what a header holds of attributes', () => {
  /** The attributes of a stored call, as its header has them. */
  const makeStart = (attributes: JsonObject): StartHeader => {
    const payload = { segment: null, offset: 0, length: 0 };
    const start: StartHeader = {
      opName: 'op',
      displayName: null,
      traceId: 't',
      parentId: null,
      threadId: null,
      turnId: null,
      startedAt: 1,
      userId: 'ada',
      runId: null,
      runStep: null,
      bytes: 0,
      payload,
      attributes: attributesForHeader(attributes),
    };
    const stored = unpackHeader(packHeader({ start, end: null }, owner), owner, signedTimeBytes(1)).start;
    if (!stored) throw new Error('no start was stored');
    return stored;
  };

  const toPath = (name: HeaderAttribute) => name.split('.');

  const anyText = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 140 }),
    fc.string({ unit: fc.constantFrom('a', '\ud83d', '\ude00', '\0'), maxLength: 8 }),
    fc.constantFrom('agent', 'production', '', 'x'.repeat(128), 'x'.repeat(129)),
  );
  const anyValue: fc.Arbitrary<JsonValue> = fc.oneof(
    anyText,
    fc.constantFrom<JsonValue>(null, true, 1, [], ['a'], {}, { id: 'u' }, { id: null }),
    fc.record({ id: anyText, name: anyText, version: anyText }, { requiredKeys: [], noNullPrototype: true }),
  );
  const sent: fc.Arbitrary<JsonObject> = fc.dictionary(
    fc.constantFrom(...new Set(headerAttributes.flatMap((name) => [name, ...name.split('.', 1)])), 'other'),
    anyValue,
    { noNullPrototype: true },
  );

  it('is what their paths lead to, or that the payload has it', () => {
    fc.assert(
      fc.property(sent, (attributes) => {
        const start = makeStart(attributes);
        for (const name of headerAttributes) {
          const held = start.attributes[name];
          const expected = valueAt(attributes, toPath(name));
          if (held === true) expect(expected).toBeDefined();
          else {
            expect(held).toEqual(expected);
            expect(pick(knownAttributes(start), [toPath(name)])).toEqual(pick(attributes, [toPath(name)]));
          }
        }
      }),
      { numRuns: runs(200, 3000) },
    );
  });

  it('is any well-formed text of at most 128 characters', () => {
    const held = (environment: JsonValue) => makeStart({ environment }).attributes.environment;
    for (const fits of ['', 'eu', '😀'.repeat(64), 'é'.repeat(128), 'a\0b']) expect(held(fits)).toBe(fits);
    for (const other of ['x'.repeat(129), '\ud83d', 7, true, [], {}]) expect(held(other)).toBe(true);
    expect(held(null)).toBeNull();
    expect(makeStart({}).attributes).toEqual({});
  });
});

describe('foldHeader', () => {
  const beside = fc.record({ part: fc.constant('S' as const), start, end: maybe(end) });
  const alone = fc.record({ part: fc.constant('E' as const), start: fc.constant(null), end });

  it('gives the same call for any order of its parts', () => {
    fc.assert(
      fc.property(beside, alone, (start, end) => {
        expect(foldHeader(owner, [end, start])).toEqual(foldHeader(owner, [start, end]));
      }),
    );
  });

  it('takes the end beside the start if there is one, else the end by itself', () => {
    fc.assert(
      fc.property(beside, alone, (start, end) => {
        const folded = foldHeader(owner, [end, start]);
        expect(folded?.end).toEqual(start.end ?? end.end);
        expect(folded?.endPart).toBe(start.end ? 'S' : 'E');
      }),
    );
  });

  it('returns null for a call without a start', () => {
    fc.assert(fc.property(end, (end) => foldHeader(owner, [{ part: 'E', start: null, end }]) === null));
  });
});
