import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { App, Stack, Validations } from 'aws-cdk-lib';
import { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { describe, expect, it, vi } from 'vitest';
import { cdkContext, temporaryFolder } from '../../support/run/project.ts';
import {
  findResource,
  findResources,
  makeStack,
  type Resource,
  synthesize,
} from '../../support/stack/template.ts';

/**
 * Everything here costs nothing while it is not used, or (dashboard, alarms, stored data) has its
 * own test or line.
 */
const freeWhileIdle = [
  'AWS::ApiGateway::Account',
  'AWS::ApiGateway::Authorizer',
  'AWS::ApiGateway::Deployment',
  'AWS::ApiGateway::GatewayResponse',
  'AWS::ApiGateway::Method',
  'AWS::ApiGateway::Resource',
  'AWS::ApiGateway::RestApi',
  'AWS::ApiGateway::Stage',
  'AWS::CloudWatch::Alarm',
  'AWS::CloudWatch::Dashboard',
  'AWS::DynamoDB::Table',
  'AWS::IAM::Role',
  'AWS::Lambda::Function',
  'AWS::Lambda::Permission',
  'AWS::Logs::LogGroup',
  'AWS::Logs::MetricFilter',
  'AWS::Logs::QueryDefinition',
  'AWS::S3::Bucket',
  'AWS::S3::BucketPolicy',
  'AWS::SSM::Parameter',
];

/**
 * The resources of endpoints, but of one of each kind, which answers at once, streams, passes on, or
 * is open.
 */
const alike =
  /^Functions(?!CallStart|CallsStreamQuery|InferenceV1|Health)\w+(?:Function|Role)[0-9A-F]{8}$|^ApiRest(?!callstart|callsstreamquery|inference|health)[a-z]\w*[0-9A-F]{8}$/;

const namesAlike = (value: unknown): boolean =>
  typeof value === 'string' && alike.test(value.replace(/^<|(?:\.Arn)?>$/g, ''));

/** A template's value as somebody reads it, without endpoints that are alike: references in angle brackets, in one text with what is around them. */
const readable = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(readable).filter((item) => !namesAlike(item));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const [[name, argument] = ['', undefined]] = entries;
  if (entries.length === 1 && name === 'Ref') return `<${argument}>`;
  if (entries.length === 1 && name === 'Fn::GetAtt') return `<${(argument as string[]).join('.')}>`;
  if (entries.length === 1 && name === 'Fn::Join') {
    const [between, parts] = argument as [string, unknown[]];
    return parts.map(readable).join(between);
  }
  return Object.fromEntries(entries.map(([key, inner]) => [key, readable(inner)]));
};

/**
 * What somebody reviews of a template: all of it, but nothing of endpoints like those that are shown.
 * What their functions may do is in their fixtures: test/support/endpoints.
 */
const reviewed = ({ Resources, ...others }: Record<string, unknown>): string => {
  const shown = Object.entries(Resources as Record<string, Resource>).filter(([id]) => !alike.test(id));
  const text = inspect(readable({ ...others, Resources: Object.fromEntries(shown) }), {
    depth: null,
    breakLength: 110,
    compact: 6,
    maxArrayLength: null,
    maxStringLength: null,
  });
  // The deployment is called by a hash of the whole API.
  return text
    .replace(/'[0-9a-f]{64}\.zip'/g, "'<bundle>.zip'")
    .replace(/(ApiRestDeployment[0-9A-F]{8})[0-9a-f]{32}/g, '$1<hash>');
};

describe('the stack', () => {
  const template = synthesize();

  it('has no resource that costs while idle, and no custom resource', () => {
    const resources = Object.values(template.toJSON().Resources as Record<string, { Type: string }>);
    expect([...new Set(resources.map(({ Type }) => Type))].sort()).toEqual(freeWhileIdle);
  });

  it('is named as the settings say', () => {
    expect(makeStack({ stackName: 'Weft' }).stack.stackName).toBe('Weft');
  });

  it('fits any account and region', () => {
    expect(JSON.stringify(template.toJSON())).not.toMatch(/:\d{12}:|\b[a-z]{2}-[a-z]+-\d\b/);
  });

  it('runs every function on ARM and Node 24, with a log, and in no network or part of the account', () => {
    for (const { Properties } of findResources(template, 'AWS::Lambda::Function').values()) {
      expect(Properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        LoggingConfig: { LogGroup: expect.anything() },
      });
      expect(Properties).not.toHaveProperty('ReservedConcurrentExecutions');
      expect(Properties).not.toHaveProperty('VpcConfig');
      expect(Properties).not.toHaveProperty('TracingConfig');
    }
    expect(findResources(template, 'AWS::IAM::Policy').size).toBe(0);
  });

  it('is traced by X-Ray with that setting alone', () => {
    const traced = synthesize({ xray: true });
    for (const { Properties } of findResources(traced, 'AWS::Lambda::Function').values())
      expect(Properties.TracingConfig).toEqual({ Mode: 'Active' });
    const getStage = (from: typeof traced) => [...findResources(from, 'AWS::ApiGateway::Stage').values()][0];
    expect(getStage(traced)?.Properties.TracingEnabled).toBe(true);
    expect(getStage(template)?.Properties.TracingEnabled).toBe(false);
    expect(JSON.stringify(template)).not.toContain('xray:');
  });

  it('gives functions and logs what the settings say', () => {
    const custom = synthesize({ shards: '4,16', retentionDays: 90, logRetentionDays: 7, keepFeedback: true });
    const getEnvironment = (id: string, from = custom) =>
      findResource(from, 'AWS::Lambda::Function', id)[1].Properties.Environment;
    const ingest = getEnvironment('FunctionsCallUpsertBatch');
    expect(ingest).toMatchObject({ Variables: { SHARDS: '4,16', RETENTION_DAYS: '90' } });
    for (const { Properties } of findResources(custom, 'AWS::Logs::LogGroup').values())
      expect(Properties.RetentionInDays).toBe(7);
    // The table's name is what makes deletions delete feedback.
    expect(getEnvironment('FunctionsCallsDelete')).not.toHaveProperty('Variables.FEEDBACK_TABLE');
    expect(getEnvironment('FunctionsCallsDelete', template)).toHaveProperty('Variables.FEEDBACK_TABLE');
  });

  it('has the template that was reviewed', () => {
    expect(reviewed(template.toJSON())).toMatchSnapshot();
  });
});

