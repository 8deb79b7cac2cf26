import {
  CreateTableCommand,
  type CreateTableCommandInput,
  type DynamoDBClient,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { CreateBucketCommand, type S3Client } from '@aws-sdk/client-s3';

/** The properties of an `AWS::DynamoDB::Table` that DynamoDB Local can be given. */
export interface TableProperties {
  readonly KeySchema: CreateTableCommandInput['KeySchema'];
  readonly AttributeDefinitions: CreateTableCommandInput['AttributeDefinitions'];
  readonly GlobalSecondaryIndexes?: CreateTableCommandInput['GlobalSecondaryIndexes'];
  readonly TimeToLiveSpecification?: { readonly AttributeName: string; readonly Enabled: boolean };
}

/** Creates a table as a template describes it, on demand; one that is there already is left as it is. */
export const createTable = async (
  client: DynamoDBClient,
  name: string,
  properties: TableProperties,
): Promise<void> => {
  const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes, TimeToLiveSpecification } = properties;
  try {
    await client.send(
      new CreateTableCommand({
        TableName: name,
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema,
        AttributeDefinitions,
        ...(GlobalSecondaryIndexes && { GlobalSecondaryIndexes }),
      }),
    );
  } catch (error) {
    if (error instanceof ResourceInUseException) return;
    throw error;
  }
  if (TimeToLiveSpecification) {
    await client.send(new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification }));
  }
};

/** Creates a bucket; one that is there already is left as it is. */
export const createBucket = async (client: S3Client, name: string): Promise<void> => {
  try {
    await client.send(new CreateBucketCommand({ Bucket: name }));
  } catch (error) {
    if (!(error instanceof Error) || !error.name.startsWith('BucketAlready')) throw error;
  }
};
