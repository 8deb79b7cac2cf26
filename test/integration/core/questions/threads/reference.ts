import fc from 'fast-check';
import type { sortFields } from '../../../../../api/threads.ts';
import { compareText } from '../../../../../foundations/expression/index.ts';
import { formatTime, type JsonObject, parseTime } from '../../../../../foundations/wire/index.ts';
import { makeEnd, makeStart } from '../../../../support/values/calls.ts';

/*
 * What threads are by the letter of their description, computed the plain way: from the list of all
 * calls, with everything in memory.
 */

/**
 * A call as it is in the end, and how it was reported. Times are microseconds after an hour that
 * all have in common.
 */
export interface Reported {
  readonly id: string;
  readonly threadId: string | null;
  /** `turn`, or nested with the turn of another call, or none. */
  readonly role: 'turn' | 'nested' | 'without a turn';
  readonly startedAt: number;
  /** Null for a call that is running. */
  readonly endedAt: number | null;
  readonly way: (typeof ways)[number];
}

const ways = [
  'together',
  'apart',
  'end first',
  'apart, twice',
  'moved to another time',
  'moved to another thread',
  'made a turn, or none',
  'end alone',
] as const;

const long = '日'.repeat(100);
const threadIds = ['a', 'b', 'ab', 'B', '\uffff', '😀', `${long}x`, `${long}y`, 'b c', null];

/** Any call of a few threads. */
export const anyReported: fc.Arbitrary<Reported> = fc
  .record({
    id: fc.uuid(),
    threadId: fc.constantFrom(...threadIds),
    role: fc.constantFrom('turn' as const, 'turn' as const, 'nested' as const, 'without a turn' as const),
    startedAt: fc.nat(20_000),
    // Few different ones, so that they are often the same.
    duration: fc.option(fc.oneof(fc.constantFrom(0, 1, 1000, 1500), fc.nat(5_000_000))),
    way: fc.constantFrom(...ways),
  })
  .map(({ duration, ...call }) => ({
    ...call,
    endedAt: duration === null ? null : call.startedAt + duration,
  }));

const hour = parseTime('2026-10-01T09:00:00Z') ?? 0;
const toTime = (micros: number): string => formatTime(hour + micros);

const getTurnId = ({ id, role }: Pick<Reported, 'id' | 'role'>): string | null =>
  role === 'turn' ? id : role === 'nested' ? 'another' : null;

/** The requests, one after the other, that report calls in their ways. */
export const toRequests = (calls: readonly Reported[], project_id: string): object[][] => {
  const requests: object[][] = [[], [], []];
  for (const call of calls)
    for (const [i, step] of toSteps(call, project_id).entries()) requests[i]?.push(...step);
  return requests.filter((request) => request.length > 0);
};

const toSteps = (call: Reported, project_id: string): object[][] => {
  const { id, threadId, startedAt, endedAt, role } = call;
  const start = (changes: object = {}) =>
    makeStart({
      project_id,
      id,
      thread_id: threadId,
      turn_id: getTurnId(call),
      started_at: toTime(startedAt),
      ...changes,
    });
  const ends = endedAt === null ? [] : [makeEnd({ project_id, id, ended_at: toTime(endedAt) })];
  switch (call.way) {
    case 'together':
      return [[start(), ...ends]];
    case 'apart':
      return [[start()], ends];
    case 'end first':
      return [ends, [start()]];
    case 'apart, twice':
      return [[start()], ends, [start(), ...ends]];
    case 'moved to another time':
      return [[start({ started_at: toTime(startedAt + 7) })], ends, [start()]];
    case 'moved to another thread':
      return [[start({ thread_id: threadId === 'a' ? 'ab' : 'a' })], ends, [start()]];
    case 'made a turn, or none':
      return [[start({ turn_id: role === 'turn' ? null : id })], ends, [start()]];
    case 'end alone':
      return [ends];
  }
};

/** One item of `sort_by`. */
export interface WireSortKey {
  readonly field: (typeof sortFields)[number];
  readonly direction: 'asc' | 'desc';
}

/** A request's body, as far as the reference knows it. */
export interface ThreadsBody {
  readonly project_id: string;
  readonly filter?: {
    readonly after_datetime: string | null;
    readonly before_datetime: string | null;
    readonly thread_ids: readonly string[] | null;
  } | null;
  readonly sort_by?: readonly WireSortKey[] | null;
  readonly limit?: number | null;
  readonly offset?: number | null;
}

/** Times in their wire form compare as they are. */
type Thread = Record<WireSortKey['field'], string | number | null>;

/** The threads that a query is to give. */
export const naiveThreads = (calls: readonly Reported[], body: ThreadsBody): JsonObject[] => {
  const { filter, sort_by, limit, offset } = body;
  const turns = calls.filter(
    ({ role, way, threadId }) => role === 'turn' && way !== 'end alone' && threadId !== null,
  );
  const threads = [...Map.groupBy(turns, ({ threadId }) => String(threadId))].map(naiveThread);
  const { after_datetime: after, before_datetime: before, thread_ids: ids } = filter ?? {};
  const kept = threads.filter(
    (thread) =>
      (!after || thread.start_time > after) &&
      (!before || thread.last_updated < before) &&
      (!ids || ids.includes(thread.thread_id)),
  );
  const keys = sort_by?.length ? sort_by : [{ field: 'last_updated', direction: 'desc' } as const];
  kept.sort((a, b) => compareBy(keys, a, b) || compareText(a.thread_id, b.thread_id));
  const from = offset ?? 0;
  return kept.slice(from, typeof limit === 'number' ? from + limit : undefined);
};

const compareBy = (keys: readonly WireSortKey[], a: Thread, b: Thread): number => {
  for (const { field, direction } of keys) {
    const x = a[field];
    const y = b[field];
    if (x === y) continue;
    if (x === null || y === null) return x === null ? 1 : -1;
    const order = typeof x === 'string' ? compareText(x, String(y)) : x - Number(y);
    return direction === 'asc' ? order : -order;
  }
  return 0;
};

const naiveThread = ([thread_id, turns]: [string, Reported[]]) => {
  const last = ({ endedAt, startedAt }: Reported) => endedAt ?? startedAt;
  const byStart = turns.toSorted((a, b) => a.startedAt - b.startedAt || compareText(a.id, b.id));
  const byLast = byStart.toSorted((a, b) => last(a) - last(b));
  const [first, latest] = [byStart[0], byLast.at(-1)] as [Reported, Reported];
  const durations = turns
    .flatMap(({ startedAt, endedAt }) => (endedAt === null ? [] : [BigInt(endedAt - startedAt)]))
    .sort((a, b) => Number(a - b));
  return {
    thread_id,
    turn_count: turns.length,
    start_time: toTime(first.startedAt),
    last_updated: toTime(last(latest)),
    first_turn_id: first.id,
    last_turn_id: latest.id,
    p50_turn_duration_ms: naivePercentile(durations, 50n),
    p99_turn_duration_ms: naivePercentile(durations, 99n),
  };
};

/**
 * In milliseconds: the weighted mean of the two values around the rank, in whole hundredths of a
 * microsecond.
 */
const naivePercentile = (durations: readonly bigint[], percent: bigint): number | null => {
  if (durations.length === 0) return null;
  const hundredths = percent * BigInt(durations.length - 1);
  const at = Number(hundredths / 100n);
  const weight = hundredths % 100n;
  const low = durations[at] ?? 0n;
  const high = durations[at + 1] ?? 0n;
  return Number(low * (100n - weight) + high * weight) / 100_000;
};
