import { Aws, Duration } from 'aws-cdk-lib';
import {
  Dashboard as CloudWatchDashboard,
  GraphWidget,
  type IMetric,
  LogQueryWidget,
  MathExpression,
  Metric,
  Stats,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import {
  CfnQueryDefinition,
  FilterPattern,
  type IFilterPattern,
  type ILogGroup,
  MetricFilter,
} from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Route } from '../api/endpoint.ts';
import { type IndexName, type TableName, tables } from '../foundations/storage/tables.ts';
import type { Api } from './api.ts';
import type { Auth } from './auth.ts';
import type { Functions } from './functions.ts';
import type { Storage } from './storage.ts';
import type { Streams } from './streams.ts';
import { type Graph, type Logging, period, type Watched, type WatchedFunction } from './watched.ts';

/** What can be measured. */
export interface SignalsProps {
  /** The name of the service. */
  readonly name: string;
  readonly routes: readonly Route[];
  readonly storage: Storage;
  readonly auth: Auth;
  readonly functions: Functions;
  readonly api: Api;
  /** Undefined if nothing reads the streams of tables. */
  readonly streams: Streams | undefined;
  /** What is to be watched of each setting that is on. */
  readonly features: readonly Watched[];
}

/**
 * What Lambda writes when a function dies: the platform for one that runs out of time or ends its
 * process, and the runtime's client for one that cannot be loaded. Node 24's client has no words of
 * its own for a rejection that nobody handles.
 */
export const deaths = [
  'Task timed out',
  'Runtime exited',
  'Runtime.ExitError',
  'Init Error',
  'Status: error',
];

/**
 * The lines in a function's log that mean a failure: the function's own, and those of its death.
 * Errors that a handler throws (`Invoke Error`) are left out. They have a line of their own, or mean
 * that a client went away or a key was refused.
 */
const failures: Readonly<Record<string, IFilterPattern>> = {
  Logged: FilterPattern.stringValue('$.level', '=', 'error'),
  Died: FilterPattern.anyTerm(...deaths),
};

/** Requests to storage that were throttled, as the functions count them. */
const throttled = FilterPattern.numberValue('$.throttled', '>', 0);

/** Requests that ended in a 504 because the time was up that their caller gave them. */
const callersTimeouts = FilterPattern.all(
  FilterPattern.stringValue('$.outcome', '=', 'timed_out'),
  FilterPattern.numberValue('$.status', '=', 504),
);

/** The endpoint that reports nearly all calls. */
const ingestPath = '/call/upsert_batch';

const dynamodbMetric = (metricName: string, table: Table, index?: string): Metric =>
  new Metric({
    namespace: 'AWS/DynamoDB',
    metricName,
    statistic: Stats.SUM,
    period,
    dimensionsMap: { TableName: table.tableName, ...(index && { GlobalSecondaryIndexName: index }) },
  });

const lambdaMetric = (metricName: string, statistic: string): Metric =>
  new Metric({ namespace: 'AWS/Lambda', metricName, statistic, period });

/** The age of what these functions read of streams; the greatest, if there are several. */
const oldest = (readers: readonly LambdaFunction[]): IMetric | undefined => {
  const ages = readers.map((reader) =>
    reader.metric('IteratorAge', { statistic: Stats.MAXIMUM, period, label: reader.node.path }),
  );
  if (ages.length < 2) return ages[0];
  const using = ages.map((age, i) => [`age${i}`, age] as const);
  return new MathExpression({
    label: 'Age of records (ms)',
    expression: `MAX([${using.map(([name]) => name).join(',')}])`,
    usingMetrics: Object.fromEntries(using),
    period,
  });
};

/** The index that every write of a call and most queries go to. */
const busiestIndex: IndexName<'calls'> = 'by_time';

const watchedTables = ({ storage, auth }: SignalsProps): [TableName, Table][] => [
  ['calls', storage.calls],
  ['objects', storage.objects],
  ['costs', storage.costs],
  ['feedback', storage.feedback],
  ['bookkeeping', storage.bookkeeping],
  ['audit', storage.audit],
  ['keys', auth.keys],
];

/** What is consumed of all tables and indexes. DynamoDB counts each index apart. */
const consumed = (metricName: string, props: SignalsProps): Metric[] => {
  const watched = watchedTables(props);
  return [
    ...watched.map(([, table]) => dynamodbMetric(metricName, table)),
    ...watched.flatMap(([name, table]) =>
      Object.keys(tables[name].indexes).map((index) => dynamodbMetric(metricName, table, index)),
    ),
  ];
};

