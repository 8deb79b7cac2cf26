import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import { Construct } from 'constructs';
import type { Config } from './config.ts';

/** The services that the stack is made of, by their names on the bill. */
const services = [
  'Amazon API Gateway',
  'Amazon DynamoDB',
  'Amazon Simple Storage Service',
  'AmazonCloudWatch',
  'AWS Lambda',
  'AWS X-Ray',
];

/** When the budget tells: of what is spent or of the month's forecast, at which percentage. */
const notices = [
  ['ACTUAL', 80],
  ['ACTUAL', 100],
  ['FORECASTED', 100],
] as const;

/**
 * A monthly budget, in dollars, for what the account pays for the stack's services. Other uses of
 * these services count too: AWS tells a stack's own costs only after somebody has activated its
 * tags for billing. It is free. Without the setting there is no resource.
 */
export class Budget extends Construct {
  constructor(scope: Construct, id: string, { monthlyBudget, alarmEmail }: Config) {
    super(scope, id);
    if (monthlyBudget === undefined || alarmEmail === undefined) return;
    new CfnBudget(this, 'Monthly', {
      budget: {
        budgetType: 'COST',
        timeUnit: 'MONTHLY',
        budgetLimit: { amount: monthlyBudget, unit: 'USD' },
        costFilters: { Service: services },
      },
      notificationsWithSubscribers: notices.map(([notificationType, threshold]) => ({
        notification: {
          notificationType,
          threshold,
          thresholdType: 'PERCENTAGE',
          comparisonOperator: 'GREATER_THAN',
        },
        subscribers: [{ subscriptionType: 'EMAIL', address: alarmEmail }],
      })),
    });
  }
}
