import { encode } from '@msgpack/msgpack';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldHeader, packHeader, unpackHeader } from '../../../../../core/calls/codec/header.ts';
import type { EndHeader, PayloadPointer, StartHeader } from '../../../../../core/calls/model.ts';
import { isId, type JsonObject, type ProjectId, wireNames } from '../../../../../core/wire/index.ts';

const owner = {
  projectId: 'acme/airline' as ProjectId,
  id: '01a0f4c3-0874-7e3e-8297-4bcd6baa9455',
  names: wireNames('svc'),
};
const someId = fc.oneof(
  fc.uuid(),
  fc.constant(owner.id),
  fc.string({ minLength: 1, maxLength: 20 }).filter(isId),
);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const micros = fc.integer({ min: -9e15, max: 9e15 });

const pointer: fc.Arbitrary<PayloadPointer> = fc.record({
  segment: maybe(fc.stringMatching(/^0[01][0-9a-f]{24}$/)),
  offset: fc.nat(),
  length: fc.nat(),
});

const start: fc.Arbitrary<StartHeader> = fc.record({
  opName: fc.oneof(
    fc.constantFrom('svc:///acme/airline/op/agent.turn:0a8e', 'svc:///acme/air/op/x:1', 'plain'),
    fc.string({ minLength: 1 }).filter(isId),
  ),
  displayName: maybe(fc.string()),
  traceId: someId,
  parentId: maybe(someId),
  threadId: maybe(someId),
  turnId: maybe(someId),
  startedAt: micros,
  userId: fc.string(),
  runId: maybe(fc.string()),
  runStep: maybe(fc.integer()),
  bytes: fc.nat(),
  payload: pointer,
});

const count = fc.oneof(fc.nat(), fc.constantFrom(0.25, 2 ** 53));
const usageKey = fc.oneof(
  fc.constantFrom(
    'gpt-4o',
    'prompt_tokens',
    'completion_tokens_details',
    'cached_tokens',
    '',
    '0',
    'constructor',
  ),
  fc.string().filter((key) => key !== '__proto__'),
);
const usage: fc.Arbitrary<JsonObject | true> = fc.oneof(
  fc.constant(true as const),
  fc.dictionary(usageKey, fc.oneof(count, fc.string(), fc.constant(null), fc.dictionary(usageKey, count)), {
    noNullPrototype: true,
  }),
  fc.constant<JsonObject>({ 'gpt-4o': { choices: [{ prompt_tokens: 1 }, []] } }),
);

const end: fc.Arbitrary<EndHeader> = fc.record({
  endedAt: micros,
  status: fc.constantFrom('success', 'error', 'descendant_error'),
  runStepEnd: maybe(fc.integer()),
  usage: maybe(usage),
  bytes: fc.nat(),
  payload: pointer,
});

describe('a header', () => {
  it('is unpacked as it was packed', () => {
    fc.assert(
      fc.property(maybe(start), maybe(end), (start, end) => {
        expect(unpackHeader(packHeader({ start, end }, owner), owner)).toEqual({ start, end });
      }),
    );
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
          bytes: 7500,
          payload: { segment: '00aabbccddeeff00112233aabb', offset: 123456, length: 7000 },
        },
        end: null,
      },
      owner,
    );
    expect(packed.length).toBeLessThan(200);
  });

  it('stores a location that start and end share once, and common usage names as numbers', () => {
    const segment = '00aabbccddeeff00112233aabb';
    const together: EndHeader = {
      endedAt: 1790812817524762,
      status: 'success',
      runStepEnd: null,
      usage: { 'gpt-4o': { prompt_tokens: 1823, completion_tokens: 50, requests: 1, total_tokens: 1873 } },
      bytes: 500,
      payload: { segment, offset: 7000, length: 400 },
    };
    const begun = fc.sample(start, { numRuns: 1, seed: 1 })[0];
    if (!begun) throw new Error('no start was made');
    const beside = { ...begun, payload: { segment, offset: 0, length: 7000 } };
    const bytes = (end: EndHeader | null) => packHeader({ start: beside, end }, owner).length;
    // What is left: the time, status and sizes, `gpt-4o` and four small numbers.
    expect(bytes(together) - bytes(null)).toBeLessThan(45);
    expect(unpackHeader(packHeader({ start: beside, end: together }, owner), owner).end).toEqual(together);
  });

  it('of the previous version can still be read', () => {
    const usage = { 'gpt-4o': { prompt_tokens: 1 } };
    const segment = Buffer.alloc(13, 7);
    const end = [1790812817524762, 0, 500, segment, 12, 400, null, usage];
    expect(unpackHeader(encode([1, null, end]), owner).end).toEqual({
      endedAt: 1790812817524762,
      status: 'success',
      runStepEnd: null,
      usage,
      bytes: 500,
      payload: { segment: segment.toString('hex'), offset: 12, length: 400 },
    });
  });

  it('of a later version is refused, not misread', () => {
    expect(() => unpackHeader(Uint8Array.of(0x93, 3, 0xc0, 0xc0), owner)).toThrow('version 3');
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
