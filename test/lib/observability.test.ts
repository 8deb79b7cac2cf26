import { describe, expect, it } from 'vitest';
import { routes } from '../../lib/routes.ts';
import { resourceOf, resourcesOf, synthesize } from './synth.ts';

const template = synthesize();
const alarms = resourcesOf(template, 'AWS::CloudWatch::Alarm');
const alarmOf = (id: string) => resourceOf(template, 'AWS::CloudWatch::Alarm', `ObservabilityAlarms${id}`)[1];

describe('the alarms', () => {
  it('stay within the ten metrics that are free: each is on one', () => {
    expect(alarms.size).toBeLessThanOrEqual(10);
    for (const { Properties } of alarms.values()) {
      expect(Properties).toHaveProperty('MetricName');
      expect(Properties).not.toHaveProperty('Metrics');
    }
  });

  it.each([
    ['ServerErrors', 'AWS/ApiGateway', '5XXError'],
    ['FunctionThrottles', 'AWS/Lambda', 'Throttles'],
    ['IngestDuration', 'AWS/Lambda', 'Duration'],
    ['CallsReadThrottles', 'AWS/DynamoDB', 'ReadThrottleEvents'],
    ['CallsWriteThrottles', 'AWS/DynamoDB', 'WriteThrottleEvents'],
    ['CallsByTimeReadThrottles', 'AWS/DynamoDB', 'ReadThrottleEvents'],
    ['CallsByTimeWriteThrottles', 'AWS/DynamoDB', 'WriteThrottleEvents'],
    ['KeysReadThrottles', 'AWS/DynamoDB', 'ReadThrottleEvents'],
  ])('%s watches %s %s', (id, Namespace, MetricName) => {
    expect(alarmOf(id).Properties).toMatchObject({ Namespace, MetricName });
  });

  it('are silent while nothing is measured', () => {
    for (const { Properties } of alarms.values()) expect(Properties.TreatMissingData).toBe('notBreaching');
  });

  it('say what they mean', () => {
    for (const { Properties } of alarms.values()) expect(Properties.AlarmDescription).toMatch(/\w+ .*\./);
  });

  it('ring before a batch of calls runs out of time', () => {
    const route = routes.find(({ path }) => path === '/call/upsert_batch');
    const { Threshold, ExtendedStatistic } = alarmOf('IngestDuration').Properties;
    expect(ExtendedStatistic).toBe('p99');
    expect(Threshold).toBeLessThan((route?.timeoutSeconds ?? 0) * 1000);
  });
});

describe('failures', () => {
  const filters = [...resourcesOf(template, 'AWS::Logs::MetricFilter').values()].map((f) => f.Properties);

  it('are counted in the log of every endpoint, and not in the authorizer’s, which fails for each bad key', () => {
    const logs = new Set(filters.map(({ LogGroupName }) => JSON.stringify(LogGroupName)));
    expect(logs.size).toBe(routes.length);
    expect(filters).toHaveLength(2 * routes.length);
    expect([...logs].join()).not.toContain('AuthAuthorizer');
  });

  it('are lines of level error, and what Lambda writes when a function dies', () => {
    const patterns = new Set(filters.map(({ FilterPattern }) => FilterPattern));
    expect(patterns).toEqual(
      new Set(['{ $.level = "error" }', '?"ERROR" ?"Task timed out" ?"Runtime exited"']),
    );
  });

  it('are one metric, the one that the alarm watches', () => {
    const metrics = new Set(
      filters.map(({ MetricTransformations }) => JSON.stringify(MetricTransformations)),
    );
    expect(metrics.size).toBe(1);
    const { Namespace, MetricName } = alarmOf('Failures').Properties;
    expect(filters[0]?.MetricTransformations).toMatchObject([
      { MetricNamespace: Namespace, MetricName, MetricValue: '1' },
    ]);
  });
});

describe('the dashboard', () => {
  const [, dashboard] = resourceOf(template, 'AWS::CloudWatch::Dashboard');
  const body = JSON.stringify(dashboard.Properties.DashboardBody);

  it('shows fewer metrics than the 50 that are free', () => {
    const metrics = body.match(/AWS\/\w+|Failures/g) ?? [];
    expect(metrics.length).toBeGreaterThan(10);
    expect(metrics.length).toBeLessThan(50);
  });

  it('shows the duration of every endpoint', () => {
    for (const { path } of routes) expect(body).toContain(path);
  });
});

describe('without alarmEmail', () => {
  it('nobody is told, and there is no topic', () => {
    expect(resourcesOf(template, 'AWS::SNS::Topic').size).toBe(0);
    for (const { Properties } of alarms.values()) expect(Properties).not.toHaveProperty('AlarmActions');
  });
});

describe('with alarmEmail', () => {
  const mailed = synthesize({ alarmEmail: 'ops@example.com' });
  const [topicId] = resourceOf(mailed, 'AWS::SNS::Topic');

  it('every alarm is sent to the address', () => {
    const [, subscription] = resourceOf(mailed, 'AWS::SNS::Subscription');
    expect(subscription.Properties).toMatchObject({
      Protocol: 'email',
      Endpoint: 'ops@example.com',
      TopicArn: { Ref: topicId },
    });
    for (const { Properties } of resourcesOf(mailed, 'AWS::CloudWatch::Alarm').values()) {
      expect(Properties.AlarmActions).toEqual([{ Ref: topicId }]);
    }
  });

  it('the topic takes them from the alarms of this account, and from nobody without TLS', () => {
    const [, policy] = resourceOf(mailed, 'AWS::SNS::TopicPolicy');
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
