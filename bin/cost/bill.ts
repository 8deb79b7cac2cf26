import { maxSharedBytes } from '../../api/shared/sharing.ts';
import { tables } from '../../foundations/storage/tables.ts';
import type { ByReporting, Load, Measured } from './load.ts';

/**
 * Amazon's list prices for us-east-1 (N. Virginia) in US dollars, noted on 2026-11-21
 * from their public price pages. Only those of Lambda and of API Gateway's streaming were checked
 * against copies of the pages. Check a price before much depends on it. Free allowances of new
 * accounts are left out.
 */
export const pricesAsOf = '2026-11-21';

/** A price and its source. */
export interface Price {
  /** US dollars. */
  readonly usd: number;
  /** What is paid for, e.g. `1,000,000 write units`. */
  readonly unit: string;
  /** The quantity that the price is for, in requests, bytes, GB-seconds, … */
  readonly per: number;
  /** The page that lists it. */
  readonly source: string;
}

const million = 1_000_000;
/** A billed GB, taken as 10⁹ bytes. This is seven percent too dear where AWS means 2³⁰. */
const gigabyte = 1_000_000_000;

const dynamodb = 'https://aws.amazon.com/dynamodb/pricing/on-demand/';
const provisioned = 'https://aws.amazon.com/dynamodb/pricing/provisioned/';
const lambda = 'https://aws.amazon.com/lambda/pricing/';
const gateway = 'https://aws.amazon.com/api-gateway/pricing/';
const cloudwatch = 'https://aws.amazon.com/cloudwatch/pricing/';
const s3 = 'https://aws.amazon.com/s3/pricing/';
const xray = 'https://aws.amazon.com/xray/pricing/';
const eventbridge = 'https://aws.amazon.com/eventbridge/pricing/';
const sqs = 'https://aws.amazon.com/sqs/pricing/';
const secretsManager = 'https://aws.amazon.com/secrets-manager/pricing/';
const ec2 = 'https://aws.amazon.com/ec2/pricing/on-demand/';

const price = (usd: number, per: number, unit: string, source: string): Price => ({ usd, per, unit, source });

export const prices = {
  writeUnits: price(0.625, million, '1,000,000 DynamoDB write units', dynamodb),
  readUnits: price(0.125, million, '1,000,000 DynamoDB read units', dynamodb),
  writeHours: price(0.00065, 1, 'a provisioned DynamoDB write unit for an hour', provisioned),
  readHours: price(0.00013, 1, 'a provisioned DynamoDB read unit for an hour', provisioned),
  tableStorage: price(0.25, gigabyte, 'a GB in DynamoDB for a month', dynamodb),
  pointInTime: price(
    0.2,
    gigabyte,
    'a GB of a table, without its indexes, recoverable for a month',
    dynamodb,
  ),
  apiRequests: price(
    3.5,
    million,
    '1,000,000 REST API requests; a streamed answer counts once per 10 MB',
    gateway,
  ),
  httpApiRequests: price(1, million, '1,000,000 HTTP API requests, which count once per 512 KB', gateway),
  transferOut: price(0.09, gigabyte, 'a GB sent to the internet, beyond the first 100 GB', ec2),
  functionRequests: price(0.2, million, '1,000,000 Lambda requests', lambda),
  functionTime: price(0.0000133334, 1, 'a GB-second of Lambda on arm64', lambda),
  functionStream: price(0.008, gigabyte, 'a GB that Lambda streams, beyond 6 MB of each answer', lambda),
  logs: price(0.5, gigabyte, 'a GB of logs ingested', cloudwatch),
  logStorage: price(0.03, gigabyte, 'a GB of logs stored for a month', cloudwatch),
  alarms: price(0.1, 1, 'an alarm for a month, beyond the first 10', cloudwatch),
  dashboards: price(3, 1, 'a dashboard for a month, beyond the first 3', cloudwatch),
  traces: price(5, million, '1,000,000 X-Ray traces, beyond the first 100,000', xray),
  objectPuts: price(0.005, 1000, '1,000 S3 PUTs', s3),
  queueRequests: price(0.4, million, '1,000,000 requests to SQS', sqs),
  events: price(1, million, '1,000,000 custom events of up to 64 KB on EventBridge', eventbridge),
  objectStorage: price(0.023, gigabyte, 'a GB in S3 for a month', s3),
  secrets: price(0.4, 1, 'a secret in Secrets Manager for a month', secretsManager),
} as const satisfies Record<string, Price>;

