import { newestCalls, reportsOf, serviceUse, type TableUse, usualUse } from './dynamodb.ts';
import type { Load } from './load.ts';
import type { Measured } from './measured.ts';
import { costOf, free, type Server } from './prices.ts';

/** A month's bill in US dollars, by line. */
export type Bill = Readonly<Record<string, number>>;

/** The sum of a bill, in US dollars. */
export const total = (bill: Bill): number => Object.values(bill).reduce((sum, line) => sum + line, 0);

/** The memory at which a function has one full vCPU, in MB, by Lambda's documentation. */
const fullCpuMb = 1769;
const megabyte = 1_000_000;

/** Requests of a month that query. */
const asksOf = ({ queries, traces, lists, usages, statistics, scans }: Load): number =>
  queries + traces + lists + usages + statistics + scans;

/** Requests of a month: those that report, and those that query. */
const requestsOf = (load: Load) => ({ reports: reportsOf(load), asks: asksOf(load) });

/**
 * Converts ms of a full vCPU to ms in a function of this memory. Smaller functions have a share of
 * one.
 */
export const cpuIn = (milliseconds: number, memoryMb: number): number =>
  milliseconds * Math.max(1, fullCpuMb / memoryMb);

const functionLines = (load: Load): Bill => {
  const { reports, asks } = requestsOf(load);
  const authorizations = (reports + asks) * (1 - load.remembered);
  const reportMs = reports * load.latencyMs + load.calls * cpuIn(load.cpuMs, load.memoryMb);
  const askMs = asks * (load.queryLatencyMs + cpuIn(load.queryCpuMs, load.memoryMb));
  const authorizerMs = authorizations * load.authorizerMs;
  const gigabyteSeconds = ((reportMs + askMs) * load.memoryMb + authorizerMs * 512) / 1000 / 1024;
  return {
    'Lambda: requests': costOf('functionRequests', reports + asks + authorizations),
    'Lambda: time': costOf('functionTime', gigabyteSeconds),
  };
};

/** Bytes of all answers as sent, and requests that long answers add to the count. */
const answersOf = ({ queries, lists, bytes, gzip }: Load) => {
  const each = newestCalls * bytes * gzip;
  const answers = queries + lists;
  return { bytes: answers * each, extraRequests: answers * (Math.ceil(each / (10 * megabyte)) - 1) };
};

const gatewayLines = (load: Load): Bill => {
  const { reports, asks } = requestsOf(load);
  const answers = answersOf(load);
  const answered = load.queries + load.lists;
  const streamed = Math.max(0, newestCalls * load.bytes * load.gzip - 6 * megabyte) * answered;
  return {
    'API Gateway: requests': costOf('apiRequests', reports + asks + answers.extraRequests),
    'Lambda: answers above 6 MB': costOf('functionStream', streamed),
    'data sent to the internet': costOf('transferOut', Math.max(0, answers.bytes - free.transferBytes)),
  };
};

const tableLines = (use: TableUse): Bill => ({
  'DynamoDB: writes': costOf('writeUnits', use.writeUnits),
  'DynamoDB: reads': costOf('readUnits', use.readUnits),
  'DynamoDB: storage': costOf('tableStorage', use.storedBytes),
  'DynamoDB: point-in-time recovery': costOf('pointInTime', use.tableBytes),
});

const watchingLines = (load: Load): Bill => {
  const { reports, asks } = requestsOf(load);
  const requests = reports + asks;
  const logged = requests * load.logBytes;
  return {
    'CloudWatch: logs': costOf('logs', logged) + costOf('logStorage', logged),
    'CloudWatch: alarms and dashboards':
      costOf('alarms', Math.max(0, load.alarms - free.alarms)) +
      costOf('dashboards', Math.max(0, load.dashboards - free.dashboards)),
    'X-Ray': costOf('traces', Math.max(0, requests * load.traced - free.traces)),
  };
};

const objectLines = ({ objects, objectKb, months }: Load): Bill => ({
  'S3: large payloads':
    costOf('objectPuts', objects) + costOf('objectStorage', objects * objectKb * 1000 * months),
});

/** What it costs that the page wakes functions beforehand, each as if it were cold. */
const wakingLines = ({ visits, woken, coldMs, memoryMb }: Load): Bill => {
  const requests = visits * woken;
  // Of a call that is not there, start and end are looked for.
  const readUnits = visits * 2;
  return {
    'the page: functions woken':
      costOf('apiRequests', requests) +
      costOf('functionRequests', requests) +
      costOf('functionTime', (requests * coldMs * memoryMb) / 1000 / 1024) +
      costOf('readUnits', readUnits),
  };
};

const billOf = (load: Load, use: TableUse): Bill => ({
  ...gatewayLines(load),
  ...functionLines(load),
  ...tableLines(use),
  ...objectLines(load),
  ...watchingLines(load),
  ...wakingLines(load),
});

/** The bills of a load: the service's, and that of the usual layout behind the same API. */
export const billsOf = (
  load: Load,
  measured: Measured,
): { readonly service: Bill; readonly usual: Bill } => ({
  service: billOf(load, serviceUse(load, measured)),
  usual: billOf(load, usualUse(load, measured)),
});

/**
 * Scales a load to another number of calls, with what is asked for in proportion; searches and
 * statistics stay.
 */
export const scaled = (load: Load, calls: number): Load => {
  const factor = calls / load.calls;
  const { queries, traces, lists, usages, objects } = load;
  return {
    ...{ ...load, calls, queries: queries * factor, traces: traces * factor },
    ...{ lists: lists * factor, usages: usages * factor, objects: objects * factor },
  };
};

/**
 * The number of calls a month from which a server is cheaper than the service, to two digits.
 *
 * @returns undefined if the service is cheaper up to 10¹² calls
 */
export const breakEven = (load: Load, measured: Measured, { usd }: Server): number | undefined => {
  const costs = (calls: number) => total(billsOf(scaled(load, calls), measured).service);
  let [low, high] = [1, 1e12];
  if (costs(high) < usd) return undefined;
  while (high / low > 1.005) {
    const middle = Math.sqrt(low * high);
    if (costs(middle) < usd) low = middle;
    else high = middle;
  }
  return Number(high.toPrecision(2));
};
