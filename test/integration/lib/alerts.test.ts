import { describe, expect, it } from 'vitest';
import { type Resource, resourceOf, resourcesOf, synthesize } from '../../support/stack/template.ts';

type Template = ReturnType<typeof synthesize>;

/** The actions and resources of the roles whose ids begin so, as JSON. */
const statementsOf = (template: Template, idStart = '') =>
  [...resourcesOf(template, 'AWS::IAM::Role')].flatMap(([id, { Properties }]) => {
    const policies = (Properties.Policies ?? []) as {
      PolicyDocument: { Statement: { Action: string | string[]; Resource: unknown }[] };
    }[];
    return policies.flatMap(({ PolicyDocument }) =>
      PolicyDocument.Statement.filter(() => id.startsWith(idStart)).map(({ Action, Resource: resource }) => ({
        role: id,
        actions: [Action].flat(),
        resource: JSON.stringify(resource),
      })),
    );
  });

const variablesOf = ({ Properties }: Resource): Record<string, unknown> =>
  (Properties.Environment as { Variables: Record<string, unknown> }).Variables;

const functionOf = (template: Template, idStart: string) =>
  resourceOf(template, 'AWS::Lambda::Function', idStart)[1];

describe('a stack without the setting', () => {
  const off = synthesize();

  it('has no topic, no schedule and nothing that could tell anybody', () => {
    for (const type of ['AWS::SNS::Topic', 'AWS::Events::Rule']) expect(resourcesOf(off, type).size).toBe(0);
    const text = JSON.stringify(off.toJSON());
    for (const trace of [
      'ALERT_TOPIC',
      'ALERTS_FUNCTION',
      'sns:Publish',
      'ssm:GetParameter',
      'WebhooksPrefix',
    ])
      expect(text).not.toContain(trace);
  });
});

describe('a stack with the setting', () => {
  const on = synthesize({ alerts: true });

  it('has a topic that is encrypted and takes TLS alone', () => {
    expect([...resourcesOf(on, 'AWS::SNS::Topic').values()]).toEqual([
      expect.objectContaining({ Properties: expect.objectContaining({ KmsMasterKeyId: expect.anything() }) }),
    ]);
    expect(JSON.stringify([...resourcesOf(on, 'AWS::SNS::TopicPolicy').values()])).toContain(
      '"aws:SecureTransport":"false"',
    );
  });

  it('wakes its function each minute, and does not try again what the next minute does', () => {
    expect([...resourcesOf(on, 'AWS::Events::Rule').values()].map(({ Properties }) => Properties)).toEqual([
      expect.objectContaining({
        ScheduleExpression: 'rate(1 minute)',
        Targets: [
          expect.objectContaining({ RetryPolicy: expect.objectContaining({ MaximumRetryAttempts: 0 }) }),
        ],
      }),
    ]);
  });

  it('lets one function alone read webhooks, publish and wake nobody else', () => {
    const of = (action: string) =>
      statementsOf(on).filter(({ actions }) => actions.some((each) => each.startsWith(action)));
    const [reading, ...others] = of('ssm:');
    expect(others).toEqual([]);
    expect(reading).toMatchObject({
      role: expect.stringMatching(/^AlertsFunctionRole/),
      actions: ['ssm:GetParameter'],
    });
    expect(reading?.resource).toMatch(/parameter\/pennytrace\/.*\/webhooks\/\*/);
    expect(of('sns:').map(({ role }) => role)).toEqual([reading?.role]);
    const invoking = of('lambda:').filter(({ role }) => role.startsWith('Functions'));
    expect(invoking).toEqual([
      expect.objectContaining({
        role: expect.stringMatching(/^FunctionsAlertsTest/),
        actions: ['lambda:InvokeFunction'],
      }),
    ]);
  });

  it('links to the page of its API, or of the URL that it is given', () => {
    const own = JSON.stringify(variablesOf(functionOf(on, 'AlertsFunction')).SERVICE_URL);
    expect(own).toMatch(/"https:\/\/",\{"Ref":"ApiRest[0-9A-F]+"\},"\.execute-api\..*"\/api"/);
    const url = 'https://tracing.example.com';
    const given = synthesize({ alerts: { url } });
    expect(variablesOf(functionOf(given, 'AlertsFunction')).SERVICE_URL).toBe(url);
  });

  it('puts events on the bus of the setting events, if there is one', () => {
    const busOf = (settings: object) =>
      variablesOf(functionOf(synthesize({ ...settings, alerts: true }), 'AlertsFunction')).EVENT_BUS;
    expect(busOf({})).toBe('default');
    expect(busOf({ events: { bus: 'agents' } })).toBe('agents');
  });

  it('says where its topic and its webhooks are', () => {
    expect(Object.keys(on.findOutputs('*'))).toEqual(
      expect.arrayContaining(['AlertsTopic', 'WebhooksPrefix']),
    );
  });
});