/** The cost of a quantity, in US dollars. */
export const getCost = (name: keyof typeof prices, count: number): number =>
  (prices[name].usd * count) / prices[name].per;

/** Monthly free allowances of every account. */
export const free = { transferBytes: 100 * gigabyte, traces: 100_000, alarms: 10, dashboards: 3 } as const;

/** A self-hosted stack: its machines and disks for a month of 730 hours, without anybody's time. */
export interface Server {
  readonly name: string;
  /** US dollars a month. */
  readonly usd: number;
}

const hours = 730;
const diskGb = 0.08;

/**
 * Sizes of a self-hosted stack (ClickHouse and what it needs), with gp3 disks at $0.08 a GB, by
 * EC2's price page.
 */
export const servers: readonly Server[] = [
  { name: 'one t4g.medium (4 GB), 100 GB', usd: 0.0336 * hours + 100 * diskGb },
  { name: 'one t4g.xlarge (16 GB), 500 GB', usd: 0.1344 * hours + 500 * diskGb },
  {
    name: 'three m7g.large (8 GB), 500 GB each, load balancer',
    usd: 3 * (0.0816 * hours + 500 * diskGb) + 0.0225 * hours,
  },
];

/** What a month's load uses of DynamoDB. */
interface TableUse {
  readonly writeUnits: number;
  readonly readUnits: number;
  /** Bytes billed for storage once the retention has passed. */
  readonly storedBytes: number;
  /** The share of these bytes in the table, without its indexes. */
  readonly tableBytes: number;
}

const bytesOfWriteUnit = 1024;
const bytesOfReadUnit = 8192;
/** Bytes that DynamoDB adds to each item when it bills storage. */
const rowOverhead = 100;
/** Calls of one trace of the generator. */
const callsPerTrace = 3;
/** Calls below a root whose usage is asked for, as the bench has them. */
const callsOfUsage = 20;
/** Calls in the answer of a query for the newest. */
const newestCalls = 100;

/** The weighted mean of a figure over the calls of a load. */
const blended = (figures: ByReporting, { apart, inThreads }: Pick<Load, 'apart' | 'inThreads'>): number =>
  (1 - apart) * ((1 - inThreads) * figures.together + inThreads * figures.togetherInThreads) +
  apart * ((1 - inThreads) * figures.apart + inThreads * figures.apartInThreads);

/**
 * The compressed size of payloads as a share of their JSON, by calls per request. Between two
 * measured sizes it is interpolated over the logarithm of the size.
 */
export const compressedShare = (compressed: Measured['compressed'], batch: number): number => {
  const above = compressed.findIndex(([size]) => size >= batch);
  const [upper, share] = compressed.at(above) ?? [1, 1];
  const [lower, lowerShare] = compressed[above - 1] ?? [upper, share];
  if (above < 1 || upper === lower) return share;
  const weight = Math.log(batch / lower) / Math.log(upper / lower);
  return lowerShare + weight * (share - lowerShare);
};

/** Requests that report. */
const countReports = ({ calls, batch, apart }: Pick<Load, 'calls' | 'batch' | 'apart'>): number =>
  (calls / batch) * (1 + apart);

const monthHours = 730;
const monthSeconds = monthHours * 3600;
const monthDays = monthHours / 24;

/**
 * What statistics take: their rollups and the headers of open hours each time, and the headers of
 * all hours once, to be rolled up. A day's rollups are stored anew after each of its hours, if
 * somebody asks as often. Late reports mark hours.
 */
const statisticsUse = (
  load: Load,
  measured: Measured,
): { readonly reads: number; readonly writes: number } => {
  const { calls, statistics, openHours, pageUnits } = load;
  const marks = countReports(load) * load.late;
  if (statistics === 0) return { reads: 0, writes: marks };
  const hourUnits = calls / monthHours / measured.scannedPerUnit;
  const rolledUp = Math.max(monthDays, Math.min(statistics, monthHours));
  return {
    reads: statistics * (measured.rollups + openHours * hourUnits) + calls / measured.scannedPerUnit,
    writes: marks + rolledUp * pageUnits,
  };
};

