import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { PriceTerms } from '../api/contract.ts';
import { costText } from '../data/format.ts';
import { useKeeper } from '../session/kept.ts';
import { readAgain, useRead, useSession } from '../session/session.tsx';

/** The most prices that are read. */
export const maxPrices = 1000;

/** The prices of a project, by model, the newest first; and what adds and removes them. */
export const usePrices = (project: string, enabled = true) => {
  const { client } = useSession();
  const cache = useQueryClient();
  const keeper = useKeeper();
  const query = useRead(
    ['prices', project],
    async ({ client, signal }) => {
      const request = {
        project_id: project,
        sort_by: [
          { field: 'llm_id', direction: 'asc' as const },
          { field: 'effective_date', direction: 'desc' as const },
        ],
        limit: maxPrices,
      };
      return (await client.ask('/cost/query', request, signal)).results;
    },
    { enabled },
  );
  // Costs are worked out when they are asked for, so a price changes those of calls as well.
  const onSuccess = () => {
    keeper.forget('calls');
    return readAgain(cache, { predicate: ({ queryKey: [first] }) => first !== 'projects' });
  };
  const add = useMutation({
    mutationFn: ({ model, terms }: { model: string; terms: PriceTerms }) =>
      client.ask('/cost/create', { project_id: project, costs: { [model]: terms } }),
    onSuccess,
  });
  const remove = useMutation({
    mutationFn: (id: string) =>
      client.ask('/cost/purge', {
        project_id: project,
        query: { $expr: { $eq: [{ $getField: 'id' }, { $literal: id }] } },
      }),
    onSuccess,
  });
  return { query, add, remove };
};

/**
 * Whether all sums of a project's costs are dollars. The service adds up amounts of all units, so they
 * are if all of the project's own prices are. Default prices are. False while nobody knows.
 */
export const useAreDollars = (project: string, enabled = true): boolean => {
  const { data } = usePrices(project, enabled).query;
  return (
    data !== undefined &&
    data.length < maxPrices &&
    data.every(
      ({ prompt_token_cost_unit: prompt = 'USD', completion_token_cost_unit: completion = 'USD' }) =>
        prompt === 'USD' && completion === 'USD',
    )
  );
};

const withoutUnit = (cost: number): string => costText(new Map([['', cost]]));

/**
 * How the sums of a project's costs are written. The service adds up amounts of all units, so they
 * are dollars only if all of the project's own prices are. Default prices are.
 */
export const useCostText = (project: string): ((cost: number) => string) => {
  const areDollars = useAreDollars(project);
  return areDollars ? costText : withoutUnit;
};