/**
 * Tables whose throttle events are not shown, since they are used least. The service counts the
 * throttled requests to all tables.
 */
const seldomUsed: ReadonlySet<TableName> = new Set(['objects', 'costs', 'bookkeeping', 'audit']);

/** Throttle events of the tables in constant use, and of the busiest index. */
const throttleEvents = (props: SignalsProps): Metric[] =>
  ['ReadThrottleEvents', 'WriteThrottleEvents'].flatMap((metricName) => [
    ...watchedTables(props).flatMap(([name, table]) =>
      seldomUsed.has(name) ? [] : [dynamodbMetric(metricName, table)],
    ),
    dynamodbMetric(metricName, props.storage.calls, busiestIndex),
  ]);

/** The metrics that alarms and dashboard show, in periods of five minutes. */
export class Signals extends Construct {
  readonly requests: Metric;
  readonly clientErrors: Metric;
  readonly serverErrors: Metric;
  /** The same without the 504s of callers who gave a model less time than it took. */
  readonly unexpectedErrors: MathExpression;
  readonly latency: readonly Metric[];
  /** Failures in the log of all endpoints: one metric, which has no data until one fails. */
  readonly failures: Metric;
  /** Failures of the authorizer, without which no endpoint answers. */
  readonly authorizerFailures: Metric;
  /** Failures of the functions that settings bring, each with its alarm. */
  readonly featureFailures: readonly (WatchedFunction & { readonly metric: Metric })[];
  /** Throttled requests to tables, indexes and bucket, as the functions count them. */
  readonly storageThrottles: Metric;
  /** Of the account and region. All functions share concurrency, so a throttle spreads to all. */
  readonly functionThrottles: Metric;
  /** Of the account and region. */
  readonly concurrency: Metric;
  readonly ingest: { readonly durationP99: Metric; readonly timeout: Duration };
  /** By table, and of one index. */
  readonly throttleEvents: readonly Metric[];
  readonly readUnits: readonly Metric[];
  readonly writeUnits: readonly Metric[];
  /** Dead letters of streams; undefined if nothing reads the streams of tables. */
  readonly deadLetters: Metric | undefined;
  /**
   * How old the records are that readers of streams get, in ms: of the reader that is furthest behind;
   * undefined if nothing reads them.
   */
  readonly streamAge: IMetric | undefined;
  /** The graphs of settings that are on. */
  readonly featureGraphs: readonly Graph[];
  readonly #name: string;

