import type { IncomingHttpHeaders } from 'node:http';
import type { Access } from 'cdk-local-runner/template';
import { localAccount, localRegion } from 'cdk-local-runner/template';
import { z } from 'zod';

/*
 * The permissions that requests to DynamoDB and S3 need, by AWS's own pages:
 *
 * - Service Authorization Reference, "Actions, resources, and condition keys" for Amazon DynamoDB
 *   and for Amazon S3.
 * - DynamoDB Developer Guide, "Using IAM with DynamoDB transactions" (transaction-apis-iam). The
 *   actions of a transaction are those of its parts, a ConditionCheck is
 *   dynamodb:ConditionCheckItem.
 * - DynamoDB Developer Guide, "IAM security policies with PartiQL for DynamoDB" (ql-iam). An INSERT
 *   is dynamodb:PartiQLInsert.
 * - S3 User Guide, "How to prevent object overwrites with conditional writes" (conditional-writes)
 *   and "How to perform conditional deletes" (conditional-deletes). With If-Match, s3:GetObject is
 *   needed beside s3:PutObject or s3:DeleteObject.
 * - S3 API, ListObjectsV2: s3:ListBucket on the bucket; PutObjectTagging: s3:PutObjectTagging.
 * - S3 API, GetObject. Whoever may not s3:ListBucket gets a 403 for an object that is not there.
 */

const tableArn = (name: string): string => `arn:aws:dynamodb:${localRegion}:${localAccount}:table/${name}`;

const named = z.object({ TableName: z.string() });
const read = named.extend({ IndexName: z.string().optional() });
const batch = z.object({ RequestItems: z.record(z.string(), z.unknown()) });
const statements = z.object({ Statements: z.array(z.object({ Statement: z.string() })) });
const transaction = z.object({
  TransactItems: z.array(z.partialRecord(z.enum(['Put', 'Update', 'Delete', 'ConditionCheck']), named)),
});

const partActions = {
  Put: 'dynamodb:PutItem',
  Update: 'dynamodb:UpdateItem',
  Delete: 'dynamodb:DeleteItem',
  ConditionCheck: 'dynamodb:ConditionCheckItem',
} as const;

type Accesses = (body: unknown) => Access[];

/** Operations on one item. Their conditions need no further permission. */
const onItem =
  (action: string): Accesses =>
  (body) => [{ action, resource: tableArn(named.parse(body).TableName) }];

const update = named.extend({
  Key: z.record(z.string(), z.unknown()),
  ExpressionAttributeNames: z.record(z.string(), z.string()).default({}),
  ReturnValues: z.string().optional(),
});

/**
 * An update, with what conditions of policies see of it (Service Authorization Reference, "Condition keys for Amazon
 * DynamoDB"): the attributes of its key and of its expressions.
 */
const onUpdate: Accesses = (body) => {
  const { TableName, Key, ExpressionAttributeNames, ReturnValues } = update.parse(body);
  const context = {
    'dynamodb:Attributes': [...Object.keys(Key), ...Object.values(ExpressionAttributeNames)],
    ...(ReturnValues !== undefined && { 'dynamodb:ReturnValues': [ReturnValues] }),
  };
  return [{ action: 'dynamodb:UpdateItem', resource: tableArn(TableName), context }];
};

const onTables =
  (action: string): Accesses =>
  (body) =>
    Object.keys(batch.parse(body).RequestItems).map((name) => ({ action, resource: tableArn(name) }));

const onRange: Accesses = (body) => {
  const { TableName, IndexName } = read.parse(body);
  const index = IndexName === undefined ? '' : `/index/${IndexName}`;
  return [{ action: 'dynamodb:Query', resource: tableArn(TableName) + index }];
};

const inTransaction: Accesses = (body) =>
  transaction.parse(body).TransactItems.flatMap((item) =>
    Object.entries(item).map(([part, { TableName }]) => ({
      action: partActions[part as keyof typeof partActions],
      resource: tableArn(TableName),
    })),
  );

const inStatements: Accesses = (body) =>
  statements.parse(body).Statements.map(({ Statement }) => {
    const [, table] = /^INSERT INTO "([^"]+)" VALUE /.exec(Statement) ?? [];
    if (table === undefined) throw new Error(`the statement is not supported locally: ${Statement}`);
    return { action: 'dynamodb:PartiQLInsert', resource: tableArn(table) };
  });

const operations: Readonly<Record<string, Accesses>> = {
  GetItem: onItem('dynamodb:GetItem'),
  PutItem: onItem('dynamodb:PutItem'),
  UpdateItem: onUpdate,
  DeleteItem: onItem('dynamodb:DeleteItem'),
  Query: onRange,
  Scan: onItem('dynamodb:Scan'),
  BatchGetItem: onTables('dynamodb:BatchGetItem'),
  BatchWriteItem: onTables('dynamodb:BatchWriteItem'),
  TransactWriteItems: inTransaction,
  BatchExecuteStatement: inStatements,
};

/**
 * The permissions that a request to DynamoDB needs, each once.
 *
 * @param operation e.g. `Query`, the end of its `X-Amz-Target`
 * @throws Error if the operation is not listed here: add it with what it needs
 */
export const dynamodbAccesses = (operation: string, body: string): Access[] => {
  const accesses = Object.hasOwn(operations, operation) ? operations[operation] : undefined;
  if (!accesses) throw new Error(`DynamoDB's ${operation} is not supported locally`);
  const all = accesses(JSON.parse(body));
  return [...new Map(all.map((access) => [`${access.action} ${access.resource}`, access])).values()];
};

/** The permissions that a request to S3 needs. */
export interface S3Accesses {
  readonly needed: readonly Access[];
  /**
   * The permission to learn that an object does not exist. Without it the answer is a 403. Absent
   * if nothing is read.
   */
  readonly toSeeAbsence?: Access;
}

/**
 * The permissions that a request to S3 needs.
 *
 * @param url its path, `/<bucket>/<key>`, with its query
 * @throws Error if the request is not listed here
 */
export const s3Accesses = (method: string, url: string, headers: IncomingHttpHeaders): S3Accesses => {
  const [path = '', query = ''] = url.split('?');
  const asks = new URLSearchParams(query);
  const [, bucket = '', ...rest] = path.split('/').map(decodeURIComponent);
  const key = rest.join('/');
  const onBucket = `arn:aws:s3:::${bucket}`;
  const onObject = (action: string): Access => ({ action, resource: `${onBucket}/${key}` });
  const read = onObject('s3:GetObject');
  const condition = headers['if-match'] === undefined ? [] : [read];
  const copied = headers['x-amz-copy-source'] !== undefined;
  if (bucket && !key && method === 'GET' && asks.has('list-type'))
    return { needed: [{ action: 's3:ListBucket', resource: onBucket }] };
  if (bucket && key && method === 'PUT' && asks.has('tagging'))
    return { needed: [onObject('s3:PutObjectTagging')] };
  if (bucket && key && method === 'GET')
    return { needed: [read], toSeeAbsence: { action: 's3:ListBucket', resource: onBucket } };
  if (bucket && key && method === 'PUT' && !copied)
    return { needed: [onObject('s3:PutObject'), ...condition] };
  if (bucket && key && method === 'DELETE') return { needed: [onObject('s3:DeleteObject'), ...condition] };
  throw new Error(`S3's ${method} ${path} is not supported locally`);
};
