import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Thread, ThreadsQueryReq } from '../../api/types.ts';
import { useSession } from '../../session/session.tsx';
import { ranges } from '../traces/search.ts';
import { orderOf, type ThreadsSearch } from './search.ts';

/** How many threads are asked for at once. */
const pageSize = 100;

/**
 * The request of the list, without bounds to a page of it.
 *
 * @param now milliseconds since 1970, which the range ends at
 */
export const requestOf = (search: ThreadsSearch, now: number): ThreadsQueryReq => {
  const { project, range, from, to, id, sort } = search;
  const after = range ? new Date(now - ranges[range] * 60_000).toISOString() : from;
  const before = range ? undefined : to;
  return {
    project_id: project,
    filter: {
      ...(after && { after_datetime: after }),
      ...(before && { before_datetime: before }),
      ...(id && { thread_ids: [id] }),
    },
    sort_by: [orderOf(sort)],
  };
};

/** The threads of a project, page by page. */
export const useThreads = (search: ThreadsSearch) => {
  const { client, me } = useSession();
  const [now, setNow] = useState(() => Date.now());
  const request = requestOf(search, now);
  const query = useInfiniteQuery({
    queryKey: ['threads', me.key_id, request],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }): Promise<readonly Thread[]> => {
      const page = { ...request, limit: pageSize, offset: pageParam };
      return client.ask('POST /threads/stream_query', page, signal);
    },
    getNextPageParam: (last, pages) => (last.length < pageSize ? undefined : pages.length * pageSize),
  });
  const refresh = () => {
    if (search.range) setNow(Date.now());
    query.refetch();
  };
  return { query, threads: query.data?.pages.flat() ?? [], refresh };
};
