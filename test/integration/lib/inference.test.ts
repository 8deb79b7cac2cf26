import { describe, expect, it } from 'vitest';
import { parseUpstreams } from '../../../core/doors/inference/index.ts';
import { readConfig } from '../../../lib/config.ts';
import { findResource, findResources, type Resource, synthesize } from '../../support/stack/template.ts';

const openai = {
  name: 'openai',
  baseUrl: 'https://api.openai.com/v1',
  keySecret: 'prod/openai',
  models: ['gpt-*'],
};
const arn = 'arn:aws:secretsmanager:eu-west-1:111122223333:secret:mistral-AbCdEf';
const mistral = {
  name: 'mistral',
  baseUrl: 'https://api.mistral.ai/v1',
  keySecret: arn,
  models: ['mistral-*'],
};
const bedrock = {
  name: 'bedrock',
  bedrock: { region: 'us-west-2' },
  models: [
    { match: 'oss/*', send: 'openai.gpt-oss-20b-1:0' },
    'eu.qwen.qwen3-32b-v1:0',
    { match: 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0', api: 'converse' },
    'anthropic.claude-opus-4-8',
    { match: 'gemma', send: 'google.gemma-4-31b', endpoint: 'mantle' },
  ],
  firstByteSeconds: 20,
};
const anthropic = { ...mistral, name: 'anthropic', api: 'anthropic', models: ['claude-*'] };
const settings = {
  inferenceUpstreams: [openai, mistral, bedrock, anthropic],
  inferenceRatePerMinute: 60,
  inferenceConcurrency: 50,
};

const path = 'POST /inference/v1/{path+}';
const listFunctions = (template: ReturnType<typeof synthesize>): Resource[] => [
  ...findResources(template, 'AWS::Lambda::Function').values(),
];
const findInference = (template: ReturnType<typeof synthesize>): Resource => {
  const found = listFunctions(template).find(({ Properties }) => Properties.Description === path);
  if (!found) throw new Error('there is no inference function');
  return found;
};

/** A text of the template, with references in angle brackets. */
const readable = (value: unknown): string => {
  if (typeof value === 'string') return value;
  const { Ref, 'Fn::Join': join } = value as { Ref?: string; 'Fn::Join'?: [string, unknown[]] };
  if (join) return join[1].map(readable).join(join[0]);
  return Ref === undefined ? JSON.stringify(value) : `<${Ref}>`;
};

interface Statement {
  readonly Action: string | string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
}

const getStatements = ({ Properties }: Resource): Statement[] =>
  (Properties.Policies as { PolicyDocument: { Statement: Statement[] } }[]).flatMap(
    ({ PolicyDocument }) => PolicyDocument.Statement,
  );

/** What a role allows by an action, in the template's order. */
const resourcesFor = (role: Resource, action: string): string[] =>
  getStatements(role)
    .filter(({ Action }) => [Action].flat().includes(action))
    .flatMap(({ Resource }) => [Resource].flat().map(readable));

describe('the inference function', () => {
  const template = synthesize(settings);
  const { Properties } = findInference(template);
  const [, role] = findResource(template, 'AWS::IAM::Role', 'FunctionsInferenceV1');
  const [ratesId, rates] = findResource(template, 'AWS::DynamoDB::Table', 'InferenceRates');

  it('knows its upstreams as configured, and never a key', () => {
    const { Variables } = Properties.Environment as { Variables: Record<string, string> };
    expect(JSON.parse(Variables.INFERENCE_UPSTREAMS ?? '')).toEqual(settings.inferenceUpstreams);
    expect(parseUpstreams(Variables.INFERENCE_UPSTREAMS ?? '', 'eu-west-1')).toHaveLength(4);
    expect(Variables).toMatchObject({ INFERENCE_RATE: '60', RATES_TABLE: { Ref: ratesId } });
  });

  it('may read only the named secrets', () => {
    expect(resourcesFor(role, 'secretsmanager:GetSecretValue').toSorted()).toEqual([
      'arn:<AWS::Partition>:secretsmanager:<AWS::Region>:<AWS::AccountId>:secret:prod/openai-??????',
      arn,
    ]);
  });

  it('may invoke only the named models', () => {
    const allowed = resourcesFor(role, 'bedrock:InvokeModel').toSorted();
    expect(resourcesFor(role, 'bedrock:InvokeModelWithResponseStream').toSorted()).toEqual(allowed);
    expect(allowed).toEqual([
      'arn:<AWS::Partition>:bedrock:*::foundation-model/anthropic.claude-sonnet-4-5-20250929-v1:0',
      'arn:<AWS::Partition>:bedrock:*::foundation-model/qwen.qwen3-32b-v1:0',
      'arn:<AWS::Partition>:bedrock:us-west-2::foundation-model/openai.gpt-oss-20b-1:0',
      'arn:<AWS::Partition>:bedrock:us-west-2:<AWS::AccountId>:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
      'arn:<AWS::Partition>:bedrock:us-west-2:<AWS::AccountId>:inference-profile/eu.qwen.qwen3-32b-v1:0',
    ]);
  });

  it('may ask Mantle for its named models only', () => {
    const statements = getStatements(role).filter(({ Action }) => JSON.stringify(Action).includes('mantle'));
    expect(statements.map((resource) => ({ ...resource, Resource: readable(resource.Resource) }))).toEqual([
      {
        Effect: 'Allow',
        Action: ['bedrock-mantle:CountTokens', 'bedrock-mantle:CreateInference'],
        Resource: 'arn:<AWS::Partition>:bedrock-mantle:us-west-2:<AWS::AccountId>:project/default',
        Condition: {
          StringEquals: { 'bedrock-mantle:Model': ['anthropic.claude-opus-4-8', 'google.gemma-4-31b'] },
        },
      },
    ]);
  });

  it('is the only one with these permissions, this environment and its own concurrency', () => {
    for (const other of listFunctions(template).filter(
      (resource) => resource.Properties.Description !== path,
    )) {
      // One lists the models, and may do no more than that.
      const lists = String(other.Properties.Description).includes('GET /inference/v1/models');
      expect(JSON.stringify(other).includes('INFERENCE_UPSTREAMS')).toBe(lists);
      expect(other.Properties).not.toHaveProperty('ReservedConcurrentExecutions');
    }
    expect(Properties.ReservedConcurrentExecutions).toBe(50);
    const roles = [...findResources(template, 'AWS::IAM::Role')].filter(
      ([id]) => !id.startsWith('FunctionsInferenceV1'),
    );
    expect(JSON.stringify(roles)).not.toMatch(/bedrock|secretsmanager/);
    expect(JSON.stringify(roles)).not.toContain(ratesId);
  });

  it('counts requests in a table whose items expire', () => {
    expect(rates.Properties).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      TimeToLiveSpecification: { AttributeName: 'x', Enabled: true },
    });
    // Beside it, it notes the projects of the calls that it records.
    const [rollupsId] = findResource(template, 'AWS::DynamoDB::Table', 'StorageRollups');
    const counted = [ratesId, rollupsId].map((id) => `{"Fn::GetAtt":["${id}","Arn"]}`);
    expect(resourcesFor(role, 'dynamodb:UpdateItem')).toEqual(counted);
  });

  it('has none of these by default', () => {
    const bare = synthesize();
    expect(JSON.stringify(bare.toJSON())).not.toMatch(/bedrock:|secretsmanager|INFERENCE_|InferenceRates/);
  });
});