/** Bytes of compressed payload of a request whose calls have start and end together. */
const segmentBytes = ({ bytes, batch }: Load, { compressed }: Measured): number =>
  bytes * batch * compressedShare(compressed, batch);

/**
 * Write units of a call's share of the payload. They are rounded up per request, twice if starts
 * and ends are reported apart.
 */
const segmentUnits = (load: Load, measured: Measured): number => {
  const bytes = segmentBytes(load, measured);
  const together = Math.ceil(bytes / bytesOfWriteUnit);
  const apart = Math.ceil((bytes * measured.apartPayload) / bytesOfWriteUnit) + 1;
  return ((1 - load.apart) * together + load.apart * apart) / load.batch;
};

const serviceUse = (load: Load, measured: Measured): TableUse => {
  const { calls, batch, apart, months } = load;
  const payload =
    (segmentBytes(load, measured) * (1 + apart * (measured.apartPayload - 1)) + (1 + apart) * rowOverhead) /
    batch;
  const storedCalls = calls * months;
  const derived = statisticsUse(load, measured);
  return {
    writeUnits: calls * (blended(measured.headerUnits, load) + segmentUnits(load, measured)) + derived.writes,
    readUnits:
      calls * blended(measured.reportReads, load) +
      load.queries * measured.newest +
      load.traces * measured.trace +
      load.lists * measured.list +
      load.usages * measured.usage +
      derived.reads +
      (load.scans * load.scanned) / measured.scannedPerUnit,
    storedBytes: storedCalls * (blended(measured.headerBytes, load) + payload),
    tableBytes: load.recoverable * storedCalls * (blended(measured.itemBytes, load) + payload),
  };
};

/** The item and its copies on four indexes. */
const usualRows = 5;

/**
 * What a load uses in the usual layout: an item with all of the JSON, on four indexes that project
 * all of it.
 */
const usualUse = (load: Load, { usual }: Measured): TableUse => {
  const { calls, bytes, apart, months } = load;
  const scale = bytes / usual.bytes;
  const reading = (count: number) => Math.ceil((count * bytes) / bytesOfReadUnit);
  const storedBytes = calls * months * Math.max(usual.billed * scale, usualRows * rowOverhead);
  // A row takes at least one unit, however small the call.
  const units = (measured: number, writes: number) => Math.max(measured * scale, writes * usualRows);
  return {
    writeUnits: calls * ((1 - apart) * units(usual.together, 1) + apart * units(usual.apart, 2)),
    readUnits:
      load.queries * reading(newestCalls) +
      load.traces * reading(callsPerTrace) +
      load.lists * reading(newestCalls) +
      load.usages * newestCalls * reading(callsOfUsage) +
      load.scans * reading(load.scanned),
    storedBytes,
    tableBytes: (load.recoverable * storedBytes) / 5,
  };
};

/** A month's bill in US dollars, by line. */
export type Bill = Readonly<Record<string, number>>;

/** The sum of a bill, in US dollars. */
export const total = (bill: Bill): number => Object.values(bill).reduce((sum, line) => sum + line, 0);

/** The memory at which a function has one full vCPU, in MB, by Lambda's documentation. */
const fullCpuMb = 1769;
const megabyte = 1_000_000;

const countQueries = ({ queries, traces, lists, usages, statistics, scans }: Load): number =>
  queries + traces + lists + usages + statistics + scans;

/** Requests of a month: those that report, and those that query. */
const countRequests = (load: Load) => ({ reports: countReports(load), queries: countQueries(load) });

/**
 * Converts ms of a full vCPU to ms in a function of this memory. Smaller functions have a share of
 * one.
 */
const cpuIn = (milliseconds: number, memoryMb: number): number =>
  milliseconds * Math.max(1, fullCpuMb / memoryMb);

