import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { useSession } from '../../session/session.tsx';
import { CallList } from './call-list.ts';
import { costTestOf } from './cost-filter.ts';
import { requestOf } from './request.ts';
import type { TracesSearch } from './search.ts';

/**
 * The list of a URL's state, from the cache or begun anew.
 *
 * @returns the list, what it holds, what begins it anew, and why that failed last
 */
export const useCallList = ({ live: _live, ...asked }: TracesSearch) => {
  const { client, me } = useSession();
  const cache = useQueryClient();
  const { name } = me.service;
  const queryKey = ['calls', me.key_id, asked];
  const make = () =>
    new CallList({
      client,
      service: name,
      request: requestOf(asked, name, Date.now()),
      roots: !asked.all,
      costTest: costTestOf(asked),
    });
  const { data: list } = useQuery({
    queryKey,
    queryFn: async () => make(),
    initialData: make,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const state = useSyncExternalStore(list.subscribe, list.snapshot);
  useEffect(() => {
    if (list.snapshot().rows.length === 0) list.more();
    return list.leave;
  }, [list]);
  // What is on the screen stays until there is something to take its place.
  const [failure, setFailure] = useState<unknown>();
  const refresh = () => {
    setFailure(undefined);
    const next = make();
    const look = () => {
      const { phase, rows, complete, error } = next.snapshot();
      if (phase === 'failed' && rows.length === 0) setFailure(error);
      else if (rows.length === 0 && !complete) return;
      else {
        next.active = list.active;
        cache.setQueryData(queryKey, next);
      }
      leave();
    };
    const leave = next.subscribe(look);
    next.more();
  };
  return { list, state, refresh, failure };
};