const nova = 'amazon.nova-lite-v1:0';

describe('the setting inferenceUpstreams', () => {
  const getMessage = (inferenceUpstreams: unknown): string => {
    try {
      readConfig({ inferenceUpstreams });
      return 'accepted';
    } catch (error) {
      return String(error);
    }
  };

  it('may be JSON text, as the command line passes it', () => {
    expect(readConfig({ inferenceUpstreams: JSON.stringify([openai]) }).inferenceUpstreams).toEqual([openai]);
  });

  it.each([
    [
      { ...openai, baseUrl: 'http://api.openai.com/v1' },
      '[0]["baseUrl"] is "http://api.openai.com/v1": write a URL like',
    ],
    [{ ...openai, baseUrl: 'https://user:pw@host/v1' }, 'write a URL like'],
    [{ ...openai, baseUrl: 'https://host/v1?x=y' }, 'write a URL like'],
    [{ ...openai, keySecret: 'sk-abc def' }, '[0]["keySecret"] is "sk-abc def": write the name or the ARN'],
    [{ ...openai, key: 'sk-abc' }, '[0] has key: there is no such field'],
    [{ ...openai, models: [] }, 'write at least one model'],
    [{ ...openai, models: ['a*b*'] }, 'at most one *'],
    [{ ...openai, models: [{ match: 'a', send: 'b*' }] }, 'write a * into match too'],
    [{ ...openai, models: undefined }, 'write a list of models'],
    [{ ...openai, name: 'Open AI' }, 'write 1 to 32 lower-case letters'],
    [{ ...bedrock, models: ['openai.*'] }, 'write ids of models without *'],
    [{ ...bedrock, models: ['arn:aws:bedrock:x'], bedrock: { region: 'Ireland' } }, 'write'],
    [{ ...bedrock, keySecret: 'x' }, '[0] has keySecret: there is no such field'],
    [{ ...openai, api: 'google' }, '[0]["api"] is "google": write openai or anthropic'],
    [{ ...openai, firstByteSeconds: 0 }, '[0]["firstByteSeconds"] is 0: write a number of seconds above 0'],
    [{ ...openai, models: [{ match: 'a', send: 'b', api: 'converse' }] }, 'has api: there is no such field'],
    [
      { ...bedrock, models: [{ match: 'a', send: nova, api: 'invoke' }] },
      '"api" openai, anthropic, converse or "endpoint" runtime, mantle',
    ],
    [{ ...bedrock, models: ['amazon.titan-embed-text-v2:0'] }, 'it makes embeddings'],
    [{ ...bedrock, models: [{ match: 'draw', send: 'amazon.nova-canvas-v1:0' }] }, 'it makes images'],
    [
      { ...bedrock, models: [{ match: nova, api: 'converse', endpoint: 'mantle' }] },
      'Mantle has no Converse',
    ],
  ])('refuses %j and says what to write', (given, advice) => {
    expect(getMessage([given])).toContain(advice);
  });

  it('refuses two with one name, and more than the environment can hold', () => {
    expect(getMessage([openai, openai])).toContain('give each upstream a name of its own');
    const many = Array.from({ length: 40 }, (_, i) => ({ ...openai, name: `upstream-${i}` }));
    expect(getMessage(many)).toContain('write less');
    expect(getMessage({})).toContain('write a list of upstreams');
  });
});
