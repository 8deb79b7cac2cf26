import { Aws } from 'aws-cdk-lib';
import { Dashboard, GraphWidget, type IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { Alarms } from './alarms.ts';
import type { Config } from './config.ts';
import { Signals, type SignalsProps } from './signals.ts';

/** What is watched, and who is told. */
export interface ObservabilityProps extends SignalsProps {
  readonly config: Config;
}

/** One dashboard and a few alarms, within what CloudWatch gives for free: 3 dashboards of 50 metrics, 10 alarm metrics. */
export class Observability extends Construct {
  constructor(scope: Construct, id: string, { config, ...watched }: ObservabilityProps) {
    super(scope, id);
    const signals = new Signals(this, 'Signals', watched);
    new Alarms(this, 'Alarms', { config, signals });
    this.#dashboard(signals);
  }

  #dashboard(signals: Signals): void {
    const dashboard = new Dashboard(this, 'Dashboard', {
      // Dashboards have one name space for all regions of an account.
      dashboardName: `${Aws.STACK_NAME}-${Aws.REGION}`,
    });
    dashboard.addWidgets(
      graph('Requests', [signals.requests, signals.clientErrors, signals.serverErrors]),
      graph('Latency, streams to their end (ms)', signals.latency),
    );
    dashboard.addWidgets(
      graph('Functions: p99 of the duration (ms)', signals.durations),
      graph('Functions: failures and throttles', [signals.failures, signals.functionThrottles]),
    );
    dashboard.addWidgets(
      graph('Calls: consumed capacity units', signals.capacity),
      graph('Tables: throttled requests', Object.values(signals.tableThrottles)),
    );
  }
}

const graph = (title: string, metrics: readonly IMetric[]): GraphWidget =>
  new GraphWidget({ title, left: [...metrics], width: 12 });
