import { Construct } from 'constructs';
import { Alarms } from './alarms.ts';
import { Budget } from './budget.ts';
import type { Config } from './config.ts';
import { Dashboard } from './dashboard.ts';
import { Queries } from './queries.ts';
import { Signals, type SignalsProps } from './signals.ts';

/** What is watched, and who is told. */
export interface ObservabilityProps extends SignalsProps {
  readonly config: Config;
}

/**
 * Dashboard, alarms, saved queries and budget. They keep within what CloudWatch gives for free: 3
 * dashboards of 50 metrics, and 10 alarm metrics.
 */
export class Observability extends Construct {
  constructor(scope: Construct, id: string, { config, ...watched }: ObservabilityProps) {
    super(scope, id);
    const { name, functions, auth } = watched;
    const signals = new Signals(this, 'Signals', watched);
    const logGroupNames = [functions, auth.function].map(({ logGroup }) => logGroup.logGroupName);
    new Alarms(this, 'Alarms', { config, signals });
    new Dashboard(this, 'Dashboard', { name, signals, logGroupNames });
    new Queries(this, 'Queries', { name, logGroupNames });
    new Budget(this, 'Budget', config);
  }
}
