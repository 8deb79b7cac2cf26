import { Aws, Validations } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { tables } from '../core/storage/tables.ts';
import type { Config } from './config.ts';
import type { Permission } from './permissions.ts';
import { makeTable } from './table.ts';
import { bedrockModels, keySecrets } from './upstreams.ts';

/**
 * What the inference function needs beyond its stores: where the upstreams are, what it may ask of
 * them, and a count of each key's requests.
 */
export class Inference extends Construct {
  readonly environment: Readonly<Record<string, string>>;
  readonly permissions: readonly Permission[];
  /** Set aside for the function alone, and the most that it gets. */
  readonly reservedConcurrency: number | undefined;

  constructor(scope: Construct, id: string, config: Config) {
    super(scope, id);
    const { inferenceUpstreams: upstreams = [], inferenceRatePerMinute: rate, inferenceConcurrency } = config;
    const rates = rate === undefined ? undefined : this.#ratesTable(config);
    this.reservedConcurrency = inferenceConcurrency;
    this.environment = {
      ...(upstreams.length > 0 && { INFERENCE_UPSTREAMS: JSON.stringify(upstreams) }),
      ...(rates && { INFERENCE_RATE: String(rate), [tables.rates.variable]: rates.tableName }),
    };
    this.permissions = [
      ...keySecrets(upstreams).map(secretPermission),
      ...bedrockModels(upstreams).flatMap(({ id: model, region = Aws.REGION }) =>
        modelPermissions(model, region),
      ),
      ...(rates ? [{ actions: ['dynamodb:UpdateItem'], resource: rates.tableArn }] : []),
    ];
  }

  /** Counts that are worth nothing after their minute: neither kept nor recoverable. */
  #ratesTable(config: Config): Table {
    const table = makeTable(this, tables.rates, { ...config, keepData: false });
    Validations.of(table).acknowledge({
      id: 'AwsSolutions-DDB3',
      reason: 'It holds counts of the present minute alone: there is nothing to recover.',
    });
    return table;
  }
}

/**
 * Secrets Manager ends the ARN of a secret with six characters of its own: a name alone does not
 * say which.
 */
const secretPermission = (secret: string): Permission => ({
  actions: ['secretsmanager:GetSecretValue'],
  resource: secret.startsWith('arn:')
    ? secret
    : `arn:${Aws.PARTITION}:secretsmanager:${Aws.REGION}:${Aws.ACCOUNT_ID}:secret:${secret}-??????`,
});

const invoke = ['bedrock:InvokeModel', 'bedrock:InvokeModelWithResponseStream'];

/** What the ids of cross-region inference profiles begin with. */
const geography = /^(?:apac|au|ca|eu|global|jp|us|us-gov)\.(?=[^.]+\.)/;

/**
 * To invoke a model; through an inference profile, the profile and its model wherever the profile
 * may take it.
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