const functionLines = (load: Load): Bill => {
  const { reports, queries } = countRequests(load);
  const authorizations = (reports + queries) * (1 - load.remembered);
  const reportMs = reports * load.latencyMs + load.calls * cpuIn(load.cpuMs, load.memoryMb);
  const askMs = queries * (load.queryLatencyMs + cpuIn(load.queryCpuMs, load.memoryMb));
  const authorizerMs = authorizations * load.authorizerMs;
  const gigabyteSeconds = ((reportMs + askMs) * load.memoryMb + authorizerMs * 512) / 1000 / 1024;
  return {
    'Lambda: requests': getCost('functionRequests', reports + queries + authorizations),
    'Lambda: time': getCost('functionTime', gigabyteSeconds),
  };
};

const bytesOfHttpApiRequest = 512 * 1024;

/** What requests that report would cost at an HTTP API. */
export const httpApiCosts = (load: Load): number => {
  const bytes = (load.bytes * load.batch) / (1 + load.apart);
  return getCost('httpApiRequests', countReports(load) * Math.ceil(bytes / bytesOfHttpApiRequest));
};

/** Bytes of all answers as sent, and requests that long answers add to the count. */
const sumAnswers = ({ queries, lists, bytes, gzip }: Load) => {
  const answerBytes = newestCalls * bytes * gzip;
  const answers = queries + lists;
  return {
    bytes: answers * answerBytes,
    extraRequests: answers * (Math.ceil(answerBytes / (10 * megabyte)) - 1),
  };
};

const gatewayLines = (load: Load): Bill => {
  const { reports, queries } = countRequests(load);
  const answers = sumAnswers(load);
  const answered = load.queries + load.lists;
  const streamed = Math.max(0, newestCalls * load.bytes * load.gzip - 6 * megabyte) * answered;
  return {
    'API Gateway: requests': getCost('apiRequests', reports + queries + answers.extraRequests),
    'Lambda: answers above 6 MB': getCost('functionStream', streamed),
    'data sent to the internet': getCost('transferOut', Math.max(0, answers.bytes - free.transferBytes)),
  };
};

const tableLines = (use: TableUse): Bill => ({
  'DynamoDB: writes': getCost('writeUnits', use.writeUnits),
  'DynamoDB: reads': getCost('readUnits', use.readUnits),
  'DynamoDB: storage': getCost('tableStorage', use.storedBytes),
  'DynamoDB: point-in-time recovery': getCost('pointInTime', use.tableBytes),
});

const sampled = 0.05;

/**
 * Requests of a month that X-Ray traces: the first of each second and 5 % of the others, if they
 * come at random. Source: AWS's default sampling rule, which Lambda always goes by.
 */
export const countTraced = (requests: number): number => {
  const first = monthSeconds * (1 - Math.exp(-requests / monthSeconds));
  return first + sampled * (requests - first);
};

const watchingLines = (load: Load): Bill => {
  const { reports, queries } = countRequests(load);
  const requests = reports + queries;
  const logged = requests * load.logBytes;
  return {
    'CloudWatch: logs': getCost('logs', logged) + getCost('logStorage', logged),
    'CloudWatch: alarms and dashboards':
      getCost('alarms', Math.max(0, load.alarms - free.alarms)) +
      getCost('dashboards', Math.max(0, load.dashboards - free.dashboards)),
    'X-Ray': load.xray * getCost('traces', Math.max(0, countTraced(requests) - free.traces)),
  };
};

const objectLines = ({ objects, objectKb, months }: Load): Bill => ({
  'S3: large payloads':
    getCost('objectPuts', objects) + getCost('objectStorage', objects * objectKb * 1000 * months),
});

/** What it costs that the page wakes functions beforehand, each as if it were cold. */
const wakingLines = ({ visits, woken, coldMs, memoryMb }: Load): Bill => {
  const requests = visits * woken;
  // Of a call that is not there, start and end are looked for.
  const readUnits = visits * 2;
  return {
    'the page: functions woken':
      getCost('apiRequests', requests) +
      getCost('functionRequests', requests) +
      getCost('functionTime', (requests * coldMs * memoryMb) / 1000 / 1024) +
      getCost('readUnits', readUnits),
  };
};

const computeBill = (load: Load, use: TableUse): Bill => ({
  ...gatewayLines(load),
  ...functionLines(load),
  ...tableLines(use),
  ...objectLines(load),
  ...watchingLines(load),
  ...wakingLines(load),
});

