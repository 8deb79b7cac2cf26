import { isId } from '../wire/index.ts';
import type { ThreadsQuery } from './request.ts';

/** Where a query's turns are looked for, in `by_thread`. */
export type Source =
  /** Nowhere: an empty list, or the limit is 0. */
  | { readonly kind: 'nothing' }
  /** In the ranges of these threads. */
  | { readonly kind: 'threads'; readonly ids: readonly string[] }
  /** Everywhere in the project. */
  | { readonly kind: 'project' };

/** How a query over threads is going to be answered: plain data, logged with the request. */
export interface Plan {
  readonly source: Source;
  /**
   * How the order comes about: as the index has it, which is by `thread_id`, or by sorting what has
   * been computed.
   */
  readonly order: 'free' | 'sort';
  /** Whether the index is read from its last thread on. */
  readonly descending: boolean;
  readonly offset: number;
  readonly limit: number | null;
}

/** Plans a query over threads. Pure: what is going to be read is known before anything is. */
export const plan = ({ filter: { threadIds }, limit, offset, sort: [first] }: ThreadsQuery): Plan => {
  // What can be no id is none of any thread.
  const ids = threadIds && [...new Set(threadIds)].filter(isId);
  const isFree = first?.field === 'thread_id';
  return {
    source:
      limit === 0 || ids?.length === 0
        ? { kind: 'nothing' }
        : ids
          ? { kind: 'threads', ids }
          : { kind: 'project' },
    order: isFree ? 'free' : 'sort',
    descending: isFree && first.descending,
    offset,
    limit,
  };
};

/** A plan in a form to be logged: threads that are looked up are counted, not listed. */
export const planSummary = ({ source, ...rest }: Plan): Readonly<Record<string, unknown>> => ({
  source: source.kind === 'threads' ? `${source.ids.length} threads` : source.kind,
  ...rest,
});
