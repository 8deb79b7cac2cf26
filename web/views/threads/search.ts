import { textOf, timeOf } from '../../data/search-values.ts';
import { isRange, type Range } from '../traces/search.ts';

/** What the list can be sorted by. */
export const fields = [
  'thread_id',
  'turn_count',
  'start_time',
  'last_updated',
  'p50_turn_duration_ms',
  'p99_turn_duration_ms',
] as const;

export type Field = (typeof fields)[number];

/** The state of the list of threads, as the URL has it. */
export interface ThreadsSearch {
  readonly project: string;
  /** Threads that began in the last hour, day, …. @default - all time */
  readonly range?: Range;
  /** Threads that began after the first and were updated before the second: ISO 8601. */
  readonly from?: string;
  readonly to?: string;
  /** The thread of this id alone. */
  readonly id?: string;
  /** A field, with `-` before it for descending. @default -last_updated */
  readonly sort?: string;
}

/** The field and the direction of an order; the newest first for one that is not known. */
export const orderOf = (sort: string | undefined): { field: Field; direction: 'asc' | 'desc' } => {
  const name = sort?.replace(/^-/, '');
  const field = fields.find((each) => each === name);
  if (!field) return { field: 'last_updated', direction: 'desc' };
  return { field, direction: sort?.startsWith('-') ? 'desc' : 'asc' };
};

/** Reads the state from a URL. What is not understood is dropped. */
export const parseThreadsSearch = (search: Record<string, unknown>): ThreadsSearch => {
  const [from, to, id, sort] = [
    timeOf(search.from),
    timeOf(search.to),
    textOf(search.id),
    textOf(search.sort),
  ];
  return {
    project: textOf(search.project) ?? '',
    ...(isRange(search.range) && { range: search.range }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(id !== undefined && id !== '' && { id }),
    ...(sort !== undefined && { sort }),
  };
};
