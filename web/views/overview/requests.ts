import { prefixOf } from '../../api/names.ts';
import type { CallsStatsReq } from '../../api/types.ts';
import type { Period, Span } from './period.ts';
import type { Dimension } from './search.ts';

/*
 * What the overview asks for. Groups by operation and user and sums of usage come from rollups, so
 * that months cost the service little.
 */

/** The fields to group by; models are told apart without one. */
const fields = { op: 'op_name', user: 'svc_user_id' } as const;

/** The field of a dimension as the service writes it; undefined for models. */
export const fieldOf = (by: Dimension | undefined, service: string): string | undefined => {
  if (by === undefined || by === 'model') return undefined;
  return by === 'op' ? fields.op : `${prefixOf(service)}_user_id`;
};

const iso = (ms: number): string => new Date(ms).toISOString();

const statsOf = (
  project: string,
  { start, end }: Span,
  granularity: number,
  field: string | undefined,
): CallsStatsReq => ({
  project_id: project,
  start: iso(start),
  end: iso(end),
  granularity,
  timezone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
  call_metrics: [
    { metric: 'call_count' },
    { metric: 'error_count' },
    { metric: 'latency_ms', percentiles: [50, 95] },
  ],
  usage_metrics: [{ metric: 'total_tokens', aggregations: ['sum', 'count'] }, { metric: 'total_cost' }],
  ...(field && { group_by: [field] as unknown as (typeof fields)['op'][] }),
});

/** The figures over time. */
export const seriesRequest = (project: string, period: Period, field: string | undefined): CallsStatsReq =>
  statsOf(project, period, period.granularity, field);

/**
 * The errors and latencies of models over a span. Rollups do not have them, so the service reads
 * the headers of all calls in it.
 */
export const modelCallsRequest = (project: string, span: Span, granularity: number): CallsStatsReq => {
  const { call_metrics: _calls, ...request } = statsOf(project, span, granularity, undefined);
  return {
    ...request,
    usage_metrics: [
      { metric: 'error_count', aggregations: ['sum', 'count'] },
      { metric: 'latency_ms', percentiles: [50, 95] },
    ],
  };
};

/** A bucket that is longer than any span: a hundred years from 1970 on, in seconds. */
export const whole = 36_500 * 86_400;

/** The figures of a whole span, in one bucket: percentiles of parts cannot be put together. */
export const totalsRequest = (project: string, span: Span, field: string | undefined): CallsStatsReq =>
  statsOf(project, span, whole, field);
