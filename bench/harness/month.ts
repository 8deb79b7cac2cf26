import { callsStatsBody } from '../../api/schemas/stats.ts';
import type { Store } from '../../core/foundations/storage/index.ts';
import { formatTime, type Micros, parseTime } from '../../core/foundations/wire/index.ts';
import { parseBody } from '../../core/foundations/wire/parse-body.ts';
import { noLookups } from '../../core/questions/query/index.ts';
import { statsOf } from '../../core/questions/stats/index.ts';
import { type Bench, names } from './bench.ts';
import { type Call, repeatCalls } from './calls.ts';
import { type CapacityUsed, totalUnits } from './capacity.ts';
import { counted, type Figure, measured } from './figures.ts';
import { benchBudget } from './reporting.ts';

/** The month of 30 days that statistics are measured over: its begin, and its hours. */
export const monthBegin: Micros = Date.UTC(2026, 8, 1) * 1000;
const hour = 3_600_000_000;
const monthHours = 720;
export const monthEnd: Micros = monthBegin + monthHours * hour;

/** When the call of this number starts, if so many are spread evenly over the month. */
export const startOfNth = (i: number, count: number): Micros =>
  monthBegin + Math.floor((i * monthHours * hour) / count);

/** The same calls, spread evenly over the month. */
export function* overMonth(calls: readonly Call[], count: number): Generator<Call> {
  let i = 0;
  for (const call of repeatCalls(calls, count)) {
    const startedAt = startOfNth(i++, count);
    const lasted =
      (parseTime(String(call.end.ended_at)) ?? 0) - (parseTime(String(call.start.started_at)) ?? 0);
    yield {
      start: { ...call.start, started_at: formatTime(startedAt) },
      end: { ...call.end, ended_at: formatTime(startedAt + lasted) },
    };
  }
}

const overview = {
  call_metrics: [
    { metric: 'call_count' },
    { metric: 'error_count' },
    { metric: 'latency_ms', aggregations: ['avg'], percentiles: [50, 95, 99] },
  ],
  usage_metrics: [{ metric: 'input_tokens' }, { metric: 'output_tokens' }],
};

const body = callsStatsBody(names);

/** The seconds of a bucket. */
export const byTheHour = 3600;
export const byTheDay = 86_400;

/**
 * Asks for the overview of the month.
 *
 * @throws Error if it does not count so many calls
 */
export const askMonth = async (
  store: Store,
  project_id: string,
  granularity: number,
  count: number,
): Promise<void> => {
  const [start, end] = [formatTime(monthBegin), formatTime(monthEnd)];
  const asked = { project_id, start, end, granularity, timezone: 'UTC', ...overview };
  const request = parseBody(body, JSON.stringify(asked));
  const lookups = { ...noLookups, steadyPrices: async () => () => null };
  const { call_buckets: buckets } = await statsOf(store, request, benchBudget(), lookups).answer();
  const found = buckets.reduce((sum, bucket) => sum + Number(bucket.sum_call_count), 0);
  if (found !== count) throw new Error(`statistics of ${count} calls count ${found}`);
};

/** The units of a task as figures. */
export const unitFigures = (name: string, { reads, writes }: CapacityUsed): Figure[] => [
  counted(`${name}: read units`, 'units', totalUnits(reads), { of: reads }),
  counted(`${name}: write units`, 'units', totalUnits(writes)),
];

/** How often a warm answer is timed. */
const rounds = 5;

/** Units and times of a task that was done before. */
export const warmFigures = async (
  bench: Bench,
  name: string,
  task: () => Promise<void>,
): Promise<Figure[]> => {
  const times: number[] = [];
  let warm = await bench.capacity.during(task);
  for (let i = 0; i < rounds; i++) {
    const begun = performance.now();
    warm = await bench.capacity.during(task);
    times.push(performance.now() - begun);
  }
  return [...unitFigures(`${name}, warm`, warm), measured(`${name}, warm: time`, 'ms', times)];
};
