import { describe, expect, it } from 'vitest';
import { parseUpstreams } from '../../../core/doors/inference/index.ts';
import { readConfig } from '../../../lib/config.ts';
import { type Resource, resourceOf, resourcesOf, synthesize } from '../../support/stack/template.ts';

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
  models: [{ match: 'oss/*', send: 'openai.gpt-oss-20b-1:0' }, 'eu.qwen.qwen3-32b-v1:0'],
};
const settings = {
  inferenceUpstreams: [openai, mistral, bedrock],
  inferenceRatePerMinute: 60,
  inferenceConcurrency: 50,
};

const path = 'POST /inference/v1/{path+}';
const functionsOf = (template: ReturnType<typeof synthesize>): Resource[] => [
  ...resourcesOf(template, 'AWS::Lambda::Function').values(),
];
const inferenceOf = (template: ReturnType<typeof synthesize>): Resource => {
  const found = functionsOf(template).find(({ Properties }) => Properties.Description === path);
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
}

/** What a role allows by an action, in the template's order. */
const resourcesFor = ({ Properties }: Resource, action: string): string[] => {
  const policies = Properties.Policies as { PolicyDocument: { Statement: Statement[] } }[];
  return policies
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .filter(({ Action }) => [Action].flat().includes(action))
    .flatMap(({ Resource }) => [Resource].flat().map(readable));
};

describe('the inference function', () => {
  const template = synthesize(settings);
  const { Properties } = inferenceOf(template);
  const [, role] = resourceOf(template, 'AWS::IAM::Role', 'FunctionsInferenceV1');
  const [ratesId, rates] = resourceOf(template, 'AWS::DynamoDB::Table', 'InferenceRates');

  it('knows its upstreams as configured, and never a key', () => {
    const { Variables } = Properties.Environment as { Variables: Record<string, string> };
    expect(JSON.parse(Variables.INFERENCE_UPSTREAMS ?? '')).toEqual(settings.inferenceUpstreams);
    expect(parseUpstreams(Variables.INFERENCE_UPSTREAMS ?? '', 'eu-west-1')).toHaveLength(3);
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
      'arn:<AWS::Partition>:bedrock:*::foundation-model/qwen.qwen3-32b-v1:0',
      'arn:<AWS::Partition>:bedrock:us-west-2::foundation-model/openai.gpt-oss-20b-1:0',
      'arn:<AWS::Partition>:bedrock:us-west-2:<AWS::AccountId>:inference-profile/eu.qwen.qwen3-32b-v1:0',
    ]);
  });

  it('is the only one with these permissions, this environment and its own concurrency', () => {
    for (const other of functionsOf(template).filter((each) => each.Properties.Description !== path)) {
      expect(JSON.stringify(other)).not.toContain('INFERENCE_UPSTREAMS');
      expect(other.Properties).not.toHaveProperty('ReservedConcurrentExecutions');
    }
    expect(Properties.ReservedConcurrentExecutions).toBe(50);
    const roles = [...resourcesOf(template, 'AWS::IAM::Role')].filter(
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
    const [rollupsId] = resourceOf(template, 'AWS::DynamoDB::Table', 'StorageRollups');
    const counted = [ratesId, rollupsId].map((id) => `{"Fn::GetAtt":["${id}","Arn"]}`);
    expect(resourcesFor(role, 'dynamodb:UpdateItem')).toEqual(counted);
  });

  it('has none of these by default', () => {
    const bare = synthesize();
    expect(JSON.stringify(bare.toJSON())).not.toMatch(/bedrock:|secretsmanager|INFERENCE_|InferenceRates/);
  });
});

describe('the setting inferenceUpstreams', () => {
  const messageOf = (inferenceUpstreams: unknown): string => {
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
  ])('refuses %j and says what to write', (given, advice) => {
    expect(messageOf([given])).toContain(advice);
  });

  it('refuses two with one name, and more than the environment can hold', () => {
    expect(messageOf([openai, openai])).toContain('give each upstream a name of its own');
    const many = Array.from({ length: 40 }, (_, i) => ({ ...openai, name: `upstream-${i}` }));
    expect(messageOf(many)).toContain('write less');
    expect(messageOf({})).toContain('write a list of upstreams');
  });
});
