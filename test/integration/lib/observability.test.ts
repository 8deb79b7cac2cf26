import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { getHandlers } from '../../../api/endpoint.ts';
import { routes } from '../../../api/routes.ts';
import { root } from '../../support/run/project.ts';
import { findResource, findResources, type Resource, synthesize } from '../../support/stack/template.ts';

const template = synthesize();
const getAlarm = (id: string) =>
  findResource(template, 'AWS::CloudWatch::Alarm', `ObservabilityAlarms${id}`)[1];

describe('the alarms', () => {
  const getMetrics = ({ Properties }: Resource): { Expression?: string; MetricStat?: object }[] =>
    (Properties.Metrics as object[] | undefined) ?? [{ MetricStat: { Metric: Properties } }];

  it('stay within the ten free metrics, unless streams have two readers', () => {
    const metricsWith = (settings: Record<string, unknown>) =>
      [...findResources(synthesize(settings), 'AWS::CloudWatch::Alarm').values()]
        .flatMap(getMetrics)
        .filter(({ MetricStat }) => MetricStat).length;
    expect(metricsWith({})).toBe(7);
    expect(metricsWith({ events: true, alerts: true })).toBe(10);
    expect(metricsWith({ events: true, alerts: true, analytics: true })).toBe(11);
  });

  it('ring when a reader of streams is far behind, long before records are given up', () => {
    const streams = synthesize({ evaluators: true, analytics: true });
    const [, { Properties }] = findResource(
      streams,
      'AWS::CloudWatch::Alarm',
      'ObservabilityAlarmsStreamAge',
    );
    const { Threshold, EvaluationPeriods, Metrics } = Properties as {
      Threshold: number;
      EvaluationPeriods: number;
      Metrics: { Expression?: string; MetricStat?: { Metric: { Dimensions: { Value: unknown }[] } } }[];
    };
    const [first] = findResources(streams, 'AWS::Lambda::EventSourceMapping').values();
    const givenUp = Number(first?.Properties.MaximumRecordAgeInSeconds);
    expect(Threshold / 1000 + EvaluationPeriods * 300).toBeLessThan(givenUp / 4);
    expect(Metrics.find(({ Expression }) => Expression)?.Expression).toBe('MAX([age0,age1])');
    const watched = Metrics.flatMap(({ MetricStat }) => MetricStat?.Metric.Dimensions ?? []);
    const readers = [...findResources(streams, 'AWS::Lambda::EventSourceMapping').values()]
      .filter(({ Properties: { StartingPosition } }) => StartingPosition !== undefined)
      .map(({ Properties: { FunctionName } }) => JSON.stringify(FunctionName));
    expect(new Set(watched.map(({ Value }) => JSON.stringify(Value)))).toEqual(new Set(readers));
  });

  it('ring before a batch of calls runs out of time', () => {
    const route = routes.find(({ path }) => path === '/call/upsert_batch');
    const { Threshold, ExtendedStatistic } = getAlarm('IngestDuration').Properties;
    expect(ExtendedStatistic).toBe('p99');
    expect(Threshold).toBeLessThan((route?.timeoutSeconds ?? 0) * 1000);
  });
});

