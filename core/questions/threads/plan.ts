import type { ThreadsQuery } from '../../../api/threads.ts';
import type { Order, Slice } from '../../../foundations/listing/index.ts';
import { isId } from '../../../foundations/wire/index.ts';

/** Where in `by_thread` a query looks for turns. */
type Source =
  /** Nowhere: the list is empty, or the limit is 0. */
  | { readonly kind: 'nothing' }
  /** In the ranges of these threads. */
  | { readonly kind: 'threads'; readonly ids: readonly string[] }
  /** Everywhere in the project. */
  | { readonly kind: 'project' };

/** How a query over threads is going to be answered: plain data, logged with the request. */
export interface Plan extends Slice {
  readonly source: Source;
  /** How the order comes about: the index is in order of `thread_id`. */
  readonly order: Order;
  /** Whether the index is read from its last thread on. */
  readonly descending: boolean;
}

/** Plans a query over threads. Pure: what has to be read is known before anything is. */
export const plan = ({ filter: { threadIds }, limit, offset, sort: [first] }: ThreadsQuery): Plan => {
  // No thread has what cannot be an id.
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

/** A plan as it is logged: threads that are looked up are counted, not listed. */
export const planSummary = ({ source, ...rest }: Plan): Readonly<Record<string, unknown>> => ({
  source: source.kind === 'threads' ? `${source.ids.length} threads` : source.kind,
  ...rest,
});
