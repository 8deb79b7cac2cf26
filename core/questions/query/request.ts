import type { Expression, FieldPath, SortKey } from '../../foundations/expression/index.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';

/** Which calls are wanted. Fields are ANDed, values of a list are ORed, null asks for nothing. */
export interface CallsFilter {
  /** Exact names, or `…:*` for every version of an op. */
  readonly opNames: readonly string[] | null;
  /** Refs anywhere in the inputs; a text that ends with `:*` is a prefix of a ref. */
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

/** What is asked for beyond what is stored of a call. */
export interface Includes {
  /** `summary.svc.costs` */
  readonly costs: boolean;
  /** `summary.svc.feedback` */
  readonly feedback: boolean;
  /** `storage_size_bytes` */
  readonly storageSize: boolean;
  /** `total_storage_size_bytes` */
  readonly totalStorageSize: boolean;
}

/** Nothing beyond what is stored. */
export const noIncludes: Includes = {
  costs: false,
  feedback: false,
  storageSize: false,
  totalStorageSize: false,
};

/** Which calls of a project are meant, checked. */
export interface CallsSelection {
  readonly projectId: ProjectId;
  readonly filter: CallsFilter;
  /** What must hold of a call in addition to the filter; null for nothing. */
  readonly where: Expression | null;
  /** The most calls to answer; null for all. */
  readonly limit: number | null;
  readonly includes: Includes;
  /** The paths at which refs are replaced by what they lead to. @default - none */
  readonly expand?: readonly FieldPath[];
}

/** A query over the calls of one project, checked. */
export interface CallsQuery extends CallsSelection {
  /** Calls to skip first. */
  readonly offset: number;
  /** The order. Ties are in order of `started_at`, then `id`, both ascending. */
  readonly sort: readonly SortKey[];
  /** Names and dotted paths; null for all columns. */
  readonly columns: readonly string[] | null;
  readonly expand: readonly FieldPath[];
  /** Whether the answer shows what refs lead to. Filter and order go by it in any case. */
  readonly returnExpanded: boolean;
  /**
   * Whether users are named beside their ids, which are their names here. @default - they are not
   */
  readonly usernames?: boolean;
}
