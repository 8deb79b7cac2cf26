import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { fromWire } from '../../api/calls.ts';
import type { Call } from '../../api/types.ts';
import { useSession } from '../../session/session.tsx';
import { draftOf, emptyDraft } from './draft.ts';
import type { PlaygroundSearch } from './search.ts';
import { Trial } from './trial.ts';

/** The recorded call that the playground begins with; null if it is not there. */
export const useOriginal = ({ project, call }: PlaygroundSearch) => {
  const { client, me } = useSession();
  return useQuery({
    queryKey: ['original', me.key_id, project, call],
    enabled: call !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }): Promise<Call | null> => {
      const request = { project_id: project, id: call ?? '', include_costs: true };
      const { call: read } = await client.ask('POST /call/read', request, signal);
      return read && (fromWire(read, me.service.name) as Call);
    },
  });
};

/** The trial of a call, from the cache or begun anew. What is on its way stops when one leaves. */
export const useTrial = (project: string, original: Call | undefined) => {
  const { client, me } = useSession();
  const cache = useQueryClient();
  const { name } = me.service;
  const queryKey = ['trial', me.key_id, project, original?.id];
  const make = () => new Trial(client, project, name, (original && draftOf(original)) ?? emptyDraft());
  const { data: trial } = useQuery({
    queryKey,
    queryFn: async () => make(),
    initialData: make,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const state = useSyncExternalStore(trial.subscribe, trial.snapshot);
  useEffect(() => trial.stop, [trial]);
  const reset = () => {
    trial.stop();
    cache.setQueryData(queryKey, make());
  };
  return { trial, state, reset };
};
