import { Aws, Duration } from 'aws-cdk-lib';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Api } from './api.ts';
import type { Auth } from './auth.ts';
import type { Functions } from './functions.ts';
import type { Route } from './routes.ts';
import type { Storage } from './storage.ts';

/** What can be measured. */
export interface SignalsProps {
  readonly routes: readonly Route[];
  readonly storage: Storage;
  readonly auth: Auth;
  readonly functions: Functions;
  readonly api: Api;
}

const period = Duration.minutes(5);

/** The lines in a function's log that mean a failure: the handler's own, and those of Lambda, which are no JSON. */
const failures = {
  Logged: FilterPattern.stringValue('$.level', '=', 'error'),
  Died: FilterPattern.anyTerm('ERROR', 'Task timed out', 'Runtime exited'),
};

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

/** The metrics that tell how the service is, for the alarms and the dashboard; in five-minute periods. */
export class Signals extends Construct {
  readonly requests: Metric;
  readonly clientErrors: Metric;
  readonly serverErrors: Metric;
  readonly latency: readonly Metric[];
  /** Errors in the logs of all endpoints: one metric however many functions there are, and none until one fails. */
  readonly failures: Metric;
  /** Of the account and region: concurrency is shared, so a throttle anywhere is a throttle here soon. */
  readonly functionThrottles: Metric;
  readonly ingest: { readonly durationP99: Metric; readonly timeout: Duration };
  /** The 99th percentile of each function's duration. */
  readonly durations: readonly Metric[];
  /** By alarm: throttled requests of the tables, and of the index that every write and most queries go to. */
  readonly tableThrottles: Readonly<Record<string, Metric>>;
  readonly capacity: readonly Metric[];

  constructor(scope: Construct, id: string, { routes, storage, auth, functions, api }: SignalsProps) {
    super(scope, id);
    const stage = api.rest.deploymentStage;
    this.requests = stage.metricCount({ period });
    this.clientErrors = stage.metricClientError({ period });
    this.serverErrors = stage.metricServerError({ period });
    this.latency = ['p50', 'p99'].map((statistic) =>
      stage.metricLatency({ period, statistic, label: statistic }),
    );
    this.failures = this.#failures(routes, functions);
    this.functionThrottles = new Metric({
      namespace: 'AWS/Lambda',
      metricName: 'Throttles',
      statistic: Stats.SUM,
      period,
    });
    this.durations = [...routes.map((route) => functions.of(route)), auth.function].map(({ handler }, i) =>
      handler.metricDuration({ period, statistic: 'p99', label: routes[i]?.path ?? 'authorizer' }),
    );
    this.ingest = this.#ingest(routes, functions);
    this.tableThrottles = {
      CallsReadThrottles: dynamodbMetric('ReadThrottleEvents', storage.calls),
      CallsWriteThrottles: dynamodbMetric('WriteThrottleEvents', storage.calls),
      CallsByTimeReadThrottles: dynamodbMetric('ReadThrottleEvents', storage.calls, 'by_time'),
      CallsByTimeWriteThrottles: dynamodbMetric('WriteThrottleEvents', storage.calls, 'by_time'),
      KeysReadThrottles: dynamodbMetric('ReadThrottleEvents', auth.keys),
    };
    this.capacity = ['ConsumedReadCapacityUnits', 'ConsumedWriteCapacityUnits'].map((name) =>
      dynamodbMetric(name, storage.calls),
    );
  }

  #failures(routes: readonly Route[], functions: Functions): Metric {
    const metric = { metricNamespace: Aws.STACK_NAME, metricName: 'Failures' };
    for (const { logGroup, node } of routes.map((route) => functions.of(route))) {
      for (const [kind, filterPattern] of Object.entries(failures)) {
        new MetricFilter(this, `${node.id}${kind}`, { ...metric, logGroup, filterPattern, metricValue: '1' });
      }
    }
    return new Metric({
      namespace: metric.metricNamespace,
      metricName: metric.metricName,
      statistic: Stats.SUM,
      period,
    });
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
