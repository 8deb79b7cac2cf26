import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  callKey,
  getSortKey,
  type IndexedCall,
  readCallId,
  segmentKey,
  threadKeys,
  threadRange,
  timeKeys,
  timeRange,
  traceKeys,
} from '../../../../../core/records/calls/items.ts';
import { orderedByDigest } from '../../../../../foundations/encoding/index.ts';
import { compareText } from '../../../../../foundations/expression/index.ts';
import { isId, type ProjectId } from '../../../../../foundations/wire/index.ts';
import { anyCharacter } from '../../../../support/values/arbitraries/character.ts';

const project = 'acme/airline' as ProjectId;
const ids = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 60 }).filter(isId);
/** Ids so long that keys hold a digest of them, many with a common beginning. */
const longIds = fc
  .tuple(
    fc.constantFrom('日'.repeat(90), '😀'.repeat(70), ''),
    fc.string({ unit: 'grapheme', minLength: 100, maxLength: 120 }),
  )
  .map(([head, tail]) => head + tail)
  .filter(isId);
const anyId = fc.oneof(ids, fc.uuid(), fc.stringMatching(/^[a-c]{1,3}$/));
const anyLength = fc.oneof(anyId, longIds);
const micros = fc.integer({ min: -9e15, max: 9e15 });

const place = (changes: Partial<IndexedCall>): IndexedCall => ({
  projectId: project,
  id: 'call',
  startedAt: 0,
  traceId: 'trace',
  parentId: null,
  threadId: null,
  turnId: null,
  ...changes,
});

describe('the keys of the calls table', () => {
  it('give the id back', () => {
    fc.assert(fc.property(anyLength, (id) => readCallId(project, callKey(project, id)) === id));
  });

  it('order threads by id unless a digest decides', () => {
    const toKey = (threadId: string) => threadKeys({ ...place({}), threadId }, 'S', 4).hs;
    fc.assert(
      fc.property(anyLength, anyLength, (a, b) => {
        if (a !== b && orderedByDigest(a, b)) return;
        expect(Math.sign(Buffer.compare(toKey(a), toKey(b)))).toBe(Math.sign(compareText(a, b)));
      }),
    );
  });

  it('never coincide for different calls, or for a call and a segment', () => {
    const projects = fc.constantFrom('a/b', 'a/b.c', 'a/bb', 'aa/b').map((text) => text as ProjectId);
    const key = fc.tuple(projects, anyLength);
    fc.assert(
      fc.property(key, key, (a, b) => {
        const same = callKey(...a).equals(callKey(...b));
        expect(same).toBe(a[0] === b[0] && a[1] === b[1]);
        expect(callKey(...a).equals(segmentKey(b[0], '00aabb'))).toBe(false);
      }),
    );
  });

  it('order rows in time by started_at, then by id in code points', () => {
    fc.assert(
      fc.property(fc.tuple(micros, anyId), fc.tuple(micros, anyId), ([timeA, a], [timeB, b]) => {
        const key = (startedAt: number, id: string) => timeKeys(place({ startedAt, id }), 'S', 4).ts;
        const order = timeA - timeB || compareText(a, b);
        expect(Math.sign(Buffer.compare(key(timeA, a), key(timeB, b)))).toBe(Math.sign(order));
      }),
    );
  });

  it('place the end of a call next to its start, whatever ids come between', () => {
    fc.assert(
      fc.property(micros, anyLength, anyLength, (startedAt, id, other) => {
        fc.pre(id !== other);
        const key = (callId: string, part: 'S' | 'E') =>
          timeKeys(place({ startedAt, id: callId }), part, 4).ts;
        const between = key(other, 'S');
        const end = key(id, 'E');
        const start = key(id, 'S');
        expect(Buffer.compare(end, between) < 0 && Buffer.compare(between, start) < 0).toBe(false);
      }),
    );
  });

  it('fit DynamoDB’s limits even with the longest ids', () => {
    const longest = '😀'.repeat(256);
    const call = {
      ...place({ id: longest, traceId: longest, threadId: longest, turnId: longest }),
      threadId: longest,
    };
    expect(threadKeys(call, 'S', 4).hs.length).toBeLessThanOrEqual(1024);
    expect(timeKeys(call, 'S', 4).ts.length).toBeLessThanOrEqual(1024);
    const maxProject = `${'x'.repeat(128)}/${'y'.repeat(128)}` as ProjectId;
    expect(traceKeys({ ...call, projectId: maxProject }).rk.length).toBeLessThanOrEqual(2048);
    expect(callKey(maxProject, longest).length).toBeLessThanOrEqual(2048);
  });

  it('have the same time-ordered part in a thread as in the project', () => {
    fc.assert(
      fc.property(micros, anyLength, (startedAt, threadId) => {
        const call = { ...place({ startedAt, threadId }), threadId };
        const { hs } = threadKeys(call, 'S', 4);
        expect(Buffer.compare(getSortKey({ hs }), timeKeys(call, 'S', 4).ts)).toBe(0);
      }),
    );
  });

  it('lie in the ranges that include them and in no others', () => {
    fc.assert(
      fc.property(micros, micros, micros, anyId, (startedAt, a, b, id) => {
        const from = Math.min(a, b);
        const to = Math.max(a, b);
        const [, low, high] = timeRange(project, 'roots', 0, { from, to }).sort ?? [];
        const { ts } = timeKeys(place({ startedAt, id }), 'S', 1);
        const within = Buffer.compare(low ?? ts, ts) <= 0 && Buffer.compare(ts, high ?? ts) <= 0;
        expect(within).toBe(from <= startedAt && startedAt <= to);
      }),
    );
  });

  it('separate threads whose names start alike', () => {
    fc.assert(
      fc.property(anyLength, anyLength, micros, (thread, other, startedAt) => {
        const [, low, high] = threadRange(project, thread, false, 0, {}).sort ?? [];
        const { hs } = threadKeys({ ...place({ startedAt, threadId: other }), threadId: other }, 'S', 1);
        const within = Buffer.compare(low ?? hs, hs) <= 0 && Buffer.compare(hs, high ?? hs) <= 0;
        expect(within).toBe(thread === other);
      }),
    );
  });
});