/** The bills of a load: the service's, and that of the usual layout behind the same API. */
export const computeBills = (
  load: Load,
  measured: Measured,
): { readonly service: Bill; readonly usual: Bill } => ({
  service: computeBill(load, serviceUse(load, measured)),
  usual: computeBill(load, usualUse(load, measured)),
});

/*
 * The setting `billing`, with provisioned capacity for the calls and their indexes.
 */

/** The table of calls and its indexes: each has a capacity of its own. */
const scaledParts = 1 + Object.keys(tables.calls.indexes).length;

/**
 * CloudWatch alarms that auto scaling makes for reads, and again for writes, of a table or an index:
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/AutoScaling.CLI.html
 */
const alarmsOfScaling = 4;

/**
 * Units a second that are paid for: what is used with what auto scaling keeps free, but not less than
 * the least. Errors are rare, so their index has the least. The other parts share evenly.
 */
const provisionedUnits = (units: number, { minUnits, used }: Load): number => {
  const busy = scaledParts - 1;
  return busy * Math.max(minUnits, units / busy / monthSeconds / used) + minUnits;
};

/** The bill with provisioned capacity for the calls. Reads and writes of rollups stay paid per request. */
export const provisionedBill = (load: Load, measured: Measured): Bill => {
  const { writeUnits, readUnits } = serviceUse(load, measured);
  const derived = statisticsUse(load, measured);
  const rollupReads = load.statistics * measured.rollups;
  const alarms = load.alarms + 2 * alarmsOfScaling * scaledParts;
  const hours = (name: 'writeHours' | 'readHours', units: number) =>
    getCost(name, provisionedUnits(units, load) * monthHours);
  return {
    ...computeBills({ ...load, alarms }, measured).service,
    'DynamoDB: writes':
      hours('writeHours', writeUnits - derived.writes) + getCost('writeUnits', derived.writes),
    'DynamoDB: reads': hours('readHours', readUnits - rollupReads) + getCost('readUnits', rollupReads),
  };
};

/** The number of calls a month from which provisioned capacity is cheaper, to two digits. */
export const provisionedFrom = (load: Load, measured: Measured): number | undefined =>
  crossing((calls) => {
    const at = scaled(load, calls);
    return total(computeBills(at, measured).service) - total(provisionedBill(at, measured));
  });

/**
 * Scales a load to another number of calls, with what is asked for in proportion; searches and
 * statistics stay.
 */
export const scaled = (load: Load, calls: number): Load => {
  const factor = calls / load.calls;
  const { queries, traces, lists, usages, objects } = load;
  return {
    ...load,
    calls,
    queries: queries * factor,
    traces: traces * factor,
    lists: lists * factor,
    usages: usages * factor,
    objects: objects * factor,
  };
};

/**
 * The number of calls a month from which something saves money, to two digits.
 *
 * @param savings what it saves with so many calls, which grows with them
 * @returns undefined if it saves nothing up to 10¹² calls
 */
const crossing = (savings: (calls: number) => number): number | undefined => {
  let low = 1;
  let high = 1e12;
  if (savings(high) < 0) return undefined;
  while (high / low > 1.005) {
    const middle = Math.sqrt(low * high);
    if (savings(middle) < 0) low = middle;
    else high = middle;
  }
  return Number(high.toPrecision(2));
};

/**
 * The number of calls a month from which a server is cheaper than the service, to two digits.
 *
 * @returns undefined if the service is cheaper up to 10¹² calls
 */
export const breakEven = (load: Load, measured: Measured, { usd }: Server): number | undefined =>
  crossing((calls) => total(computeBills(scaled(load, calls), measured).service) - usd);

/*
 * What the settings `events` and `analytics` add to a bill. The write path takes not a unit more.
 * What Lambda reads of the streams is free:
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CostOptimization_StreamsUsage.html
 */

/**
 * The shares of calls that are turns, and that fail, of the calls of examples/agent-traces.ts. A
 * test counts them.
 */
export const turnShare = 0.323;
export const failedShare = 0.003;

/**
 * The most records of a batch: 6 MB of start and end with old and new item, in base64; and its
 * longest time.
 */
