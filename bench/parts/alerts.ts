/** What looking at a hundred alerts takes, over a project of a million calls a month. */

import { alert } from '../../api/alerts.ts';
import { noLookups } from '../../core/questions/query/index.ts';
import { noteAlerts } from '../../core/records/alerts.ts';
import { createObject } from '../../core/records/objects/index.ts';
import type { ParseAlert } from '../../core/workers/alerts/alert.ts';
import { KnownAlerts, lookAtAlerts, type Watch } from '../../core/workers/alerts/look.ts';
import { createLinks } from '../../foundations/links.ts';
import { requestBudget } from '../../foundations/storage/index.ts';
import { formatTime, type JsonObject, type ProjectId, parseTime } from '../../foundations/wire/index.ts';
import { type Bench, type BenchPart, totalUnits } from '../harness/bench.ts';
import { type Call, repeatCalls } from '../harness/calls.ts';
import { counted, type Figure, measured } from '../harness/figures.ts';
import { benchBudget, sendAll } from '../harness/reporting.ts';

const callsAMonth = 1_000_000;
const minuteMs = 60_000;
const callsAMinute = callsAMonth / (730 * 60);
/** The longest of the short windows, the minutes until states are settled, and those that are counted. */
const hourMinutes = 60;
const settlingMinutes = 10;
const lookedMinutes = 15;
const alerts = 100;

const windows = [5, 10, 15, 20, 30, 45, 60, 60, 1440, 10_080];
const metrics: readonly JsonObject[] = [
  { metric: 'error_count', aggregation: 'avg' },
  { metric: 'latency_ms', percentile: 95 },
  { metric: 'call_count', aggregation: 'sum' },
  { metric: 'total_tokens', aggregation: 'sum' },
];
const failed = {
  $expr: { $eq: [{ $getField: 'summary.svc.status' }, { $literal: 'error' }] },
};
/** Conditions that headers answer; rollups answer the first three. */
const conditions: readonly JsonObject[] = [
  {},
  { filter: { op_names: ['answer'] } },
  { query: failed },
  { filter: { trace_roots_only: true } },
  { query: { $expr: { $eq: [{ $getField: 'attributes.environment' }, { $literal: 'production' }] } } },
];

const makeAlert = (i: number): JsonObject => {
  const window_minutes = windows[i % windows.length] ?? 5;
  const answerable = window_minutes > hourMinutes ? 3 : conditions.length;
  return {
    _type: 'Alert',
    name: `Alert ${i}`,
    window_minutes,
    direction: 'above',
    alert: 1e12,
    metric: metrics[i % metrics.length] ?? {},
    tell: [],
    enabled: true,
    ...conditions[i % answerable],
  };
};

const parse: ParseAlert = (value) => alert().parse(value);

/** The same calls, spread evenly over minutes. */
function* overMinutes(calls: readonly Call[], from: number, minutes: number): Generator<Call> {
  const count = Math.round(minutes * callsAMinute);
  let i = 0;
  for (const { start, end } of repeatCalls(calls, count)) {
    const startedAt = Math.floor((from + (minutes * minuteMs * i++) / count) * 1000);
    const lasted = (parseTime(String(end.ended_at)) ?? 0) - (parseTime(String(start.started_at)) ?? 0);
    yield {
      start: { ...start, started_at: formatTime(startedAt) },
      end: { ...end, ended_at: formatTime(startedAt + lasted) },
    };
  }
}

/** Units of looks at a hundred alerts. */
export const alertFigures = async (bench: Bench, calls: readonly Call[]): Promise<Figure[]> => {
  const projectId = String(calls[0]?.start.project_id) as ProjectId;
  const callStore = await bench.newStore('calls');
  const objects = await bench.newStore('objects');
  const feedback = await bench.newStore('feedback');
  const bookkeeping = await bench.newStore('bookkeeping');
  // Always the same time: how much pages of rows hold depends on its digits, and of windows of days, the hours of
  // the last one are read apart. Ten minutes past twelve no alert about a day is due in the next quarter of an hour.
  let now = Date.parse('2040-01-01T12:10:00Z');
  const store = { ...callStore, bookkeeping: bookkeeping.table };
  const reported = hourMinutes + settlingMinutes + lookedMinutes + 5;
  await sendAll(store, overMinutes(calls, now - (hourMinutes + 5) * minuteMs, reported), 'together');
  for (let i = 0; i < alerts; i++)
    await createObject(
      objects,
      { projectId, objectId: `alert-${i}`, val: makeAlert(i) },
      'ada',
      benchBudget(),
    );
  await noteAlerts(bookkeeping.table, projectId, requestBudget(1000));
  const newWatch = (): Watch => ({
    table: bookkeeping.table,
    sources: {
      calls: store,
      feedback,
      objects,
      lookups: { ...noLookups, steadyPrices: async () => () => null },
    },
    alerts: new KnownAlerts(objects, parse, () => now),
    send: async () => {},
    tellIssue: async () => {},
    links: createLinks('https://x.example'),
    now: () => now,
  });
  let looks = 0;
  const look = async (watch: Watch): Promise<void> => {
    const looked = await lookAtAlerts(watch, benchBudget());
    if (looked.problems.length > 0) throw looked.problems[0];
    looks += looked.looks;
  };
  // The first look at new alerts reads their windows, however long.
  await look(newWatch());
  now += minuteMs;
  const watch = newWatch();
  const first = await bench.capacity.during(() => look(watch));
  const idle = await bench.capacity.during(() => look(watch));
  const lookFor = async (minutes: number): Promise<void> => {
    for (let i = 0; i < minutes; i++) {
      now += minuteMs;
      await look(watch);
    }
  };
  await lookFor(settlingMinutes);
  looks = 0;
  const cpu = process.cpuUsage();
  const used = await bench.capacity.during(() => lookFor(lookedMinutes));
  const { user, system } = process.cpuUsage(cpu);
  return [
    counted('nobody is due: read units', 'units', totalUnits(idle.reads)),
    counted('a new container: read units', 'units', totalUnits(first.reads)),
    counted('a minute: looks', 'looks a minute', looks / lookedMinutes),
    counted('a minute: read units', 'units a minute', totalUnits(used.reads) / lookedMinutes),
    counted('a minute: write units', 'units a minute', totalUnits(used.writes) / lookedMinutes),
    counted('a minute: requests', 'requests a minute', used.requests / lookedMinutes),
    measured('a minute: processor time', 'ms', [(user + system) / 1000 / lookedMinutes]),
  ];
};

/** Units of looks at a hundred alerts. */
export const alertPart: BenchPart = {
  name: 'alerts',
  title: `Looking at ${alerts} alerts, over a project of a million calls a month`,
  run: async ({ bench, calls }) => alertFigures(await bench(), calls),
};
