import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { FilterPattern, type IFilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct, type Node } from 'constructs';
import type { Route } from '../api/endpoint.ts';
import { type IndexName, type TableName, tables } from '../core/foundations/storage/tables.ts';
import type { Api } from './api.ts';
import type { Auth } from './auth.ts';
import type { Functions } from './functions.ts';
import type { Storage } from './storage.ts';
import type { Streams } from './streams.ts';

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
}

const period = Duration.minutes(5);

/**
 * The lines in a function's log that mean a failure: the function's own, and those that Lambda
 * writes when a function dies. Errors that a handler throws (`Invoke Error`) are left out. They
 * have a line of their own, or mean that a client went away or a key was refused.
 */
const failures: Readonly<Record<string, IFilterPattern>> = {
  Logged: FilterPattern.stringValue('$.level', '=', 'error'),
  Died: FilterPattern.anyTerm(
    'Task timed out',
    'Runtime exited',
    'Uncaught Exception',
    'Unhandled Promise Rejection',
  ),
};

/** Requests to storage that were throttled, as the functions count them. */
const throttled = FilterPattern.numberValue('$.throttled', '>', 0);

/** Requests that ended in a 504 because the time was up that their caller gave them. */
const callersTimeouts = FilterPattern.all(
  FilterPattern.stringValue('$.outcome', '=', 'timed_out'),
  FilterPattern.numberValue('$.status', '=', 504),
);

/** What writes a log: a function, or several that share one. */
interface Logging {
  readonly node: Node;
  readonly logGroup: ILogGroup;
}

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

/** The index that every write of a call and most queries go to. */
const busiestIndex: IndexName<'calls'> = 'by_time';

const watchedTables = ({ storage, auth }: SignalsProps): [TableName, Table][] => [
  ['calls', storage.calls],
  ['objects', storage.objects],
  ['costs', storage.costs],
  ['feedback', storage.feedback],
  ['rollups', storage.rollups],
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
const seldomUsed: ReadonlySet<TableName> = new Set(['costs', 'rollups']);

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
    const all = [functions, authorizer];
    this.storageThrottles = this.#fromLogs('StorageThrottles', all, { Throttled: throttled }, '$.throttled');
    this.functionThrottles = lambdaMetric('Throttles', Stats.SUM);
    this.concurrency = lambdaMetric('ConcurrentExecutions', Stats.MAXIMUM);
    this.ingest = this.#ingest(routes, functions);
    this.throttleEvents = throttleEvents(props);
    this.readUnits = consumed('ConsumedReadCapacityUnits', props);
    this.writeUnits = consumed('ConsumedWriteCapacityUnits', props);
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
      durationP99: functions.of(route).handler.metricDuration({ period, statistic: 'p99' }),
      timeout: Duration.seconds(route.timeoutSeconds),
    };
  }
}
