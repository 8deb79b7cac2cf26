import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { tables } from '../core/foundations/storage/tables.ts';
import type { Config } from './config.ts';
import { bundleOf } from './functions.ts';
import { keyMakerHandler } from './handlers.ts';
import { ServiceFunction } from './service-function.ts';

export interface KeyMakerProps {
  readonly config: Config;
  /** Each handler's bundle. */
  readonly bundles: ReadonlyMap<string, string>;
  /** Where keys are kept. */
  readonly keys: Table;
}

/** How long it may take for one key, its retries and a new policy included, in seconds. */
const timeoutSeconds = 60;

/**
 * The function behind the keys that are made at deployment. Its role may write keys and nothing
 * else; each secret lets it in by a policy of the secret's own.
 */
export class KeyMaker extends Construct {
  readonly function: ServiceFunction;

  constructor(scope: Construct, id: string, { config, bundles, keys }: KeyMakerProps) {
    super(scope, id);
    this.function = new ServiceFunction(this, 'Maker', {
      config,
      code: bundleOf(bundles, keyMakerHandler),
      description: 'Makes and revokes the keys of functions that report',
      memoryMb: 512,
      timeoutSeconds,
      environment: { [tables.keys.variable]: keys.tableName },
      permissions: [{ actions: ['dynamodb:PutItem', 'dynamodb:UpdateItem'], resource: keys.tableArn }],
      withoutQueue: 'Only CloudFormation invokes it. It hears of every failure, and stops waiting by itself.',
    });
  }
}
