import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { useSession } from '../../session/session.tsx';
import { CallList } from './call-list.ts';
import { requestOf } from './request.ts';
import type { TracesSearch } from './search.ts';

/**
 * The list of a URL's state, from the cache or begun anew.
 *
 * @returns the list, what it holds, and what begins it anew
 */
export const useCallList = ({ live: _live, ...asked }: TracesSearch) => {
  const { client, me } = useSession();
  const cache = useQueryClient();
  const { name } = me.service;
  const queryKey = ['calls', me.key_id, asked];
  const make = () => new CallList(client, name, requestOf(asked, name, Date.now()));
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
  const refresh = () => {
    cache.setQueryData(queryKey, make());
  };
  return { list, state, refresh };
};
