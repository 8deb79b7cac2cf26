import type { ProjectId } from '../../foundations/wire/index.ts';

/**
 * Which versions are wanted. Fields are ANDed, values of a list are ORed, null asks for nothing.
 */
export interface ObjectsFilter {
  readonly objectIds: readonly string[] | null;
  /** Only ops, or only what is none. */
  readonly isOp: boolean | null;
  /** Only the latest version of each object. */
  readonly latestOnly: boolean;
  readonly baseObjectClasses: readonly string[] | null;
  /** The classes of none of them, which only Weave's dialect has, as the next two. */
  readonly excludedClasses: readonly string[] | null;
  readonly tags: readonly string[] | null;
  /** `latest` is an alias of the latest version. */
  readonly aliases: readonly string[] | null;
}

/** A filter that lets every version through. */
export const everyVersion: ObjectsFilter = {
  objectIds: null,
  isOp: null,
  latestOnly: false,
  baseObjectClasses: null,
  excludedClasses: null,
  tags: null,
  aliases: null,
};

/** The fields that versions can be sorted by. */
export const sortFields = ['object_id', 'version_index', 'created_at'] as const;

/**
 * One key of an order. The next key decides what it leaves equal; at the end object id and version
 * index do.
 */
export interface SortKey {
  readonly field: (typeof sortFields)[number];
  readonly direction: 'asc' | 'desc';
}

/** A query over the objects of one project, checked. */
export interface ObjectsQuery {
  readonly projectId: ProjectId;
  readonly filter: ObjectsFilter;
  /** The most versions to answer; null for all. */
  readonly limit: number | null;
  /** Versions to skip first. */
  readonly offset: number;
  readonly sortBy: readonly SortKey[];
  /** Whether values are left alone. */
  readonly metadataOnly: boolean;
  /** Whether tags and aliases are answered, which only Weave's dialect has. @default false */
  readonly withLabels?: boolean;
  /** Whether the bytes of values are answered, which only Weave's dialect has. @default false */
  readonly withSizes?: boolean;
}
