import type { ProjectId } from '../wire/index.ts';

/** Which calls are wanted: all fields are ANDed, the values of a list are ORed, null asks for nothing. */
export interface CallsFilter {
  /** Exact names, or `…:*` for every version of an op. */
  readonly opNames: readonly string[] | null;
  /** Refs that stand anywhere in the inputs, or prefixes of such that end with `:*`. */
  readonly inputRefs: readonly string[] | null;
  /** The same for the output. */
  readonly outputRefs: readonly string[] | null;
  readonly parentIds: readonly string[] | null;
  readonly traceIds: readonly string[] | null;
  readonly callIds: readonly string[] | null;
  readonly threadIds: readonly string[] | null;
  readonly turnIds: readonly string[] | null;
  /** Only calls without a parent. */
  readonly traceRootsOnly: boolean;
  readonly userIds: readonly string[] | null;
  readonly runIds: readonly string[] | null;
}

/** A filter that lets every call through. */
export const everyCall: CallsFilter = {
  opNames: null,
  inputRefs: null,
  outputRefs: null,
  parentIds: null,
  traceIds: null,
  callIds: null,
  threadIds: null,
  turnIds: null,
  traceRootsOnly: false,
  userIds: null,
  runIds: null,
};

/** Ascending is by `started_at`, then `id`; descending by `started_at` descending, then `id` ascending. */
export type Direction = 'ascending' | 'descending';

/** A query over the calls of one project, checked. */
export interface CallsQuery {
  readonly projectId: ProjectId;
  readonly filter: CallsFilter;
  /** The most calls to answer; null for all. */
  readonly limit: number | null;
  /** Calls to skip first. */
  readonly offset: number;
  readonly direction: Direction;
  /** Names and dotted paths; null for all columns. */
  readonly columns: readonly string[] | null;
}
