import { Aws, Validations } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { withoutGeography } from '../core/doors/inference/bedrock.ts';
import { tables } from '../foundations/storage/tables.ts';
import { type Config, sentBy, type Upstream, waysToModel } from './config.ts';
import { combine, type Needs, type Permission, tableNeeds } from './permissions.ts';
import { makeTable } from './storage.ts';

/**
 * What the inference function needs besides its stores: the upstreams, permissions for what they
 * take, and a table that counts each key's requests.
 */
export class Inference extends Construct {
  /** What a function needs to know of the upstreams. */
  readonly list: Needs;
  /** What a function needs to ask the upstreams. */
  readonly upstreams: Needs;
  /** The same, and what counts the requests of keys. */
  readonly needs: Needs;
  /** Concurrent invocations that are reserved for the function. It gets no more than these. */
  readonly reservedConcurrency: number | undefined;

  constructor(scope: Construct, id: string, config: Config) {
    super(scope, id);
    const { inferenceUpstreams: upstreams = [], inferenceRatePerMinute: rate, inferenceConcurrency } = config;
    const rates = rate === undefined ? undefined : this.#ratesTable();
    this.reservedConcurrency = inferenceConcurrency;
    this.list = {
      environment: upstreams.length > 0 ? { INFERENCE_UPSTREAMS: JSON.stringify(upstreams) } : {},
    };
    this.upstreams = {
      ...this.list,
      permissions: [...keySecrets(upstreams).map(secretPermission), ...upstreams.flatMap(bedrockPermissions)],
    };
    this.needs = combine([
      this.upstreams,
      rates && tableNeeds('rates', rates, { table: ['UpdateItem'] }),
      rates && { environment: { INFERENCE_RATE: String(rate) } },
    ]);
  }

  /** Counts are worth nothing after their minute, so the table is neither kept nor recoverable. */
  #ratesTable(): Table {
    const table = makeTable(this, tables.rates, { keepData: false });
    Validations.of(table).acknowledge({
      id: 'AwsSolutions-DDB3',
      reason: 'It holds counts of the present minute alone: there is nothing to recover.',
    });
    return table;
  }
}

/** Secrets Manager ends the ARN of a secret with six characters that the name does not tell. */
const secretPermission = (secret: string): Permission => ({
  actions: ['secretsmanager:GetSecretValue'],
  resource: secret.startsWith('arn:')
    ? secret
    : `arn:${Aws.PARTITION}:secretsmanager:${Aws.REGION}:${Aws.ACCOUNT_ID}:secret:${secret}-??????`,
});

const invoke = ['bedrock:InvokeModel', 'bedrock:InvokeModelWithResponseStream'];

/**
 * Permissions to invoke a model at `bedrock-runtime`, whichever of its APIs it takes. An inference profile
 * needs one for itself, and one for its model in every region.
 */
const runtimePermissions = (id: string, region: string): Permission[] => {
  const model = withoutGeography(id);
  const modelArn = (place: string) => `arn:${Aws.PARTITION}:bedrock:${place}::foundation-model/${model}`;
  if (model === id) return [{ actions: invoke, resource: modelArn(region) }];
  const profile = `arn:${Aws.PARTITION}:bedrock:${region}:${Aws.ACCOUNT_ID}:inference-profile/${id}`;
  return [
    { actions: invoke, resource: profile },
    {
      actions: invoke,
      resource: modelArn('*'),
      wildcard: {
        finding: `arn:<AWS::Partition>:bedrock:*::foundation-model/${model}`,
        reason: 'A cross-region inference profile invokes its one model in whichever region it chooses.',
      },
    },
  ];
};

/**
 * Permissions to ask Mantle for models. Its requests are of a project, and a condition names the models.
 */
const mantlePermissions = (models: readonly string[], region: string): Permission[] =>
  models.length === 0
    ? []
    : [
        {
          actions: ['bedrock-mantle:CreateInference', 'bedrock-mantle:CountTokens'],
          resource: `arn:${Aws.PARTITION}:bedrock-mantle:${region}:${Aws.ACCOUNT_ID}:project/default`,
          conditions: { StringEquals: { 'bedrock-mantle:Model': models } },
        },
      ];

/** Permissions for the models and inference profiles that an upstream asks of Bedrock, if it does. */
const bedrockPermissions = (upstream: Upstream): Permission[] => {
  if (!('bedrock' in upstream)) return [];
  const region = (upstream.bedrock === true ? undefined : upstream.bedrock.region) ?? Aws.REGION;
  const at = (endpoint: string) => [
    ...new Set(
      upstream.models
        .filter((model) => waysToModel(model).some((way) => way.endpoint === endpoint))
        .map(sentBy),
    ),
  ];
  return [
    ...at('runtime').flatMap((id) => runtimePermissions(id, region)),
    ...mantlePermissions(at('mantle'), region),
  ];
};

/** The names and ARNs of the secrets that hold upstreams' keys, each once. */
const keySecrets = (upstreams: readonly Upstream[]): readonly string[] => [
  ...new Set(
    upstreams.flatMap((given) =>
      'keySecret' in given && given.keySecret !== undefined ? [given.keySecret] : [],
    ),
  ),
];