const recordsOfBatch = { events: 1000, analytics: 1500, evaluators: 1000 } as const;
const secondsOfBatch = { events: 5, analytics: 300, evaluators: 5 } as const;
/**
 * A table paid per request begins with four shards. Each is read in so many lanes, of which each has
 * batches of its own. A test compares the lanes with the template.
 */
const shards = 4;
export const lanesOfShard = { events: 4, analytics: 1, evaluators: 4 } as const;

/**
 * Milliseconds of a full vCPU for a record. `npm run bench -- --only streams` measures less on an
 * x86 machine, and reports if it is more. The rest is room for a slower core.
 */
export const recordCpuMs = { events: 0.3, analytics: 0.3, evaluators: 0.1 } as const;

/**
 * Milliseconds that a batch waits for stores, and each of its records for its share of the requests
 * to EventBridge. Those have ten events each, run eight at once, and take 30 ms. They are assumed.
 */
const times = {
  events: { batchMs: 60, waitMs: 0.5, memoryMb: 512 },
  analytics: { batchMs: 300, waitMs: 0, memoryMb: 1024 },
  evaluators: { batchMs: 60, waitMs: 0, memoryMb: 512 },
} as const;

type Reader = keyof typeof times;

/**
 * The batches of a month. A request's calls go to all lanes, and each lane has a batch of them,
 * unless others came within its time.
 */
const countBatches = (reader: Reader, load: Load): number => {
  const records = countRecords(load);
  const full = records / recordsOfBatch[reader];
  const lanes = shards * lanesOfShard[reader];
  const arriving = Math.min(records, (records / load.batch) * lanes);
  const timed = (lanes * monthSeconds) / secondsOfBatch[reader];
  return Math.max(full, Math.min(arriving, timed));
};

const functionBill = (reader: Reader, load: Load): Bill => {
  const { batchMs, waitMs, memoryMb } = times[reader];
  const recordMs = cpuIn(recordCpuMs[reader], memoryMb) + waitMs;
  const batches = countBatches(reader, load);
  const gigabyteSeconds = ((batches * batchMs + countRecords(load) * recordMs) / 1000) * (memoryMb / 1024);
  return {
    'Lambda: requests': getCost('functionRequests', batches),
    'Lambda: time': getCost('functionTime', gigabyteSeconds),
  };
};

/** Records of starts and ends: one a call, two if they come apart. */
const countRecords = ({ calls, apart }: Load): number => calls * (1 + apart);

/** What events add. An end by itself asks for its start. */
export const eventsBill = (load: Load, { eventReads }: Measured): Bill => ({
  'EventBridge: events': getCost('events', load.calls * (1 + turnShare + failedShare)),
  'DynamoDB: reads': getCost('readUnits', load.calls * load.apart * eventReads),
  ...functionBill('events', load),
});

/** The most bytes of a row in a file, which `npm run bench -- --only streams` checks. */
export const rowBytes = 125;

/** What analytics add, with one project. Each half of a call asks for the other. */
export const analyticsBill = (load: Load, { rowReads }: Measured): Bill => {
  return {
    'DynamoDB: reads': getCost('readUnits', load.calls * load.apart * rowReads),
    'S3: files': getCost('objectPuts', countBatches('analytics', load)),
    'S3: storage': getCost('objectStorage', countRecords(load) * rowBytes * load.months),
    ...functionBill('analytics', load),
  };
};

/**
 * How Lambda asks a queue of which it may work on a bounded number of messages: with five requests at
 * once, each of which waits 20 seconds for a message
 * (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html).
 */
const polling = { requests: 5, seconds: 20 } as const;

/** What evaluators add in a month in which nothing happens. See docs/decisions/0270. */
export const idleEvaluatorsBill = (): Bill => ({
  'SQS: asking the empty queue': getCost(
    'queueRequests',
    polling.requests * (monthSeconds / polling.seconds),
  ),
});

/** What evaluators add that pass all calls over: the stream's reading. An end by itself asks for its start. */
export const evaluatorsBill = (load: Load, { eventReads }: Measured): Bill => ({
  ...idleEvaluatorsBill(),
  'DynamoDB: reads': getCost('readUnits', load.calls * load.apart * eventReads),
  ...functionBill('evaluators', load),
});