  constructor(scope: Construct, id: string, props: SignalsProps) {
    super(scope, id);
    const { name, routes, auth, functions, api } = props;
    this.#name = name;
    const stage = api.rest.deploymentStage;
    this.requests = stage.metricCount({ period });
    this.clientErrors = stage.metricClientError({ period });
    this.serverErrors = stage.metricServerError({ period });
    this.latency = ['p50', 'p99'].map((statistic) =>
      stage.metricLatency({ period, statistic, label: statistic }),
    );
    const authorizer = auth.function;
    this.unexpectedErrors = new MathExpression({
      label: 'Unexpected 5XX',
      expression: 'errors - FILL(timeouts, 0)',
      usingMetrics: {
        errors: this.serverErrors,
        timeouts: this.#fromLogs('CallersTimeouts', [functions], { TimedOut: callersTimeouts }),
      },
      period,
    });
    this.failures = this.#fromLogs('Failures', [functions], failures);
    this.authorizerFailures = this.#fromLogs('AuthorizerFailures', [authorizer], failures);
    this.featureFailures = props.features
      .flatMap(({ function: own }) => own ?? [])
      .map((own) => ({ ...own, metric: this.#fromLogs(own.metricName, [own.logging], failures) }));
    const all = [functions, authorizer];
    this.storageThrottles = this.#fromLogs('StorageThrottles', all, { Throttled: throttled }, '$.throttled');
    this.functionThrottles = lambdaMetric('Throttles', Stats.SUM);
    this.concurrency = lambdaMetric('ConcurrentExecutions', Stats.MAXIMUM);
    this.ingest = this.#ingest(routes, functions);
    this.throttleEvents = throttleEvents(props);
    this.readUnits = consumed('ConsumedReadCapacityUnits', props);
    this.writeUnits = consumed('ConsumedWriteCapacityUnits', props);
    this.streamAge = oldest([...(props.streams?.readers ?? [])]);
    this.featureGraphs = props.features.flatMap(({ graph: own }) => own ?? []);
    this.deadLetters = props.streams?.deadLetters.metricApproximateNumberOfMessagesVisible({ period });
  }

  /** One metric, counted in several logs. It has data only in hours in which it is above 0. */
  #fromLogs(
    metricName: string,
    logs: readonly Logging[],
    patterns: Readonly<Record<string, IFilterPattern>>,
    metricValue = '1',
  ): Metric {
    const metricNamespace = this.#name;
    const filter = (id: string, logGroup: ILogGroup, filterPattern: IFilterPattern) =>
      new MetricFilter(this, id, { metricNamespace, metricName, logGroup, filterPattern, metricValue });
    for (const { logGroup, node } of logs) {
      for (const [kind, pattern] of Object.entries(patterns)) filter(`${node.id}${kind}`, logGroup, pattern);
    }
    return new Metric({ namespace: metricNamespace, metricName, statistic: Stats.SUM, period });
  }

  #ingest(routes: readonly Route[], functions: Functions): Signals['ingest'] {
    const route = routes.find(({ path }) => path === ingestPath);
    if (!route) throw new Error(`no route ${ingestPath} to watch the duration of`);
    return {
      durationP99: functions.getFunction(route).handler.metricDuration({ period, statistic: 'p99' }),
      timeout: Duration.seconds(route.timeoutSeconds),
    };
  }
}

/**
 * Prices of a million, in dollars: on demand, in us-east-1. Prices of one would be written with an
 * exponent, which CloudWatch does not read.
 */
const pricesOfAMillion = { writeUnits: 0.625, readUnits: 0.125, requestsToTheApi: 3.5 } as const;

/** The price of one GB of an ARM function's memory for one second, in dollars. */
const gbSecondPrice = 0.0000133334;

const { writeUnits, readUnits } = pricesOfAMillion;
const dollars = `(sum(writeUnits) * ${writeUnits} + sum(readUnits) * ${readUnits}) / 1000000 as dollars`;

/** Takes the name of a line's function from its log stream; `Functions.logGroup` has the form. */
const functionOfLine = 'parse @logStream /(?<functionName>[\\w-]+)\\[/';

/**
 * The saved queries of CloudWatch Logs Insights by their names. docs/operations.md says what each
 * is for, and what the fields are.
 */
export const queries = {
  'Requests by route': `filter message = "request"
| stats count(*) as total, sum(failed) as failures, pct(ms, 50) as p50, pct(ms, 99) as p99, sum(rows) as records, sum(readUnits) as reads, sum(writeUnits) as writes, sum(throttled) as throttles by route
| sort total desc`,
  Failures: `filter level = "error" or @message like /${deaths.join('|')}/
| ${functionOfLine}
| fields @timestamp, route, functionName, outcome, status, error.name, error.message, requestId, @message
| sort @timestamp desc
| limit 50`,
  'One request': `filter requestId = "<the x-request-id>"
| ${functionOfLine}
| fields @timestamp, message, functionName, outcome, status, ms, lambdaRequestId, traceId, @message
| sort @timestamp asc`,
  'Slow requests': `filter message = "request"
| fields @timestamp, route, ms, rows, scanned, hydrated, readUnits, requests, throttled, coldStart, plan.source, traceId, requestId
| sort ms desc
| limit 50`,
  'Refused requests': `filter message = "request" and outcome = "refused"
| stats count(*) as total by route, status, errors.0.type, errors.0.loc, user
| sort total desc`,
  'Refused keys': `filter message = "authorizer" and outcome = "refused"
| stats count(*) as total by reason, keyId, route
| sort total desc`,
  'Cost by project': `filter message = "request"
| stats count(*) as total, sum(writeUnits) as writes, sum(readUnits) as reads, ${dollars} by projects.0
| sort dollars desc`,
  'Cost by key': `filter message = "request"
| stats count(*) as total, sum(writeUnits) as writes, sum(readUnits) as reads, ${dollars} by user, keyId
| sort dollars desc`,
  'Cost of functions': `filter @type = "REPORT"
| ${functionOfLine}
| stats count(*) as invocations, count(@initDuration) as coldStarts, pct(@initDuration, 99) as initP99, max(@maxMemoryUsed) / 1000000 as maxMB, sum(@billedDuration * @memorySize) / 1024000000000 * ${gbSecondPrice} as dollars by functionName
| sort dollars desc`,
} as const;

interface QueriesProps {
  /** The name of the service. */
  readonly name: string;
  readonly logGroupNames: readonly string[];
}

/** The saved queries, over the logs of all functions. They cost nothing until somebody runs one. */
export class Queries extends Construct {
  constructor(scope: Construct, id: string, { name: service, logGroupNames }: QueriesProps) {
    super(scope, id);
    for (const [name, queryString] of Object.entries(queries)) {
      new CfnQueryDefinition(this, name.replaceAll(' ', ''), {
        name: `${service}/${name}`,
        queryString,
        logGroupNames: [...logGroupNames],
      });
    }
  }
}

interface DashboardProps {
  /** The name of the service. */
  readonly name: string;
  readonly signals: Signals;
  /** The logs that its tables read. */
  readonly logGroupNames: readonly string[];
}

const secondsADay = Duration.days(1).toSeconds();

const graph = (title: string, metrics: readonly IMetric[], stacked = false): GraphWidget =>
  new GraphWidget({ title, left: [...metrics], stacked, width: 12 });

/**
 * What the units of these metrics would cost in a day at the present rate, in dollars.
 *
 * @param id a letter that begins the ids of the metrics in the formula
 * @param price of a million units, in dollars
 */
const dollarsADay = (
  label: string,
  id: string,
  price: number,
  metrics: readonly Metric[],
): MathExpression => {
  const using = metrics.map((metric, i) => [`${id}${i}`, metric] as const);
  const ids = using.map(([name]) => name);
  return new MathExpression({
    label,
    expression: `SUM([${ids.join(',')}]) * ${price} / 1000000 * ${secondsADay} / PERIOD(${ids[0]})`,
    usingMetrics: Object.fromEntries(using),
    period: Duration.minutes(5),
  });
};

/**
 * The dashboard. What an operator asks first is on top, tables from the logs are at the bottom. A
 * dashboard is free with up to 50 metrics. The tables read logs whenever somebody looks, and Logs
 * Insights charges that by the GB.
 */
export class Dashboard extends Construct {
  constructor(scope: Construct, id: string, { name, signals, logGroupNames }: DashboardProps) {
    super(scope, id);
    const dashboard = new CloudWatchDashboard(this, 'Dashboard', {
      // Dashboards have one name space for all regions of an account.
      dashboardName: `${name}-${Aws.REGION}`,
    });
    dashboard.addWidgets(
      graph('Requests', [signals.requests, signals.clientErrors, signals.serverErrors]),
      graph('Latency, streams to their end (ms)', signals.latency),
    );
    dashboard.addWidgets(
      graph('Failures and throttles', [
        signals.failures,
        signals.authorizerFailures,
        ...signals.featureFailures.map(({ metric }) => metric),
        signals.storageThrottles,
        signals.functionThrottles,
      ]),
      graph('Dollars a day at this rate (list prices of Virginia)', costs(signals), true),
    );
    dashboard.addWidgets(
      graph('Batches of calls: p99 of the duration (ms)', [signals.ingest.durationP99]),
      graph('Concurrent invocations of the account and region', [signals.concurrency]),
    );
    dashboard.addWidgets(
      graph('Tables: throttle events', signals.throttleEvents),
      ...signals.featureGraphs.map(({ title, metrics }) => graph(title, metrics)),
    );
    for (const title of ['Requests by route', 'Failures'] as const) {
      dashboard.addWidgets(
        new LogQueryWidget({
          title,
          logGroupNames: [...logGroupNames],
          queryString: queries[title],
          width: 24,
          height: title === 'Failures' ? 6 : 12,
        }),
      );
    }
  }
}

/**
 * The costs of what is paid by use and has metrics. The functions' time is missing here: see the
 * query `Cost of functions`.
 */
const costs = ({ writeUnits, readUnits, requests }: Signals): MathExpression[] => [
  dollarsADay('Writing (DynamoDB)', 'w', pricesOfAMillion.writeUnits, writeUnits),
  dollarsADay('Reading (DynamoDB)', 'r', pricesOfAMillion.readUnits, readUnits),
  dollarsADay('Requests (API Gateway)', 'q', pricesOfAMillion.requestsToTheApi, [requests]),
];
