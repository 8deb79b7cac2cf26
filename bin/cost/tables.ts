import { getMethods, isByLink, linkShare, type Route, takesKey } from '../../api/endpoint.ts';
import { allRoutes } from '../../api/routes.ts';
import { settings } from '../../lib/config.ts';
import {
  alertsBill,
  analyticsBill,
  auditBill,
  auditReadsBill,
  type Bill,
  breakEven,
  computeBills,
  evaluatorsBill,
  eventsBill,
  httpApiCosts,
  idleAlertsBill,
  idleEvaluatorsBill,
  limitsBill,
  linkBill,
  openAnswerBytes,
  openBill,
  prices,
  promptsBill,
  provisionedBill,
  provisionedFrom,
  redactionBill,
  scaled,
  servers,
  total,
  verdictsBill,
} from './bill.ts';
import { type Load, type Measured, toLoad } from './load.ts';

/** A table of texts. Its first row is the header; all columns but the first are numbers. */
export type Table = readonly (readonly string[])[];

const count = (number: number): string => Math.round(number).toLocaleString('en-US');

/** Formats US dollars, with cents below 1,000. */
const dollars = (usd: number): string =>
  usd >= 1000
    ? count(usd)
    : usd.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/**
 * The bill by line, beside that of the usual layout. Lines without costs in either are left out.
 */
export const billTable = (load: Load, measured: Measured): Table => {
  const { service, usual } = computeBills(load, measured);
  const line = (name: string) => [name, dollars(service[name] ?? 0), dollars(usual[name] ?? 0)];
  const costs = (bill: Bill, name: string) => (bill[name] ?? 0) >= 0.005;
  return [
    ['$ a month', 'pennytrace', 'usual layout'],
    ...Object.keys(service)
      .filter((name) => costs(service, name) || costs(usual, name))
      .map(line),
    ['all', dollars(total(service)), dollars(total(usual))],
  ];
};

const loads = [100_000, 1_000_000, 10_000_000, 100_000_000];

/** Bills of several loads in proportion to the given one. */
export const growthTable = (load: Load, measured: Measured): Table => [
  ['calls a month', 'pennytrace, $', 'usual layout, $', '$ a million calls, pennytrace'],
  ...loads.map((calls) => {
    const { service, usual } = computeBills(scaled(load, calls), measured);
    const perMillion = (total(service) / calls) * 1_000_000;
    return [count(calls), dollars(total(service)), dollars(total(usual)), dollars(perMillion)];
  }),
];

const billedLoads = [1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000];

/** The share of provisioned capacity that is used at best: what auto scaling aims at by default. */
const usedAtBest = 0.7;

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** The bills with calls paid per request and with provisioned capacity, and from where on the latter is cheaper. */
export const billingTable = (load: Load, measured: Measured): Table => {
  const provisioned = [load, { ...load, used: Math.max(load.used, usedAtBest) }];
  return [
    ['calls a month', 'paid per request, $', ...provisioned.map(({ used }) => `${percent(used)} used, $`)],
    ...billedLoads.map((calls) => [
      count(calls),
      dollars(total(computeBills(scaled(load, calls), measured).service)),
      ...provisioned.map((one) => dollars(total(provisionedBill(scaled(one, calls), measured)))),
    ]),
    [
      'cheaper from this many calls',
      '',
      ...provisioned.map((one) => {
        const calls = provisionedFrom(one, measured);
        return calls === undefined ? 'never' : count(calls);
      }),
    ],
  ];
};

/** The number of calls a month from which each server is cheaper. */
export const serverTable = (load: Load, measured: Measured): Table => [
  ['server', '$ a month', 'cheaper from this many calls a month'],
  ...servers.map((server) => {
    const calls = breakEven(load, measured, server);
    return [server.name, dollars(server.usd), calls === undefined ? 'never' : count(calls)];
  }),
];

/** A load that reports a million calls and asks for nothing. */
const toReporting = (load: Load): Load => {
  const unasked = { queries: 0, traces: 0, lists: 0, usages: 0, statistics: 0, scans: 0, objects: 0 };
  return { ...load, calls: 1_000_000, ...unasked };
};

