import type { CallsStatsRes, StatsPeriod } from '../../api/types.ts';
import { type Figures, figuresOf, groupsOf, nothing } from './figures.ts';
import type { Span } from './period.ts';

/** A bucket of time with what is counted in it. */
export interface Point extends Figures {
  /** In ms since 1970, inclusive, and within the period. */
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** The figures of each group in it. */
  readonly groups: ReadonlyMap<string, Figures>;
}

const dayMs = 86_400_000;

/**
 * The next bucket's beginning. Buckets of days begin at the reader's midnights, and days have 23 to
 * 25 hours. Shorter buckets are counted from each midnight, so the last of a day may be cut.
 */
const nextEdge = (from: number, granularity: number): number => {
  const ms = granularity * 1000;
  const midnight = new Date(from);
  midnight.setHours(24 * Math.max(1, Math.round(ms / dayMs)), 0, 0, 0);
  return ms >= dayMs ? midnight.getTime() : Math.min(from + ms, midnight.getTime());
};

/** The edges of the buckets, with those that have no calls and are not in the answer. */
const edgesOf = ({ start, end }: Span, granularity: number, known: readonly number[]): number[] => {
  const midnight = new Date(start);
  midnight.setHours(0, 0, 0, 0);
  // Buckets of several days are counted from days that the answer alone knows.
  let at = granularity * 1000 > dayMs ? (known[0] ?? midnight.getTime()) : midnight.getTime();
  const edges: number[] = [];
  while (at < end) {
    const next = nextEdge(at, granularity);
    if (next > start) edges.push(at);
    at = next;
  }
  return [...new Set([...edges, ...known])].sort((a, b) => a - b);
};

const timeOf = ({ timestamp }: StatsPeriod): number => Date.parse(timestamp);

/**
 * The points of the charts, in order of time, those without calls included.
 *
 * @param field the field that was grouped by; undefined tells models apart
 */
export const pointsOf = (answer: CallsStatsRes, span: Span, field: string | undefined): Point[] => {
  const { call_buckets, usage_buckets, granularity } = answer;
  const calls = Map.groupBy(call_buckets, timeOf);
  const usages = Map.groupBy(usage_buckets, timeOf);
  const known = [...new Set([...calls.keys(), ...usages.keys()])].sort((a, b) => a - b);
  const edges = edgesOf(span, granularity, known);
  return edges.map((edge, at) => {
    const [call_buckets, usage_buckets] = [calls.get(edge) ?? [], usages.get(edge) ?? []];
    const groups = groupsOf({ call_buckets, usage_buckets }, field);
    return {
      ...(call_buckets.length > 0 ? figuresOf(call_buckets, usage_buckets) : nothing),
      // Percentiles of groups cannot be put together.
      ...(field !== undefined && { p50: undefined, p95: undefined }),
      from: Math.max(span.start, edge),
      to: Math.min(span.end, edges[at + 1] ?? span.end),
      groups: new Map(groups.flatMap(({ group, ...figures }) => (group === null ? [] : [[group, figures]]))),
    };
  });
};