describe('the runbook', () => {
  const page = readFileSync(join(root, 'docs/operations.md'), 'utf8');
  /** The anchors of the page's headings, as GitHub makes them. */
  const anchors = [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
  const linked = (from = template) =>
    [...findResources(from, 'AWS::CloudWatch::Alarm').values()].map(({ Properties }) =>
      String(Properties.AlarmDescription).split(' ').at(-1),
    );

  it('has a section for each alarm, to which its description links', () => {
    const sections = anchors.filter((anchor) => anchor.startsWith('alarm-'));
    expect(linked(synthesize({ events: true, alerts: true })).toSorted()).toEqual(
      sections.map((anchor) => `docs/operations.md#${anchor}`).toSorted(),
    );
  });

  it('is linked at runbookUrl', () => {
    const runbookUrl = 'https://example.com/operations.md';
    expect(linked(synthesize({ runbookUrl }))).toContain(`${runbookUrl}#alarm-server-errors`);
  });
});

/** The names of the logs that functions whose ids begin so write, as JSON. */
const listLogs = (idStart: string): string[] =>
  [...findResources(template, 'AWS::Lambda::Function')]
    .filter(([id]) => id.startsWith(idStart))
    .map(([, { Properties }]) =>
      JSON.stringify((Properties.LoggingConfig as { LogGroup: unknown }).LogGroup),
    );

/** Which logs a metric is counted in, and what is looked for there. */
const countedIn = (metricName: string) => {
  const filters = [...findResources(template, 'AWS::Logs::MetricFilter').values()]
    .map(({ Properties }) => Properties)
    .filter(({ MetricTransformations }) => JSON.stringify(MetricTransformations).includes(`"${metricName}"`));
  return {
    filters,
    logs: new Set(filters.map(({ LogGroupName }) => JSON.stringify(LogGroupName))),
    patterns: new Set(filters.map(({ FilterPattern }) => FilterPattern)),
  };
};

describe('failures', () => {
  const { logs } = countedIn('Failures');
  const authorizer = countedIn('AuthorizerFailures');
  it('are counted in the log of every endpoint, and separately in the authorizer’s', () => {
    const written = listLogs('Functions');
    expect(written).toHaveLength(getHandlers(routes).length);
    expect(logs).toEqual(new Set(written));
    expect([...logs].join()).not.toContain('AuthAuthorizer');
    expect(authorizer.logs).toEqual(new Set(listLogs('AuthAuthorizer')));
    expect(authorizer.logs.size).toBe(1);
    expect([...authorizer.logs].join()).toContain('AuthAuthorizer');
  });

  it('are counted once: only one filter looks for a pattern in a log', () => {
    for (const counted of [countedIn('Failures'), authorizer, countedIn('StorageThrottles')])
      expect(counted.filters).toHaveLength(counted.logs.size * counted.patterns.size);
  });
});

describe('the dashboard', () => {
  const [, dashboard] = findResource(template, 'AWS::CloudWatch::Dashboard');
  const [, parts] = (dashboard.Properties.DashboardBody as { 'Fn::Join': [string, unknown[]] })['Fn::Join'];
  const body = parts.map((part) => (typeof part === 'string' ? part : 'token')).join('');
  const { widgets } = JSON.parse(body) as {
    widgets: { type: string; properties: { title: string; query?: string; metrics?: unknown[][] } }[];
  };
  const rows = widgets.flatMap(({ properties }) => properties.metrics ?? []);
  const isExpression = (row: unknown[]) => JSON.stringify(row).includes('"expression"');

  it('shows fewer metrics than the 50 free ones', () => {
    const metrics = rows.filter((row) => !isExpression(row));
    expect(metrics.length).toBeGreaterThan(30);
    expect(metrics.length).toBeLessThan(50);
  });

  it('prices the consumption of every table and index', () => {
    const indexes = [...findResources(template, 'AWS::DynamoDB::Table').values()].flatMap(
      ({ Properties }) => [
        'the table itself',
        ...((Properties.GlobalSecondaryIndexes as unknown[] | undefined) ?? []),
      ],
    );
    for (const metric of ['ConsumedWriteCapacityUnits', 'ConsumedReadCapacityUnits'])
      expect(rows.filter((row) => row.includes(metric))).toHaveLength(indexes.length);
  });

  it('writes prices as CloudWatch reads them, without an exponent', () => {
    const expressions = rows.filter(isExpression).map((row) => JSON.stringify(row));
    expect(expressions).toHaveLength(3);
    for (const expression of expressions) expect(expression).not.toMatch(/\de[+-]\d/);
  });

  it('has a table of all routes, from the logs of all functions', () => {
    const table = widgets.find(({ properties }) => properties.title === 'Requests by route');
    expect(table?.properties.query).toContain('by route');
    expect(table?.properties.query?.match(/SOURCE/g)).toHaveLength(new Set(listLogs('')).size);
  });
});

describe('with alarmEmail', () => {
  const mailed = synthesize({ alarmEmail: 'ops@example.com' });
  const [topicId] = findResource(mailed, 'AWS::SNS::Topic');

  it('every alarm is sent to the address', () => {
    const [, subscription] = findResource(mailed, 'AWS::SNS::Subscription');
    expect(subscription.Properties).toMatchObject({
      Protocol: 'email',
      Endpoint: 'ops@example.com',
      TopicArn: { Ref: topicId },
    });
    for (const { Properties } of findResources(mailed, 'AWS::CloudWatch::Alarm').values()) {
      expect(Properties.AlarmActions).toEqual([{ Ref: topicId }]);
    }
  });

  it('the topic accepts messages from this account’s alarms only, and only with TLS', () => {
    const [, policy] = findResource(mailed, 'AWS::SNS::TopicPolicy');
    const { Statement } = policy.Properties.PolicyDocument as { Statement: Record<string, unknown>[] };
    expect(Statement).toContainEqual(
      expect.objectContaining({
        Effect: 'Allow',
        Action: 'sns:Publish',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      }),
    );
    expect(Statement).toContainEqual(
      expect.objectContaining({
        Effect: 'Deny',
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      }),
    );
  });
});

describe('a budget', () => {
  it('is absent without the setting', () => {
    expect(findResources(synthesize({ alarmEmail: 'ops@example.com' }), 'AWS::Budgets::Budget').size).toBe(0);
  });

  it('limits what the stack’s services may cost a month, and notifies the address before and when it is spent', () => {
    const template = synthesize({ alarmEmail: 'ops@example.com', monthlyBudget: 50 });
    const { Budget, NotificationsWithSubscribers } = findResource(template, 'AWS::Budgets::Budget')[1]
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
