import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import { Construct } from 'constructs';
import type { Config } from './config.ts';

/** The services that the stack is made of, by the names that the bill has for them. */
const services = [
  'Amazon API Gateway',
  'Amazon DynamoDB',
  'Amazon Simple Storage Service',
  'AmazonCloudWatch',
  'AWS Lambda',
  'AWS X-Ray',
];

/**
 * When it tells: the share of the amount, in percent, and whether it is spent or what the month
 * will come to.
 */
const notices = [
  ['ACTUAL', 80],
  ['ACTUAL', 100],
  ['FORECASTED', 100],
] as const;

/**
 * A budget of so many dollars a month for what the account pays for these services, of which the
 * stack is a part: AWS knows the costs of a stack by itself only where its tags have been activated
 * for billing. Free, and nothing without the setting.
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
