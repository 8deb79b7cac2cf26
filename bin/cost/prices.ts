/**
 * Amazon's on-demand list prices for us-east-1 (N. Virginia) in US dollars, noted on 2026-11-21
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
  readonly of: string;
  /** The quantity that the price is for, in requests, bytes, GB-seconds, … */
  readonly per: number;
  /** The page that lists it. */
  readonly source: string;
}

const million = 1_000_000;
/** A billed GB, taken as 10⁹ bytes. This is seven percent too dear where AWS means 2³⁰. */
const gigabyte = 1_000_000_000;

const dynamodb = 'https://aws.amazon.com/dynamodb/pricing/on-demand/';
const lambda = 'https://aws.amazon.com/lambda/pricing/';
const gateway = 'https://aws.amazon.com/api-gateway/pricing/';
const cloudwatch = 'https://aws.amazon.com/cloudwatch/pricing/';
const s3 = 'https://aws.amazon.com/s3/pricing/';
const xray = 'https://aws.amazon.com/xray/pricing/';
const eventbridge = 'https://aws.amazon.com/eventbridge/pricing/';
const ec2 = 'https://aws.amazon.com/ec2/pricing/on-demand/';

const price = (usd: number, per: number, of: string, source: string): Price => ({ usd, per, of, source });

export const prices = {
  writeUnits: price(0.625, million, '1,000,000 DynamoDB write units', dynamodb),
  readUnits: price(0.125, million, '1,000,000 DynamoDB read units', dynamodb),
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
  events: price(1, million, '1,000,000 custom events of up to 64 KB on EventBridge', eventbridge),
  objectStorage: price(0.023, gigabyte, 'a GB in S3 for a month', s3),
} as const satisfies Record<string, Price>;

/** The cost of a quantity, in US dollars. */
export const costOf = (name: keyof typeof prices, count: number): number =>
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
