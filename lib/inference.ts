import { Aws, Validations } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { tables } from '../foundations/storage/tables.ts';
import { type Config, sentBy, type Upstream } from './config.ts';
import { combine, type Needs, type Permission, tableNeeds } from './permissions.ts';
import { makeTable } from './storage.ts';

/**
 * What the inference function needs besides its stores: the upstreams, permissions for what they
 * take, and a table that counts each key's requests.
 */
export class Inference extends Construct {
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
    this.upstreams = {
      environment: upstreams.length > 0 ? { INFERENCE_UPSTREAMS: JSON.stringify(upstreams) } : {},
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

/** The beginning of the ids of cross-region inference profiles. */
const geography = /^(?:apac|au|ca|eu|global|jp|us|us-gov)\.(?=[^.]+\.)/;

/**
 * Permissions to invoke a model. An inference profile needs one for itself, and one for its model
 * in every region.
 */
const modelPermissions = (id: string, region: string): Permission[] => {
  const model = id.replace(geography, '');
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

/** Permissions for the models and inference profiles that an upstream asks of Bedrock, if it does. */
const bedrockPermissions = (given: Upstream): Permission[] => {
  if (!('bedrock' in given)) return [];
  const region = given.bedrock === true ? undefined : given.bedrock.region;
  return given.models.flatMap((model) => modelPermissions(sentBy(model), region ?? Aws.REGION));
};

/** The names and ARNs of the secrets that hold upstreams' keys, each once. */
const keySecrets = (upstreams: readonly Upstream[]): readonly string[] => [
  ...new Set(
    upstreams.flatMap((given) =>
      'keySecret' in given && given.keySecret !== undefined ? [given.keySecret] : [],
    ),
  ),
];
