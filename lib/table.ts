import { RemovalPolicy } from 'aws-cdk-lib';
import {
  type Attribute,
  AttributeType,
  BillingMode,
  ProjectionType,
  StreamViewType,
  Table,
} from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import type { KeyAttribute, TableDeclaration } from '../core/foundations/storage/tables.ts';
import { type Config, hasStreams } from './config.ts';

const attributeTypes = { B: AttributeType.BINARY, S: AttributeType.STRING } as const;

const attribute = ({ name, type }: KeyAttribute): Attribute => ({ name, type: attributeTypes[type] });

/**
 * Makes a declared table: paid per request, encrypted with a key that AWS owns (free), and with
 * `keepData` recoverable and protected. It has its stream only if something reads it.
 */
export const makeTable = (
  scope: Construct,
  { construct, partition, sort, expiry, indexes, stream }: TableDeclaration,
  config: Config,
): Table => {
  const { keepData } = config;
  const table = new Table(scope, construct, {
    billingMode: BillingMode.PAY_PER_REQUEST,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: keepData },
    deletionProtection: keepData,
    removalPolicy: keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    partitionKey: attribute(partition),
    ...(sort && { sortKey: attribute(sort) }),
    ...(expiry !== undefined && { timeToLiveAttribute: expiry }),
    ...(stream && hasStreams(config) && { stream: StreamViewType[stream] }),
  });
  for (const [indexName, index] of Object.entries(indexes)) {
    table.addGlobalSecondaryIndex({
      indexName,
      partitionKey: attribute(index.partition),
      sortKey: attribute(index.sort),
      projectionType: ProjectionType.INCLUDE,
      nonKeyAttributes: [...index.projects],
    });
  }
  return table;
};