/**
 * What a verdict of a judge takes, beside the model: write units of the ledger (two transactions and a
 * note), of the feedback with its indexes, and of the judge's call; read units of call, sheet and
 * evaluator. Ten share a message of SQS each way, a lease of two write units and a read unit, and three
 * seconds of the function: assumed.
 */
const verdict = {
  writeUnits: 9 + 4 + 7 + 2 / 10,
  readUnits: 8 + 1 / 10,
  queueRequests: 3 / 10,
  batch: 10,
  seconds: 3,
} as const;

/** What evaluators add that judge each call by a model, beside what that costs. */
export const verdictsBill = (load: Load, measured: Measured): Bill => {
  const { calls } = load;
  const gigabyteSeconds = ((calls / verdict.batch) * verdict.seconds * times.evaluators.memoryMb) / 1024;
  return {
    ...evaluatorsBill(load, measured),
    'DynamoDB: verdicts':
      getCost('writeUnits', calls * verdict.writeUnits) + getCost('readUnits', calls * verdict.readUnits),
    'SQS: requests': getCost('queueRequests', calls * verdict.queueRequests),
    'Lambda: judging':
      getCost('functionRequests', calls / verdict.batch) + getCost('functionTime', gigabyteSeconds),
  };
};

/**
 * How many times as long reporting takes with all built-in rules of redaction, at most:
 * `npm run bench -- --only redaction` measures less, and reports if it is more.
 */
export const redactionFactor = 1.5;

/** What redaction adds, by all built-in rules of which one hashes. */
export const redactionBill = ({ calls, cpuMs, memoryMb }: Load): Bill => {
  const milliseconds = calls * cpuIn(cpuMs * (redactionFactor - 1), memoryMb);
  return {
    'Lambda: time': getCost('functionTime', (milliseconds / 1000) * (memoryMb / 1024)),
    'Secrets Manager: the key of hashes': getCost('secrets', 1),
  };
};

/**
 * What a model request takes under the spending limits of one key or project: an update that holds money, and
 * one that settles it. Both answer with what is spent. The function has 512 MB, and waits for both.
 */
const limited = { writeUnits: 2, waits: 2, memoryMb: 512 } as const;

/** What spending limits add if each call is a model request under one of them. */
export const limitsBill = ({ calls, latencyMs }: Load): Bill => {
  const seconds = (calls * limited.waits * latencyMs) / 1000;
  return {
    'DynamoDB: writes': getCost('writeUnits', calls * limited.writeUnits),
    'Lambda: time': getCost('functionTime', seconds * (limited.memoryMb / 1024)),
  };
};

/*
 * What a hundred alerts add over a project of a million calls a month: eight in ten with windows of up
 * to an hour, two of a day or a week that rollups answer. `npm run bench -- --only alerts` counts
 * the units of the shorter ones.
 */

const alertCalls = 1_000_000;
const monthMinutes = monthHours * 60;
/** Looks of a month at windows of a day and of a week: every twelfth of them. */
const longLooks = (monthDays + monthDays / 7) * 12;

/**
 * What a function takes for a minute's looks: milliseconds of a full vCPU, of which
 * `npm run bench -- --only alerts` measures half on an x86 machine; the time that it waits for stores;
 * its memory; and the bytes that it logs.
 */
const lookTimes = { cpuMs: 80, waitMs: 120, memoryMb: 512, logBytes: 700 } as const;

/** What a hundred alerts add over a project of a million calls a month, beside what they tell. */
export const alertsBill = (load: Load, { alerts, rollups, scannedPerUnit }: Measured): Bill => {
  const { cpuMs, waitMs, memoryMb, logBytes } = lookTimes;
  const hourUnits = alertCalls / monthHours / scannedPerUnit;
  const reads = monthMinutes * alerts.reads + longLooks * (rollups + load.openHours * hourUnits);
  const gigabyteSeconds = (monthMinutes * (cpuIn(cpuMs, memoryMb) + waitMs) * memoryMb) / 1000 / 1024;
  return {
    'DynamoDB: reads': getCost('readUnits', reads),
    'DynamoDB: writes': getCost('writeUnits', monthMinutes * alerts.writes),
    'Lambda: requests': getCost('functionRequests', monthMinutes),
    'Lambda: time': getCost('functionTime', gigabyteSeconds),
    'CloudWatch: logs':
      getCost('logs', monthMinutes * logBytes) + getCost('logStorage', monthMinutes * logBytes),
  };
};