/** The costs of reporting a million calls, by calls per request. */
export const batchTable = (load: Load, measured: Measured): Table => [
  ['calls per request', 'pennytrace, $ a million calls', 'DynamoDB writes', 'requests and functions'],
  ...[1, 10, 25, 100, 400].map((batch) => {
    const { service } = computeBills(toReporting({ ...load, batch }), measured);
    const writes = service['DynamoDB: writes'] ?? 0;
    const rest = ['API Gateway: requests', 'Lambda: requests', 'Lambda: time'].map(
      (name) => service[name] ?? 0,
    );
    const others = rest.reduce((sum, line) => sum + line, 0);
    return [count(batch), dollars(writes + others), dollars(writes), dollars(others)];
  }),
];

/** Ways to report a million calls: together in batches, one by one, and start and end by themselves. */
const ways = [
  ['a hundred calls a request', { batch: 100, apart: 0 }],
  ['one call a request', { batch: 1, apart: 0 }],
  ['start and end in requests of their own', { batch: 1, apart: 1 }],
] as const;

/** What reporting a million calls costs by ways, and how much of it other doors would save. */
export const doorsTable = (load: Load, measured: Measured): Table => [
  ['a million calls, $', 'all, stored for months', 'of it REST API', 'by HTTP API', 'by function URL'],
  ...ways.map(([name, way]) => {
    const reporting = toReporting({ ...load, ...way });
    const { service } = computeBills(reporting, measured);
    const rest = service['API Gateway: requests'] ?? 0;
    return [name, dollars(total(service)), dollars(rest), dollars(httpApiCosts(reporting)), dollars(0)];
  }),
];

/** What it costs that visits to the page wake functions, if none of them was awake. */
const visitTable = (load: Load, measured: Measured): Table => [
  ['visits to the page', '$'],
  ...[1000, 10_000].map((visits) => {
    const { service } = computeBills({ ...load, visits }, measured);
    return [count(visits), dollars(service['the page: functions woken'] ?? 0)];
  }),
];

type ComputeBill = (load: Load, measured: Measured) => Bill;

/** What something adds to the bill, for calls reported together and apart. */
const moreTable = (load: Load, measured: Measured, bills: Readonly<Record<string, ComputeBill>>): Table => [
  ['$ a month more', 'start and end together', 'apart'],
  ...Object.entries(bills).map(([name, bill]) => [
    name,
    ...[0, 1].map((apart) => dollars(total(bill({ ...load, apart }, measured)))),
  ]),
];

/** What events and analytics add to the bill. */
export const streamsTable = (load: Load, measured: Measured): Table =>
  moreTable(load, measured, { '`events`': eventsBill, '`analytics`': analyticsBill });

/** What evaluators add to the bill, beside what models cost. */
export const evaluatorsTable = (load: Load, measured: Measured): Table =>
  moreTable(load, measured, {
    'in a month without calls': idleEvaluatorsBill,
    'that match no call': evaluatorsBill,
    'that judge every call with a model': verdictsBill,
  });

/** What redaction and spending limits add to the bill. */
export const settingsTable = (load: Load): Table => [
  ['$ a month more', ''],
  ['`redact`, with all built-in rules', dollars(total(redactionBill(load)))],
  ['`limits`, if each call is a model request under one', dollars(total(limitsBill(load)))],
];

/** What alerts add to the bill, by line. */
export const alertsTable = (load: Load, measured: Measured): Table => {
  const idle = idleAlertsBill(load, measured);
  const hundred = alertsBill(load, measured);
  const line = (name: string) => [name, dollars(idle[name] ?? 0), dollars(hundred[name] ?? 0)];
  return [
    ['$ a month more', 'no alert', '100 alerts'],
    ...Object.keys(hundred).map(line),
    ['all', dollars(total(idle)), dollars(total(hundred))],
  ];
};

/** What the audit trail adds to changes, and takes to read. */
export const auditTable = ({ audit }: Measured): Table => {
  const times = 100_000;
  const line = (name: string, units: number, bill: Bill) => [name, String(units), dollars(total(bill))];
  const entries = (name: string, units: number) => line(name, units, auditBill(times, units));
  return [
    ['the audit trail', 'units each', `$ for ${count(times)}`],
    entries('a sign-in, a key or a member', audit.member),
    entries('an alert, with what was there before', audit.alert),
    entries('the largest values that an entry keeps, before and after', audit.largest),
    line('reading the newest 100 entries', audit.newest, auditReadsBill(times, audit.newest)),
  ];
};

/** How long a client uses a prompt before it asks again, in minutes: the `Cache-Control` of its answer. */
const promptMinutes = 1;
const monthMinutes = 30 * 24 * 60;

