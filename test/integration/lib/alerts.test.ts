import { describe, expect, it } from 'vitest';
import { findResource, findResources, type Resource, synthesize } from '../../support/stack/template.ts';

type Template = ReturnType<typeof synthesize>;

/** The actions and resources of the roles whose ids begin so, as JSON. */
const listStatements = (template: Template, idStart = '') =>
  [...findResources(template, 'AWS::IAM::Role')].flatMap(([id, { Properties }]) => {
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

const getVariables = ({ Properties }: Resource): Record<string, unknown> =>
  (Properties.Environment as { Variables: Record<string, unknown> }).Variables;

const findFunction = (template: Template, idStart: string) =>
  findResource(template, 'AWS::Lambda::Function', idStart)[1];

describe('a stack without the setting', () => {
  const off = synthesize();

  it('has no topic, no schedule and nothing that could tell anybody', () => {
    for (const type of ['AWS::SNS::Topic', 'AWS::Events::Rule'])
      expect(findResources(off, type).size).toBe(0);
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
    expect([...findResources(on, 'AWS::SNS::Topic').values()]).toEqual([
      expect.objectContaining({ Properties: expect.objectContaining({ KmsMasterKeyId: expect.anything() }) }),
    ]);
    expect(JSON.stringify([...findResources(on, 'AWS::SNS::TopicPolicy').values()])).toContain(
      '"aws:SecureTransport":"false"',
    );
  });

  it('wakes its function each minute, and does not try again what the next minute does', () => {
    expect([...findResources(on, 'AWS::Events::Rule').values()].map(({ Properties }) => Properties)).toEqual([
      expect.objectContaining({
        ScheduleExpression: 'rate(1 minute)',
        Targets: [
          expect.objectContaining({ RetryPolicy: expect.objectContaining({ MaximumRetryAttempts: 0 }) }),
        ],
      }),
    ]);
  });

  it('lets one function alone read webhooks, publish and wake nobody else', () => {
    const statementsAllowing = (action: string) =>
      listStatements(on).filter(({ actions }) => actions.some((allowed) => allowed.startsWith(action)));
    const [reading, ...others] = statementsAllowing('ssm:');
    expect(others).toEqual([]);
    expect(reading).toMatchObject({
      role: expect.stringMatching(/^AlertsFunctionRole/),
      actions: ['ssm:GetParameter', 'ssm:GetParametersByPath'],
    });
    expect(reading?.resource).toMatch(/parameter\/pennytrace\/.*\/webhooks\/\*/);
    expect(statementsAllowing('sns:').map(({ role }) => role)).toEqual([reading?.role]);
    const invoking = statementsAllowing('lambda:').filter(({ role }) => role.startsWith('Functions'));
    expect(invoking).toEqual(
      ['Query', 'Test'].map((name) =>
        expect.objectContaining({
          role: expect.stringMatching(new RegExp(`^FunctionsAlerts${name}`)),
          actions: ['lambda:InvokeFunction'],
        }),
      ),
    );
  });

  it('links to the page of its API, or of the URL that it is given', () => {
    const own = JSON.stringify(getVariables(findFunction(on, 'AlertsFunction')).SERVICE_URL);
    expect(own).toMatch(/"https:\/\/",\{"Ref":"ApiRest[0-9A-F]+"\},"\.execute-api\..*"\/api"/);
    const url = 'https://tracing.example.com';
    const given = synthesize({ alerts: { url } });
    expect(getVariables(findFunction(given, 'AlertsFunction')).SERVICE_URL).toBe(url);
  });

  it('puts events on the bus of the setting events, if there is one', () => {
    const getBus = (settings: object) =>
      getVariables(findFunction(synthesize({ ...settings, alerts: true }), 'AlertsFunction')).EVENT_BUS;
    expect(getBus({})).toBe('default');
    expect(getBus({ events: { bus: 'agents' } })).toBe('agents');
  });

  it('says where its topic and its webhooks are', () => {
    expect(Object.keys(on.findOutputs('*'))).toEqual(
      expect.arrayContaining(['AlertsTopic', 'WebhooksPrefix']),
    );
  });
});
