import { localRegion } from '../stores/store.ts';
import type { Resource } from './template.ts';

/** The account that everything local is in: no AWS account has this number. */
export const localAccount = '000000000000';

/** The longest name of a function; tables may have longer ones, buckets 63 characters. */
const maxLength = 63;

const name = (stackName: string, id: string): string =>
  `${stackName}-${id}`.slice(-maxLength).replace(/^-/, '');

/**
 * What `Ref` gives for a resource: as in CloudFormation its physical name or id, here made of the
 * stack's name and the logical id, so that it is the same at every start.
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

/** The ids of a REST API's root, to which the first resources of every path belong. */
const rootSuffix = '-root';

/** Whether an id of an API Gateway resource is that of the root. */
export const isRoot = (id: string): boolean => id.endsWith(rootSuffix);

/**
 * What `Fn::GetAtt` gives for a resource.
 *
 * @returns undefined where the local service knows no such attribute
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
