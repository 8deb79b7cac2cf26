import * as z from 'zod/mini';
import { documented, field, nullish, record, withDefault } from '../foundations/wire/schema.ts';
import { endpoint, longAnswer } from './endpoint.ts';
import {
  direction,
  filterText,
  micros,
  optionalSources,
  optionalTexts,
  project,
  slice,
  sortText,
  timestamp,
} from './fields.ts';

const percentile = (name: string) =>
  field(
    z.nullable(z.number()),
    `The ${name} of its finished turns, in milliseconds with fractions; null while none has finished.`,
  );

const thread = () =>
  z
    .object({
      thread_id: field(z.string(), "The thread's id."),
      turn_count: field(z.int(), 'Its turns, running ones included.'),
      start_time: field(timestamp, 'When its first turn started.'),
      last_updated: field(timestamp, 'The latest end of a turn. A running turn counts with its start.'),
      first_turn_id: field(z.string(), 'The turn with `start_time`.'),
      last_turn_id: field(z.string(), 'The turn with `last_updated`.'),
      p50_turn_duration_ms: percentile('median duration'),
      p99_turn_duration_ms: percentile('99th percentile of the durations'),
    })
    .register(documented, { name: 'Thread' });

/** A thread as it is answered. */
export type ThreadRow = z.output<ReturnType<typeof thread>>;

/** The names of its fields, in their order. */
export const threadFields = (): string[] => Object.keys(thread().shape);

/** The fields that threads can be sorted by. */
export const sortFields = [
  'thread_id',
  'turn_count',
  'start_time',
  'last_updated',
  'p50_turn_duration_ms',
  'p99_turn_duration_ms',
] as const;

const sortKey = z.strictObject({ field: field(z.enum(sortFields), 'What to sort by.'), direction });

/** One key of an order of threads. */
export interface ThreadSortKey {
  readonly field: (typeof sortFields)[number];
  readonly descending: boolean;
}

/** The order of keys. A field that comes again decides nothing. */
const toOrder = (keys: readonly z.output<typeof sortKey>[]): readonly ThreadSortKey[] =>
  [...Map.groupBy(keys, (key) => key.field).values()].flatMap(([key]) =>
    key ? [{ field: key.field, descending: key.direction === 'desc' }] : [],
  );

/** The order where none is asked for: what was updated last comes first. */
export const defaultSort: readonly ThreadSortKey[] = [{ field: 'last_updated', descending: true }];

const filter = () =>
  record(
    {
      after_datetime: field(nullish(micros), 'Threads whose `start_time` is later.'),
      before_datetime: field(nullish(micros), 'Threads whose `last_updated` is earlier.'),
      thread_ids: optionalTexts('These threads.'),
      sources: optionalSources(),
    },
    { after_datetime: 'after', before_datetime: 'before' },
  ).register(documented, { name: 'ThreadsQueryFilter' });

/** Which threads are wanted: all fields are ANDed, null asks for nothing. */
export type ThreadsFilter = z.output<ReturnType<typeof filter>>;

/** A filter that lets every thread through, with all of its turns. */
export const everyThread: ThreadsFilter = { after: null, before: null, threadIds: null, sources: null };

const threadsQuery = () =>
  record(
    {
      project_id: project,
      filter: field(withDefault(filter(), everyThread), filterText),
      ...slice,
      sort_by: field(
        z.pipe(
          nullish(z.array(sortKey)),
          z.transform((keys) => (keys?.length ? toOrder(keys) : defaultSort)),
        ),
        sortText,
      ),
    },
    { sort_by: 'sort' },
  );

/** A query over the threads of one project. Ties of its order fall back to `thread_id`, ascending. */
export type ThreadsQuery = z.output<ReturnType<typeof threadsQuery>>;

export const threadsStreamQuery = /* @__PURE__ */ endpoint({
  path: '/threads/stream_query',
  shape: longAnswer,
  stores: { calls: 'threads' },
  tag: 'threads',
  name: 'ThreadsQuery',
  summary: 'Query threads, as a stream',
  description:
    'The threads of a project, with statistics over their turns. A turn is a call with a `thread_id` whose `id` is its `turn_id`. Without `sort_by` threads come by `last_updated`, the latest first.',
  request: threadsQuery,
  answer: thread,
  form: 'records',
  examples: {
    october: {
      summary: 'Threads since October',
      body: {
        project_id: 'acme/shop',
        filter: { after_datetime: '2026-10-01T00:00:00Z' },
        sort_by: [{ field: 'start_time', direction: 'desc' }],
        limit: 20,
      },
      answer: {
        thread_id: 'chat-1',
        turn_count: 1,
        start_time: '2026-10-01T09:30:00.000001Z',
        last_updated: '2026-10-01T09:30:01.500001Z',
        first_turn_id: 'turn-1',
        last_turn_id: 'turn-1',
        p50_turn_duration_ms: 1500,
        p99_turn_duration_ms: 1500,
      },
    },
  },
});

/** The endpoints of this file. Their examples run in this order. */
export const threadRoutes = [threadsStreamQuery] as const;
