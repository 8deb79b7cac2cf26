import { encode } from '@msgpack/msgpack';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldHeader, packHeader, unpackHeader } from '../../../core/calls/header.ts';
import type { EndHeader, PayloadPointer, StartHeader } from '../../../core/calls/model.ts';
import { isId, type ProjectId } from '../../../core/wire/index.ts';

const owner = {
  projectId: 'acme/airline' as ProjectId,
  id: '01a0f4c3-0874-7e3e-8297-4bcd6baa9455',
  service: 'svc',
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

const end: fc.Arbitrary<EndHeader> = fc.record({
  endedAt: micros,
  status: fc.constantFrom('success', 'error', 'descendant_error'),
  runStepEnd: maybe(fc.integer()),
  usage: maybe(
    fc.constantFrom(
      { 'gpt-4o': { prompt_tokens: 1592, cost: 0.25 } },
      { prompt_tokens: { total_tokens: [{ requests: 1 }] }, other: null },
    ),
  ),
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

  const modelCall: StartHeader = {
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
  };
  const usage = { prompt_tokens: 1592, completion_tokens: 31, requests: 1, total_tokens: 1623 };
  const modelEnd: EndHeader = {
    endedAt: 1790812820392875,
    status: 'success',
    runStepEnd: null,
    usage: { 'gpt-4o': usage },
    bytes: 600,
    payload: { segment: '00aabbccddeeff00112233aabb', offset: 130456, length: 500 },
  };

  it('takes a small part of a write unit for a call as agents make them', () => {
    expect(packHeader({ start: modelCall, end: null }, owner).length).toBeLessThan(200);
    expect(packHeader({ start: modelCall, end: modelEnd }, owner).length).toBeLessThan(240);
  });

  it('has a segment once where start and end lie in the same one', () => {
    const elsewhere = {
      ...modelEnd,
      payload: { ...modelEnd.payload, segment: '00aabbccddeeff00112233aabc' },
    };
    const sizes = [modelEnd, elsewhere].map((end) => packHeader({ start: modelCall, end }, owner).length);
    expect(sizes[0]).toBe((sizes[1] ?? 0) - 14);
  });

  it('of the first version is still read', () => {
    const segment = Buffer.from('00aabbccddeeff00112233aabb', 'hex');
    const packedStart = ['plain', 1_000_000, null, 0, null, null, 'ada', 7500, segment, 0, 7000];
    const packedEnd = [2_000_000, 0, 600, segment, 7000, 500, null, { m: { '\u0001': 5 } }];
    expect(unpackHeader(encode([1, packedStart, packedEnd]), owner)).toMatchObject({
      start: { opName: 'plain', traceId: owner.id, payload: { segment: segment.toString('hex') } },
      end: { usage: { m: { '\u0001': 5 } }, payload: { segment: segment.toString('hex'), offset: 7000 } },
    });
  });

  it('of a version to come is refused, not misread', () => {
    expect(() => unpackHeader(Uint8Array.of(0x93, 3, 0xc0, 0xc0), owner)).toThrow('version 3');
  });
});

describe('foldHeader', () => {
  const beside = fc.record({ part: fc.constant('S' as const), start, end: maybe(end) });
  const alone = fc.record({ part: fc.constant('E' as const), start: fc.constant(null), end });

  it('gives the same call whatever the order of its parts', () => {
    fc.assert(
      fc.property(beside, alone, (start, end) => {
        expect(foldHeader(owner, [end, start])).toEqual(foldHeader(owner, [start, end]));
      }),
    );
  });

  it('takes the end beside the start where there is one, else the one that came by itself', () => {
    fc.assert(
      fc.property(beside, alone, (start, end) => {
        const folded = foldHeader(owner, [end, start]);
        expect(folded?.end).toEqual(start.end ?? end.end);
        expect(folded?.endPart).toBe(start.end ? 'S' : 'E');
      }),
    );
  });

  it('shows nothing of a call without a start', () => {
    fc.assert(fc.property(end, (end) => foldHeader(owner, [{ part: 'E', start: null, end }]) === null));
  });
});
