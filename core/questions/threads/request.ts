import type { Micros, ProjectId } from '../../foundations/wire/index.ts';

/** Which threads are wanted: all fields are ANDed, null asks for nothing. */
export interface ThreadsFilter {
  /** Only threads that started later. */
  readonly after: Micros | null;
  /** Only threads that were last updated earlier. */
  readonly before: Micros | null;
  /** Only these; an empty list matches none. */
  readonly threadIds: readonly string[] | null;
}

/** A filter that lets every thread through. */
export const everyThread: ThreadsFilter = { after: null, before: null, threadIds: null };

/** The fields that threads can be sorted by. */
export const sortFields = [
  'thread_id',
  'turn_count',
  'start_time',
  'last_updated',
  'p50_turn_duration_ms',
  'p99_turn_duration_ms',
] as const;

/** One key of an order of threads. */
export interface ThreadSortKey {
  readonly field: (typeof sortFields)[number];
  readonly descending: boolean;
}

/** The order where none is asked for: what was updated last comes first. */
export const defaultSort: readonly ThreadSortKey[] = [{ field: 'last_updated', descending: true }];

/** A query over the threads of one project, checked. */
export interface ThreadsQuery {
  readonly projectId: ProjectId;
  readonly filter: ThreadsFilter;
  /** The most threads to answer; null for all. */
  readonly limit: number | null;
  /** Threads to skip first. */
  readonly offset: number;
  /** The order, each field once at most; ties fall back to `thread_id`, ascending. */
  readonly sort: readonly ThreadSortKey[];
}