/** What reads of prompts cost: each by itself, and behind the caches of clients that are never idle. */
export const promptsTable = (load: Load, measured: Measured): Table => {
  const line = (name: string, reads: number) => [
    name,
    count(reads),
    dollars(total(promptsBill(load, measured, reads))),
  ];
  return [
    ['reads of prompts', 'a month', '$'],
    line('one for each of a million model requests', 1_000_000),
    line('one prompt in the cache of a process', monthMinutes / promptMinutes),
    line('five prompts in the caches of ten processes', (50 * monthMinutes) / promptMinutes),
  ];
};

/** Routes without a key whose answers are long, and so compressed. */
const longAnswers = ['/ui/{proxy+}', '/openapi.json'];

/** The most that routes without a key can cost in an hour, whoever asks. */
export const openTable = (): Table => {
  const { openThrottleRate } = settings.parse({});
  const usd = (bytes: number) => total(openBill(openThrottleRate, bytes));
  const open = allRoutes.filter((route) => !takesKey(route));
  const routes = open.filter((route) => !isByLink(route));
  const byLink = open.filter(isByLink).length;
  const link = total(linkBill(linkShare(openThrottleRate)));
  const isLong = ({ path }: Route) => longAnswers.includes(path);
  const long = usd(openAnswerBytes.compressed);
  const short = usd(openAnswerBytes.plain);
  const methods = (of: readonly Route[]) => of.flatMap(getMethods).length;
  const longs = methods(routes.filter(isLong));
  const shorts = methods(routes.filter((route) => !isLong(route)));
  return [
    [`${openThrottleRate} requests a second for an hour`, 'methods', '$ each, at most', '$'],
    ['files of the page, the OpenAPI document', count(longs), dollars(long), dollars(longs * long)],
    ['all others', count(shorts), dollars(short), dollars(shorts * short)],
    ['traces by a public link, a tenth as often', count(byLink), dollars(link), dollars(byLink * link)],
    [
      'all at once',
      count(longs + shorts + byLink),
      '',
      dollars(longs * long + shorts * short + byLink * link),
    ],
  ];
};

/** The prices behind all bills. */
const priceTable = (): Table => [
  ['price', '$'],
  ...Object.values(prices).map(({ unit, usd }) => [unit, String(usd)]),
];

const toMarkdown = ([header = [], ...rows]: Table): string => {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(header), line(header.map((_, i) => (i === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n');
};

/** Formats a table for a terminal, the first column to the left and the others to the right. */
export const formatTable = (table: Table): string => {
  const widths = (table[0] ?? []).map((_, i) => Math.max(...table.map((row) => row[i]?.length ?? 0)));
  return table
    .map((row) =>
      row
        .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
        .join('  '),
    )
    .join('\n');
};

/** The tables of docs/cost.md by name, all for the default load except where stated. */
const tables: Readonly<Record<string, (measured: Measured) => Table>> = {
  bill: (measured) => billTable(toLoad(), measured),
  apart: (measured) => billTable(toLoad({ apart: 1 }), measured),
  growth: (measured) => growthTable(toLoad(), measured),
  billing: (measured) => billingTable(toLoad(), measured),
  batch: (measured) => batchTable(toLoad(), measured),
  doors: (measured) => doorsTable(toLoad(), measured),
  visits: (measured) => visitTable(toLoad(), measured),
  streams: (measured) => streamsTable(toLoad(), measured),
  evaluators: (measured) => evaluatorsTable(toLoad(), measured),
  settings: () => settingsTable(toLoad()),
  prompts: (measured) => promptsTable(toLoad(), measured),
  audit: (measured) => auditTable(measured),
  alerts: (measured) => alertsTable(toLoad(), measured),
  open: () => openTable(),
  servers: (measured) => serverTable(toLoad(), measured),
  prices: () => priceTable(),
};

/** A table's section: `<!-- table: name -->`, the table, `<!-- end -->`. */
const section = /<!-- table: (\w+) -->\n[\s\S]*?<!-- end -->/g;

/**
 * Updates the tables in the text of docs/cost.md.
 *
 * @throws Error if it has a section for an unknown table
 */
export const docsWith = (text: string, measured: Measured): string =>
  text.replace(section, (_, name: string) => {
    const table = tables[name];
    if (!table) throw new Error(`docs/cost.md has a section for the unknown table "${name}"`);
    return `<!-- table: ${name} -->\n${toMarkdown(table(measured))}\n<!-- end -->`;
  });
