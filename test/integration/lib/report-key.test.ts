import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { describe, expect, it } from 'vitest';
import { routes } from '../../../api/routes.ts';
import { everyHandler } from '../../../lib/features.ts';
import { Pennytrace, type PennytraceProps } from '../../../lib/index.ts';
import { cdkContext, temporaryFolder } from '../../support/run/project.ts';
import { emptyBundles, findResource, findResources } from '../../support/stack/template.ts';

const parts = { routes: routes.slice(0, 12), bundles: emptyBundles(everyHandler) };

const agentIn = (stack: Stack, id = 'Agent') =>
  new LambdaFunction(stack, id, {
    runtime: Runtime.NODEJS_24_X,
    handler: 'index.handler',
    code: Code.fromInline('exports.handler = async () => {};'),
  });

const makeShop = (regions: [string?, string?] = [], settings: PennytraceProps = {}) => {
  const app = new App({ outdir: temporaryFolder(), context: cdkContext, analyticsReporting: false });
  const [one, two] = regions.map((region) => region && { env: { region } });
  const platform = new Stack(app, 'Platform', one || {});
  const shop = new Stack(app, 'Shop', two || {});
  return { platform, shop, service: new Pennytrace(platform, 'Tracing', settings, parts) };
};

describe('a function that is granted to report', () => {
  const { platform, shop, service } = makeShop();
  service.grantReport(agentIn(shop), { project: 'acme/shop' });
  service.grantReport(agentIn(platform, 'Own'), { project: 'acme/own', user: 'own', rotation: '2' });
  const theirs = Template.fromStack(shop);
  const ours = Template.fromStack(platform);
  const [secretId, secret] = findResource(theirs, 'AWS::SecretsManager::Secret');
  const [keyId, key] = findResource(theirs, 'Custom::PennytraceKey');

  it('has the environment of an exporter, with headers that are resolved at deployment', () => {
    const [, agent] = findResource(theirs, 'AWS::Lambda::Function');
    const { Variables } = agent.Properties.Environment as { Variables: Record<string, unknown> };
    expect(Variables).toMatchObject({
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_HEADERS: {
        'Fn::Join': [
          '',
          [
            '{{resolve:secretsmanager:',
            { Ref: secretId },
            ':SecretString:headers::',
            { 'Fn::GetAtt': [keyId, 'VersionId'] },
            '}}',
          ],
        ],
      },
    });
    expect(JSON.stringify(Variables.OTEL_EXPORTER_OTLP_ENDPOINT)).toMatch(/\/otel"/);
  });

  it('has a key for its project, in its own name', () => {
    expect(key.Properties).toMatchObject({
      Secret: { Ref: secretId },
      Project: 'acme/shop',
      User: 'Shop/Agent',
    });
  });

  it('gets no permission, and lets only the maker of keys at its secret', () => {
    const [policyId, policy] = findResource(theirs, 'AWS::SecretsManager::ResourcePolicy');
    expect(policy.Properties).toMatchObject({
      SecretId: { Ref: secretId },
      ResourcePolicy: {
        Statement: [{ Action: ['secretsmanager:GetSecretValue', 'secretsmanager:PutSecretValue'] }],
      },
    });
    expect(key).toMatchObject({ DependsOn: expect.arrayContaining([policyId]) });
    expect([...findResources(theirs, 'AWS::IAM::Policy')]).toEqual([]);
    expect(secret).toMatchObject({ DeletionPolicy: 'Delete' });
  });

  it('shares one maker of keys with others, which may write keys and nothing else', () => {
    const [, role] = findResource(ours, 'AWS::IAM::Role', 'TracingKeyMaker');
    const [{ PolicyDocument }] = role.Properties.Policies as [
      { PolicyDocument: { Statement: { Action: string[] }[] } },
    ];
    expect(PolicyDocument.Statement.map(({ Action }) => Action)).toEqual([
      ['logs:CreateLogStream', 'logs:PutLogEvents'],
      ['dynamodb:PutItem', 'dynamodb:UpdateItem'],
    ]);
    expect(
      [...findResources(ours, 'AWS::Lambda::Function').keys()].filter((id) => /KeyMaker/.test(id)),
    ).toHaveLength(1);
  });

  it('has another user and a new key if told so', () => {
    const [, own] = findResource(ours, 'Custom::PennytraceKey');
    expect(own.Properties).toMatchObject({ User: 'own', Rotation: '2', Project: 'acme/own' });
  });
});

describe('a function whose role is granted to report', () => {
  const { platform, shop, service } = makeShop([], { iam: true });
  const task = new Role(shop, 'Task', { assumedBy: new ServicePrincipal('ecs-tasks.amazonaws.com') });
  service.grantReport(agentIn(shop), { project: 'acme/shop', auth: 'role' });
  service.grantReport(task, { project: 'acme/tasks', auth: 'role' });
  const theirs = Template.fromStack(shop);
  const [agentId, agent] = findResource(theirs, 'AWS::Lambda::Function');
  const grants = [...findResources(theirs, 'Custom::PennytraceRole')].toSorted();

  it('knows where to report to, and has no key, no secret and no new permission', () => {
    const { Variables } = agent.Properties.Environment as { Variables: Record<string, unknown> };
    expect(Object.keys(Variables)).toEqual(['PENNYTRACE_URL', 'PENNYTRACE_PROJECT']);
    expect(JSON.stringify(Variables.PENNYTRACE_URL)).toMatch(/\/api"\]\]\}$/);
    expect([...findResources(theirs, 'AWS::SecretsManager::Secret')]).toEqual([]);
    expect([...findResources(theirs, 'AWS::IAM::Policy')]).toEqual([]);
  });

  it('is granted its project by its role, as is the role of a task', () => {
    const [roleId] = findResource(theirs, 'AWS::IAM::Role', 'AgentServiceRole');
    expect(grants.map(([, { Properties }]) => Properties)).toMatchObject([
      { Role: { 'Fn::GetAtt': [roleId, 'Arn'] }, Project: 'acme/shop' },
      { Role: { 'Fn::GetAtt': [expect.stringMatching(/^Task/), 'Arn'] }, Project: 'acme/tasks' },
    ]);
  });

  it('is made after its grant, so that its first request is let in', () => {
    const [[grantId] = []] = grants;
    expect(agentId).toMatch(/^Agent/);
    expect(agent).toMatchObject({ DependsOn: expect.arrayContaining([grantId]) });
  });

  it('signs for the service that it is granted, whose authorizer asks STS of its own region', () => {
    const [, authorizer] = findResource(Template.fromStack(platform), 'AWS::Lambda::Function', 'TracingAuth');
    const { Variables } = authorizer.Properties.Environment as { Variables: Record<string, unknown> };
    expect(JSON.stringify(Variables.IAM_SERVICE_URL)).toMatch(/\/api"\]\]\}$/);
    expect(Variables).toMatchObject({
      IAM_PARTITION: { Ref: 'AWS::Partition' },
      IAM_STS_URL: {
        'Fn::Join': ['', ['https://sts.', { Ref: 'AWS::Region' }, '.', { Ref: 'AWS::URLSuffix' }]],
      },
    });
  });
});

describe('the setting iam', () => {
  const resourcesWith = (settings: PennytraceProps) =>
    Template.fromStack(makeShop([], settings).platform).toJSON().Resources as Record<string, unknown>;

  it('adds no resource, and nothing at all when it is off', () => {
    const off = resourcesWith({});
    const on = resourcesWith({ iam: true });
    expect(resourcesWith({ iam: false })).toEqual(off);
    expect(Object.keys(on)).toEqual(Object.keys(off));
    const changed = Object.keys(on).filter((id) => JSON.stringify(on[id]) !== JSON.stringify(off[id]));
    expect(changed).toEqual([expect.stringMatching(/^TracingAuthAuthorizerFunction/)]);
    expect(JSON.stringify(off)).not.toContain('IAM_');
  });
});

describe('a grant that makes no sense', () => {
  it('is refused for a role without the setting, and for a project that is none', () => {
    const { shop, service } = makeShop();
    const wanted = { project: 'acme/shop', auth: 'role' } as const;
    expect(() => service.grantReport(agentIn(shop), wanted)).toThrow('set iam to true, or leave auth out');
    const signing = makeShop([], { iam: true });
    expect(() => signing.service.grantReport(agentIn(signing.shop), { ...wanted, project: 'shop' })).toThrow(
      'project is "shop": write <entity>/<project>',
    );
  });

  it.each([
    [{ project: 'shop' }, 'project is "shop": write <entity>/<project>'],
    [{ project: 'acme/shop', user: 'a:b' }, 'user is "a:b": write 1 to 128 printable characters'],
  ])('is refused with what to write: %j', (options, message) => {
    const { shop, service } = makeShop();
    expect(() => service.grantReport(agentIn(shop), options)).toThrow(message);
  });

  it('is refused for a function of another region, where no secret of this one can be read', () => {
    const { shop, service } = makeShop(['eu-west-1', 'us-east-1']);
    expect(() => service.grantReport(agentIn(shop), { project: 'acme/shop' })).toThrow('npm run keys');
  });

  it('is refused for a function that has one already', () => {
    const { shop, service } = makeShop();
    const agent = agentIn(shop);
    service.grantReport(agent, { project: 'acme/shop' });
    expect(() => service.grantReport(agent, { project: 'acme/other' })).toThrow('PennytraceKey');
  });
});
