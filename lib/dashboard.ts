import { Aws, Duration } from 'aws-cdk-lib';
import {
  Dashboard as CloudWatchDashboard,
  GraphWidget,
  type IMetric,
  LogQueryWidget,
  MathExpression,
  type Metric,
} from 'aws-cdk-lib/aws-cloudwatch';
import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Signals } from './signals.ts';

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
  Failures: `filter level = "error" or @message like /Task timed out|Runtime exited|Uncaught Exception|Unhandled Promise Rejection/
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
        signals.storageThrottles,
        signals.functionThrottles,
      ]),
      graph('Dollars a day at this rate (list prices of Virginia)', costs(signals), true),
    );
    dashboard.addWidgets(
      graph('Batches of calls: p99 of the duration (ms)', [signals.ingest.durationP99]),
      graph('Concurrent invocations of the account and region', [signals.concurrency]),
    );
    dashboard.addWidgets(graph('Tables: throttle events', signals.throttleEvents));
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
