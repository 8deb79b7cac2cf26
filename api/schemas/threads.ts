import * as z from 'zod/mini';
import { parseTime } from '../../core/foundations/wire/index.ts';
import { count, documented, nullish, projectId, time } from '../../core/foundations/wire/schema.ts';
import {
  defaultSort,
  everyThread,
  sortFields,
  type ThreadSortKey,
  type ThreadsFilter,
  type ThreadsQuery,
} from '../../core/questions/threads/request.ts';

const micros = z.pipe(
  time,
  z.transform((text) => parseTime(text) ?? 0),
);

const filterSchema = z
  .pipe(
    z.strictObject({
      after_datetime: nullish(micros),
      before_datetime: nullish(micros),
      thread_ids: nullish(z.array(z.string())),
    }),
    z.transform(
      (filter): ThreadsFilter => ({
        after: filter.after_datetime ?? null,
        before: filter.before_datetime ?? null,
        threadIds: filter.thread_ids ?? null,
      }),
    ),
  )
  .register(documented, { name: 'ThreadsQueryFilter' });

const sortSchema = z.pipe(
  z.array(z.strictObject({ field: z.enum(sortFields), direction: z.enum(['asc', 'desc']) })),
  z.transform((keys): ThreadSortKey[] => {
    const byField = new Map<string, ThreadSortKey>();
    // A field that comes again decides nothing.
    for (const { field, direction } of keys)
      if (!byField.has(field)) byField.set(field, { field, descending: direction === 'desc' });
    return [...byField.values()];
  }),
);

/** The body of `/threads/stream_query`. */
export const threadsQueryBody = z.pipe(
  z.strictObject({
    project_id: projectId,
    filter: nullish(filterSchema),
    limit: nullish(count),
    offset: nullish(count),
    sort_by: nullish(sortSchema),
  }),
  z.transform(
    (body): ThreadsQuery => ({
      projectId: body.project_id,
      filter: body.filter ?? everyThread,
      limit: body.limit ?? null,
      offset: body.offset ?? 0,
      sort: body.sort_by?.length ? body.sort_by : defaultSort,
    }),
  ),
);
