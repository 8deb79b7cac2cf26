/**
 * What statistics of a month read when all its hours are rolled up, at numbers of calls that would
 * take too long to report. Some calls are reported and read back. Their headers are repeated in
 * memory, and the code of readers makes rollups of them.
 */

import type { JsonValue, ProjectId } from '../../core/foundations/wire/index.ts';
import { everyCall } from '../../core/questions/query/index.ts';
import { kept } from '../../core/questions/stats/cell.ts';
import type { Rollup } from '../../core/questions/stats/codec.ts';
import { dimensionsOf, Groups } from '../../core/questions/stats/group.ts';
import { scanCalls } from '../../core/questions/stats/scan.ts';
import { storeRollups } from '../../core/questions/stats/stored.ts';
import type { CallHeader } from '../../core/records/calls/index.ts';
import { dayOf, hourOf } from '../../core/records/rollups/index.ts';
import type { Bench } from '../harness/bench.ts';
import type { Call } from '../harness/calls.ts';
import type { Figure } from '../harness/figures.ts';
import {
  askMonth,
  byTheDay,
  byTheHour,
  monthBegin,
  monthEnd,
  overMonth,
  startOfNth,
  warmFigures,
} from '../harness/month.ts';
import type { BenchPart } from '../harness/part.ts';
import { benchBudget, sendAll } from '../harness/reporting.ts';

type Scanned = readonly [header: CallHeader, usage: JsonValue];

/** The headers of some calls, as a reader gets them. */
const headersOf = async (bench: Bench, calls: readonly Call[], projectId: ProjectId): Promise<Scanned[]> => {
  const store = await bench.newStore('calls');
  await sendAll(store, overMonth(calls, calls.length), 'together');
  const found: Scanned[] = [];
  await scanCalls(
    store,
    { projectId, filter: everyCall, where: null, withUsage: true, withFailed: false },
    [monthBegin, monthEnd],
    (header, usage) => void found.push([header, usage]),
    { scanned: 0, hydrated: 0 },
    benchBudget(),
  );
  return found;
};

/** Rollups of `count` calls, by hour or by day, as a reader would make them. */
const rollupsOf = (
  calls: readonly Scanned[],
  count: number,
  numberOf: (time: number) => number,
): Rollup[] => {
  const groups = new Map<number, Groups>();
  for (let i = 0; i < count; i++) {
    const [header, usage] = calls[i % calls.length] ?? [];
    if (!header) break;
    const startedAt = startOfNth(i, count);
    const end = header.end && {
      ...header.end,
      endedAt: header.end.endedAt - header.start.startedAt + startedAt,
    };
    const call = { ...header, start: { ...header.start, startedAt }, end };
    const number = numberOf(startedAt);
    const ofTime = groups.get(number) ?? new Groups(kept);
    groups.set(number, ofTime);
    ofTime.cell(dimensionsOf(call)).add(call, usage ?? null, {});
  }
  return [...groups].map(([number, { all }]) => ({ number, mark: 0, groups: all }));
};

/** Read units and times of warm answers over the rollups of so many calls. */
const rollupFigures = async (
  bench: Bench,
  calls: readonly Scanned[],
  projectId: ProjectId,
  count: number,
): Promise<Figure[]> => {
  const figures: Figure[] = [];
  for (const [name, granularity, kind, numberOf] of [
    ['by the hour', byTheHour, 'pages', hourOf],
    ['by the day', byTheDay, 'days', (time: number) => dayOf(hourOf(time))],
  ] as const) {
    const { table } = await bench.newStore('rollups');
    const store = { ...(await bench.newStore('calls')), rollups: table };
    const rollups = rollupsOf(calls, count, numberOf);
    await storeRollups(table, kind, projectId, rollups, undefined, benchBudget());
    figures.push(
      ...(await warmFigures(bench, `${count} calls, ${name}`, () =>
        askMonth(store, projectId, granularity, count),
      )),
    );
  }
  return figures;
};

/** Read units and times of warm statistics of a month, at each number of calls. */
export const rolledUpFigures = async (
  bench: Bench,
  calls: readonly Call[],
  sizes: readonly number[],
): Promise<Figure[]> => {
  const projectId = calls[0]?.start.project_id as ProjectId;
  const headers = await headersOf(bench, calls, projectId);
  const figures: Figure[] = [];
  for (const size of sizes) figures.push(...(await rollupFigures(bench, headers, projectId, size)));
  return figures;
};

/** Warm statistics of a month at each size. */
export const rollups: BenchPart = {
  name: 'rollups',
  title: 'Statistics of a month that is rolled up (units: DynamoDB Local)',
  run: async ({ bench, calls, sizes }) => rolledUpFigures(await bench(), calls, sizes),
};
