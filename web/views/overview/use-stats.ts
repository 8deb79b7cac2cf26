import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { CallsStatsReq, CallsStatsRes } from '../../api/types.ts';
import { useSession } from '../../session/session.tsx';
import type { Period } from './period.ts';
import { modelCallsRequest, whole } from './requests.ts';

/** Statistics from the cache, or from the service. Those of before stay until there are others. */
export const useStats = (request: CallsStatsReq) => {
  const { client, me } = useSession();
  return useQuery({
    queryKey: ['stats', me.key_id, request],
    queryFn: ({ signal }) => client.ask('POST /calls/stats', request, signal),
    placeholderData: keepPreviousData,
  });
};

/** So many calls are read for the errors and latencies of models: some 4,000 read units. */
export const maxRead = 100_000;

interface ModelCallsProps {
  readonly project: string;
  readonly period: Period;
  /** Whether the figures are told apart by models. */
  readonly wanted: boolean;
  /** Whether they are also wanted over time. */
  readonly split: boolean;
  /** How many calls the period has and the one before it; undefined as long as nobody knows. */
  readonly calls: number | undefined;
  readonly callsBefore: number | undefined;
}

/**
 * The errors and latencies of models, over time, of the period, and of the one before it. They are
 * read from the headers of calls, so they are asked for when these are few enough.
 */
export const useModelCalls = ({ project, period, wanted, split, calls, callsBefore }: ModelCallsProps) => {
  const { client, me } = useSession();
  const useCounted = (request: CallsStatsReq, enabled: boolean) =>
    useQuery<CallsStatsRes>({
      queryKey: ['stats', me.key_id, request],
      queryFn: ({ signal }) => client.ask('POST /calls/stats', request, signal),
      enabled,
    });
  const isFew = (count: number | undefined) => wanted && count !== undefined && count <= maxRead;
  return {
    series: useCounted(modelCallsRequest(project, period, period.granularity), split && isFew(calls)),
    now: useCounted(modelCallsRequest(project, period, whole), isFew(calls)),
    before: useCounted(modelCallsRequest(project, period.before, whole), isFew(callsBefore)),
    tooMany: wanted && (calls ?? 0) > maxRead,
  };
};