/** What the setting `alerts` adds while there is no alert: a read each minute. */
export const idleAlertsBill = (_: Load, { alerts }: Measured): Bill => {
  const gigabyteSeconds = (monthMinutes * 10 * lookTimes.memoryMb) / 1000 / 1024;
  return {
    'DynamoDB: reads': getCost('readUnits', monthMinutes * alerts.idle),
    'Lambda: requests': getCost('functionRequests', monthMinutes),
    'Lambda: time': getCost('functionTime', gigabyteSeconds),
    'CloudWatch: logs': getCost('logs', monthMinutes * lookTimes.logBytes),
  };
};

/**
 * What a read of a prompt takes: milliseconds of a full vCPU; the function's memory; and bytes of the
 * access log and of the function's.
 */
const promptRead = { cpuMs: 5, memoryMb: 512, logBytes: 1500 } as const;

/** What so many reads of prompts cost, each of two steps in DynamoDB. */
export const promptsBill = ({ latencyMs }: Load, { prompt }: Measured, reads: number): Bill => {
  const { cpuMs, memoryMb, logBytes } = promptRead;
  const gigabyteSeconds = (reads * (cpuIn(cpuMs, memoryMb) + latencyMs) * memoryMb) / 1000 / 1024;
  return {
    'API Gateway: requests': getCost('apiRequests', reads),
    'DynamoDB: reads': getCost('readUnits', reads * prompt),
    'Lambda: requests': getCost('functionRequests', reads),
    'Lambda: time': getCost('functionTime', gigabyteSeconds),
    'CloudWatch: logs': getCost('logs', reads * logBytes) + getCost('logStorage', reads * logBytes),
  };
};

/** What the audit trail adds to so many changes and sign-ins, each with an entry of so many write units. */
export const auditBill = (entries: number, writeUnits: number): Bill => ({
  'DynamoDB: writes': getCost('writeUnits', entries * writeUnits),
});

/** What it costs to read the trail so often, each time with so many read units. */
export const auditReadsBill = (reads: number, readUnits: number): Bill => ({
  'DynamoDB: reads': getCost('readUnits', reads * readUnits),
});

/** The most bytes that routes without a key answer, head included. Tests hold them to it. */
export const openAnswerBytes = { compressed: 170_000, plain: 18_000 } as const;

/** A line of the access log, in bytes, and the time that a function takes for a fixed answer, in ms. */
const openRequest = { logBytes: 600, ms: 10, memoryGb: 0.25 } as const;

/** What a method without a key costs in an hour if it is asked as fast as its throttle allows. */
export const openBill = (ratePerSecond: number, bytes: number): Bill => {
  const requests = ratePerSecond * 3600;
  return {
    'API Gateway: requests': getCost('apiRequests', requests),
    'data sent to the internet': getCost('transferOut', requests * bytes),
    'Lambda: requests': getCost('functionRequests', requests),
    'Lambda: time': getCost('functionTime', (requests * openRequest.ms * openRequest.memoryGb) / 1000),
    'CloudWatch: logs': getCost('logs', requests * openRequest.logBytes),
  };
};

/** The time that a function takes for the longest trace that a public link shows, in ms, and its memory. */
const linkRequest = { ms: 1500, memoryGb: 0.5 } as const;

/** What one that answers traces by links costs likewise, if each is as long as it may be and does not compress. */
export const linkBill = (ratePerSecond: number): Bill => {
  const requests = ratePerSecond * 3600;
  return {
    ...openBill(ratePerSecond, maxSharedBytes),
    // An eventually consistent unit has 8 KB.
    'DynamoDB: reads': getCost('readUnits', (requests * maxSharedBytes) / 8192),
    'Lambda: time': getCost('functionTime', (requests * linkRequest.ms * linkRequest.memoryGb) / 1000),
  };
};
