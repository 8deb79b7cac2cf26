import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { CostTerms } from '../../api/types.ts';
import { useSession } from '../../session/session.tsx';

/** The most prices that are read. */
export const maxPrices = 1000;

/** The prices of a project, by model, the newest first; and what adds and removes them. */
export const usePrices = (project: string) => {
  const { client, me } = useSession();
  const cache = useQueryClient();
  const queryKey = ['prices', me.key_id, project];
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const request = {
        project_id: project,
        sort_by: [
          { field: 'llm_id', direction: 'asc' as const },
          { field: 'effective_date', direction: 'desc' as const },
        ],
        limit: maxPrices,
      };
      return (await client.ask('POST /cost/query', request, signal)).results;
    },
  });
  // Costs are worked out when they are asked for, so a price changes those of calls as well.
  const onSuccess = () =>
    cache.invalidateQueries({ predicate: ({ queryKey: [first] }) => first !== 'projects' });
  const add = useMutation({
    mutationFn: ({ model, terms }: { model: string; terms: CostTerms }) =>
      client.ask('POST /cost/create', { project_id: project, costs: { [model]: terms } }),
    onSuccess,
  });
  const remove = useMutation({
    mutationFn: (id: string) =>
      client.ask('POST /cost/purge', {
        project_id: project,
        query: { $expr: { $eq: [{ $getField: 'id' }, { $literal: id }] } },
      }),
    onSuccess,
  });
  return { query, add, remove };
};
