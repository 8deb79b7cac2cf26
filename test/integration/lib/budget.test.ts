import { describe, expect, it } from 'vitest';
import { resourceOf, resourcesOf, synthesize } from '../../support/synth.ts';

describe('a budget', () => {
  it('is absent without the setting', () => {
    expect(resourcesOf(synthesize({ alarmEmail: 'ops@example.com' }), 'AWS::Budgets::Budget').size).toBe(0);
  });

  it('limits what the stack’s services may cost a month, and notifies the address before and when it is spent', () => {
    const template = synthesize({ alarmEmail: 'ops@example.com', monthlyBudget: 50 });
    const { Budget, NotificationsWithSubscribers } = resourceOf(template, 'AWS::Budgets::Budget')[1]
      .Properties;
    expect(Budget).toMatchObject({
      BudgetType: 'COST',
      TimeUnit: 'MONTHLY',
      BudgetLimit: { Amount: 50, Unit: 'USD' },
      CostFilters: {
        Service: expect.arrayContaining(['Amazon DynamoDB', 'AWS Lambda', 'Amazon API Gateway']),
      },
    });
    const notices = NotificationsWithSubscribers as { Notification: object; Subscribers: object[] }[];
    expect(notices.map(({ Notification }) => Notification)).toMatchObject([
      { NotificationType: 'ACTUAL', Threshold: 80 },
      { NotificationType: 'ACTUAL', Threshold: 100 },
      { NotificationType: 'FORECASTED', Threshold: 100 },
    ]);
    for (const { Subscribers } of notices)
      expect(Subscribers).toEqual([{ SubscriptionType: 'EMAIL', Address: 'ops@example.com' }]);
  });
});
