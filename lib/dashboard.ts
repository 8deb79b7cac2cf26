import { Aws, Duration } from 'aws-cdk-lib';
import {
  Dashboard as CloudWatchDashboard,
  GraphWidget,
  type IMetric,
  LogQueryWidget,
  MathExpression,
  type Metric,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { pricesOfAMillion, queries } from './queries.ts';
import type { Signals } from './signals.ts';

/** What the dashboard shows. */
export interface DashboardProps {
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
 * What is paid by use and has metrics. The functions' time has none here: the query `Cost of
 * functions` tells it.
 */
const costs = ({ writeUnits, readUnits, requests }: Signals): MathExpression[] => [
  dollarsADay('Writing (DynamoDB)', 'w', pricesOfAMillion.writeUnits, writeUnits),
  dollarsADay('Reading (DynamoDB)', 'r', pricesOfAMillion.readUnits, readUnits),
  dollarsADay('Requests (API Gateway)', 'q', pricesOfAMillion.requestsToTheApi, [requests]),
];