describe('the stack with events and analytics', () => {
  it('has nothing besides that costs while idle', () => {
    const listTypes = (settings: Record<string, unknown>) => {
      const resources = synthesize(settings).toJSON().Resources as Record<string, { Type: string }>;
      return Object.values(resources).map(({ Type }) => Type);
    };
    const more = listTypes({ events: true, analytics: true });
    for (const type of listTypes({})) more.splice(more.indexOf(type), 1);
    expect([...new Set(more)].toSorted()).toEqual([
      'AWS::Athena::NamedQuery',
      'AWS::Athena::WorkGroup',
      'AWS::CloudWatch::Alarm',
      'AWS::Glue::Database',
      'AWS::Glue::Table',
      'AWS::IAM::Role',
      'AWS::Lambda::EventSourceMapping',
      'AWS::Lambda::Function',
      'AWS::S3::Bucket',
      'AWS::S3::BucketPolicy',
      'AWS::SQS::Queue',
      'AWS::SQS::QueuePolicy',
    ]);
  });
});

/**
 * Checks the stack by CloudFormation's rules and by both packs of cdk-nag. Gives the names of the
 * rules that it breaks without a reason.
 */
const brokenRules = (app: App): string[] => {
  vi.stubEnv('CDK_VALIDATION', 'true');
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
  try {
    app.synth();
  } catch (error) {
    if (!(error instanceof Error && error.name === 'ValidationFailed')) throw error;
  }
  const { pluginReports } = JSON.parse(readFileSync(join(app.outdir, 'validation-report.json'), 'utf8')) as {
    pluginReports: { violations: { ruleName: string }[] }[];
  };
  return pluginReports.flatMap(({ violations }) => violations.map(({ ruleName }) => ruleName));
};

describe('a check by the rules of CloudFormation and cdk-nag', () => {
  it.each([
    ['as it is by default', {}],
    [
      'with streams that are not read, and the bucket of former analytics',
      { events: true, evaluators: true, analytics: { bucket: 'former-files' }, readStreams: false },
    ],
    [
      'with events, analytics, evaluators, alerts, limits, redaction, provisioned capacity, alarms by mail, a budget, a firewall and upstreams',
      {
        inferenceUpstreams: [
          { name: 'one', models: ['gpt-*'], baseUrl: 'https://api.example.com/v1', keySecret: 'one' },
          { name: 'two', models: ['eu.anthropic.claude-x'], bedrock: { region: 'eu-west-1' } },
        ],
        inferenceRatePerMinute: 60,
        inferenceConcurrency: 50,
        events: true,
        analytics: true,
        evaluators: true,
        alerts: true,
        retentionDays: 30,
        limits: true,
        billing: 'provisioned',
        redact: [{ name: 'email', builtin: 'email', action: 'hash' }],
        alarmEmail: 'ops@example.com',
        monthlyBudget: 50,
        firewallRatePerAddress: 1000,
        xray: true,
      },
    ],
    [
      'with a domain, tags and no recovery',
      {
        domain: {
          name: 'tracing.example.com',
          certificate: 'arn:aws:acm:eu-west-1:123456789012:certificate/01234567-0000-0000-0000-000000000000',
          zone: 'Z0123456789',
        },
        tags: { team: 'tracing' },
        pointInTimeRecovery: false,
      },
    ],
    [
      'with a user pool',
      {
        signIn: {
          cognito: { domainPrefix: 'acme-traces', providers: ['Okta'] },
          admins: ['ada@example.com'],
        },
        events: true,
      },
    ],
    ['that is private', { private: { vpcEndpointIds: ['vpce-01234567'] } }],
  ])('finds nothing in the stack %s but what is acknowledged', (_, settings) => {
    expect(brokenRules(makeStack(settings).app)).toEqual([]);
  });

  it('would find what is not', () => {
    const app = new App({ outdir: temporaryFolder(), context: cdkContext, analyticsReporting: false });
    const stack = new Stack(app, 'Other');
    new Bucket(stack, 'Open');
    new CfnFunction(stack, 'Untraced', {
      code: { zipFile: '' },
      role: 'arn:aws:iam::111122223333:role/some',
      memorySize: 1,
    });
    const broken = ['AwsSolutions-S10', 'AwsSolutions-S1', 'Serverless-LambdaTracing'];
    // CloudFormation's: a number that is out of its range.
    expect(brokenRules(app)).toEqual(expect.arrayContaining([...broken, 'F3034']));
  });
});
