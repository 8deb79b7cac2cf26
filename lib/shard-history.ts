import { CfnDeletionPolicy, CfnResource } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import type { Config } from './config.ts';

export interface ShardHistoryProps {
  readonly config: Pick<Config, 'shards' | 'keepData'>;
  /** The table whose items lie in the shards. */
  readonly table: Table;
}

/**
 * Lets the setting `shards` only ever be appended to: CloudFormation refuses a deployment that
 * takes a count away or replaces one. The parameters are free, and nothing reads them. See
 * docs/decisions/0171.
 *
 * A name has a place in the history, a logical id has all counts up to that place. Another count
 * at a place is another resource under a name that is taken. The parameter `end` outlives its place
 * as the last one, so that place cannot become the last one again.
 */
export class ShardHistory extends Construct {
  constructor(scope: Construct, id: string, { config, table }: ShardHistoryProps) {
    super(scope, id);
    const { shards, keepData } = config;
    const names = `/pennytrace/${table.tableName}/shards-can-only-be-appended-to`;
    const parameter = (idOf: string, name: string, value: string): CfnResource =>
      new CfnResource(this, idOf, {
        type: 'AWS::SSM::Parameter',
        properties: { Type: 'String', Name: `${names}/${name}`, Value: value },
      });
    for (const [i] of shards.entries()) {
      const counts = shards.slice(0, i + 1);
      parameter(`Upto${counts.join('x')}`, String(i + 1), counts.join(','));
    }
    const end = parameter(`End${shards.join('x')}`, `${shards.length}/end`, shards.join(','));
    if (!keepData) return;
    end.cfnOptions.deletionPolicy = CfnDeletionPolicy.RETAIN_EXCEPT_ON_CREATE;
    end.cfnOptions.updateReplacePolicy = CfnDeletionPolicy.RETAIN;
  }
}
