import { localRegion } from '../stores/store.ts';
import type { Resource } from './template.ts';

/** The account of everything local. No AWS account has this number. */
export const localAccount = '000000000000';

/**
 * The longest physical name, in characters: that of buckets, which is below that of functions and
 * tables.
 */
const maxLength = 63;

const name = (stackName: string, id: string): string =>
  `${stackName}-${id}`.slice(-maxLength).replace(/^-/, '');

/**
 * The value of `Ref` for a resource: its physical name or id. It consists of the stack's name and
 * the logical id, so it is the same at every start.
 */
export const refOf = (stackName: string, id: string, { Type, Properties }: Resource): string => {
  switch (Type) {
    case 'AWS::ApiGateway::Stage':
      return String(Properties.StageName);
    case 'AWS::ApiGateway::RestApi':
    case 'AWS::ApiGateway::Resource':
    case 'AWS::ApiGateway::Authorizer':
      return id;
    case 'AWS::S3::Bucket':
      return name(stackName, id).toLowerCase();
    default:
      return name(stackName, id);
  }
};

const arn = (service: string, resource: string): string =>
  `arn:aws:${service}:${localRegion}:${localAccount}:${resource}`;

/**
 * The suffix of the id of a REST API's root resource, the parent of every path's first resource.
 */
const rootSuffix = '-root';

/** Whether an id is that of an API Gateway root resource. */
export const isRoot = (id: string): boolean => id.endsWith(rootSuffix);

/**
 * The value of `Fn::GetAtt` for a resource; undefined if the attribute is not supported locally.
 */
export const attributeOf = (
  stackName: string,
  id: string,
  resource: Resource,
  attribute: string,
): string | undefined => {
  const ref = refOf(stackName, id, resource);
  switch (`${resource.Type}.${attribute}`) {
    case 'AWS::ApiGateway::RestApi.RootResourceId':
      return `${ref}${rootSuffix}`;
    case 'AWS::Lambda::Function.Arn':
      return arn('lambda', `function:${ref}`);
    case 'AWS::DynamoDB::Table.Arn':
      return arn('dynamodb', `table/${ref}`);
    case 'AWS::DynamoDB::Table.StreamArn':
      return arn('dynamodb', `table/${ref}/stream/local`);
    case 'AWS::SQS::Queue.Arn':
      return arn('sqs', ref);
    case 'AWS::IAM::Role.Arn':
      return `arn:aws:iam::${localAccount}:role/${ref}`;
    case 'AWS::Logs::LogGroup.Arn':
      return arn('logs', `log-group:${ref}:*`);
    case 'AWS::S3::Bucket.Arn':
      return `arn:aws:s3:::${ref}`;
    default:
      return undefined;
  }
};
