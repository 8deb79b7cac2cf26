import { describe, expect, it } from 'vitest';
import { dynamodbAccesses, s3Accesses } from '../../../support/stack/iam/accesses.ts';

const table = 'arn:aws:dynamodb:us-east-1:000000000000:table/calls';
const named = { TableName: 'calls' };
const insert = { Statement: `INSERT INTO "calls" VALUE {'k':?}` };

describe('a request to DynamoDB needs', () => {
  it.each([
    ['GetItem', named, ['dynamodb:GetItem', table]],
    ['PutItem', { ...named, ConditionExpression: 'attribute_not_exists(k)' }, ['dynamodb:PutItem', table]],
    ['DeleteItem', named, ['dynamodb:DeleteItem', table]],
    ['Query', named, ['dynamodb:Query', table]],
    ['Scan', named, ['dynamodb:Scan', table]],
    ['Query', { ...named, IndexName: 'by_time' }, ['dynamodb:Query', `${table}/index/by_time`]],
    ['BatchGetItem', { RequestItems: { calls: {} } }, ['dynamodb:BatchGetItem', table]],
    ['BatchWriteItem', { RequestItems: { calls: [] } }, ['dynamodb:BatchWriteItem', table]],
    ['BatchExecuteStatement', { Statements: [insert, insert] }, ['dynamodb:PartiQLInsert', table]],
  ])('for %s %j its action on the table or index', (operation, body, [action, resource]) => {
    expect(dynamodbAccesses(operation, JSON.stringify(body))).toEqual([{ action, resource }]);
  });

  it('for an update its action, with the attributes that it touches', () => {
    const body = {
      ...named,
      Key: { k: {} },
      ExpressionAttributeNames: { '#at': 'at' },
      ReturnValues: 'ALL_NEW',
    };
    expect(dynamodbAccesses('UpdateItem', JSON.stringify(body))).toEqual([
      {
        action: 'dynamodb:UpdateItem',
        resource: table,
        context: { 'dynamodb:Attributes': ['k', 'at'], 'dynamodb:ReturnValues': ['ALL_NEW'] },
      },
    ]);
  });

  it('for a transaction the actions of its parts', () => {
    const TransactItems = [{ Put: named }, { Delete: named }, { ConditionCheck: named }, { Put: named }];
    const actions = dynamodbAccesses('TransactWriteItems', JSON.stringify({ TransactItems })).map(
      ({ action }) => action,
    );
    expect(actions).toEqual(['dynamodb:PutItem', 'dynamodb:DeleteItem', 'dynamodb:ConditionCheckItem']);
  });

  it.each([
    ['ExportTableToPointInTime', named],
    ['toString', named],
    ['BatchExecuteStatement', { Statements: [{ Statement: 'SELECT * FROM "calls"' }] }],
  ])('for %s %j what is not known: it is refused', (operation, body) => {
    expect(() => dynamodbAccesses(operation, JSON.stringify(body))).toThrow('not supported locally');
  });
});

describe('a request to S3 needs', () => {
  const object = 'arn:aws:s3:::payloads/segments/kept/a/b/1.zst';
  const url = '/payloads/segments/kept/a/b/1.zst?x-id=Some';
  const allow = (...actions: string[]) => actions.map((action) => ({ action, resource: object }));

  it.each([
    ['PUT', {}, allow('s3:PutObject')],
    ['PUT', { 'if-none-match': '*' }, allow('s3:PutObject')],
    ['PUT', { 'if-match': '"1"' }, allow('s3:PutObject', 's3:GetObject')],
    ['DELETE', {}, allow('s3:DeleteObject')],
    ['DELETE', { 'if-match': '"1"' }, allow('s3:DeleteObject', 's3:GetObject')],
  ])('for %s with %j its actions on the object', (method, headers, needed) => {
    expect(s3Accesses(method, url, headers)).toEqual({ needed });
  });

  it('for GET to read the object, and to list the bucket where it is to tell that there is none', () => {
    expect(s3Accesses('GET', url, {})).toEqual({
      needed: allow('s3:GetObject'),
      toSeeAbsence: { action: 's3:ListBucket', resource: 'arn:aws:s3:::payloads' },
    });
  });

  it.each([
    ['GET', '/payloads', {}],
    ['POST', url, {}],
    ['PUT', url, { 'x-amz-copy-source': '/payloads/other' }],
  ])('for %s %s %j what is not known: it is refused', (method, at, headers) => {
    expect(() => s3Accesses(method, at, headers)).toThrow('not supported locally');
  });
});
