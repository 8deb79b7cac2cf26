import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EndHeader, StartHeader } from '../../../../../core/records/calls/index.ts';
import { findEnd } from '../../../../../core/workers/events/ended.ts';
import { maxDetailBytes, withFitting } from '../../../../../core/workers/events/events.ts';
import type { CallChange, CallItem, ItemChange } from '../../../../../core/workers/streams.ts';
import type { JsonObject, ProjectId } from '../../../../../foundations/wire/index.ts';

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
  attributes: {},
  bytes: 10,
  payload: { segment: 'aa', offset: 0, length: 1 },
};
const end: EndHeader = {
  endedAt: 2,
  status: 'success',
  runStepEnd: null,
  usage: null,
  waited: null,
  bytes: 10,
  payload: { segment: 'aa', offset: 1, length: 1 },
};
const elsewhere: EndHeader = { ...end, payload: { segment: 'bb', offset: 0, length: 1 } };
const other: EndHeader = { ...end, endedAt: 3 };

const item = (part: 'S' | 'E', fields: Partial<CallItem>): CallItem => ({
  id: 'c',
  part,
  start: null,
  end: null,
  inline: undefined,
  isIndexed: true,
  ...fields,
});
const change = (part: 'S' | 'E', before: Partial<CallItem> | null, after: Partial<CallItem> | null) =>
  findEnd({
    projectId: 'acme/shop' as ProjectId,
    id: 'c',
    part,
    change: {} as ItemChange,
    before: before ? item(part, before) : undefined,
    after: after ? item(part, after) : undefined,
  } satisfies CallChange).kind;

describe('a change of a start', () => {
  it.each([
    ['came with its end', null, { start, end }, 'whole'],
    ['got an end', { start }, { start, end }, 'whole'],
    ['got another end', { start, end }, { start, end: other }, 'whole'],
    ['took the place that was kept for it, with an end', {}, { start, end }, 'whole'],
    ['took the place that was kept for it, alone', {}, { start }, 'half'],
    ['came alone', null, { start }, 'nothing'],
    ['was renamed', { start, end }, { start: { ...start, displayName: 'x' }, end }, 'nothing'],
    ['was repeated with its payload elsewhere', { start, end }, { start, end: elsewhere }, 'nothing'],
    ['was replaced, alone', { start }, { start: { ...start, opName: 'x' } }, 'nothing'],
    ['lost its end to one that came by itself', { start, end }, { start }, 'nothing'],
    ['is a kept place', null, {}, 'nothing'],
    ['is gone', { start, end }, null, 'nothing'],
  ])('that %s', (_, before, after, kind) => {
    expect(change('S', before, after)).toBe(kind);
  });
});

describe('a change of an end by itself', () => {
  it.each([
    ['came', null, { end }, 'half'],
    ['was replaced by another', { end }, { end: other }, 'half'],
    ['is indexed now, though its fields are the same', { end, isIndexed: false }, { end }, 'half'],
    ['was repeated with its payload elsewhere', { end }, { end: elsewhere }, 'nothing'],
    ['is gone', { end }, null, 'nothing'],
  ])('that %s', (_, before, after, kind) => {
    expect(change('E', before, after)).toBe(kind);
  });
});

const getSize = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

describe('a detail', () => {
  it('has fields that fit as they are', () => {
    expect(withFitting({ id: 'a' }, { inputs: { n: 1 }, output: null })).toEqual({
      id: 'a',
      inputs: { n: 1 },
      output: null,
    });
  });

  it('has the beginning of a field that does not fit, and says so', () => {
    const big = { text: '"'.repeat(maxDetailBytes) };
    const detail = withFitting({ id: 'a' }, { inputs: big, output: 'short' });
    expect(detail).toMatchObject({ id: 'a', output: 'short', cut: ['inputs'] });
    expect(JSON.stringify(big).startsWith(String(detail.inputs))).toBe(true);
    expect(getSize(detail)).toBeGreaterThan(maxDetailBytes / 3);
  });

  it('never has more bytes than the bus takes', () => {
    const text = fc.tuple(fc.constantFrom('a', '"', 'é', '🙂', '\n'), fc.nat(200_000));
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), (texts) => {
        const fields: JsonObject = Object.fromEntries(
          texts.map(([letter, times], at) => [`field${at}`, letter.repeat(times)]),
        );
        expect(getSize(withFitting({ id: 'a' }, fields))).toBeLessThanOrEqual(maxDetailBytes);
      }),
      { numRuns: 20 },
    );
  });
});
