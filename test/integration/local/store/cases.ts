import type { Fields } from '../../../../local/store/values.ts';
import { bytes, filled, tableOf } from './support.ts';

export const indexes = { ReturnConsumedCapacity: 'INDEXES' };
export const onTable = { TableName: 'table' };

export const inserting = (table: string, item: Fields) => ({
  Statement: `INSERT INTO "${table}" VALUE {${Object.keys(item).map((name) => `'${name}':?`)}}`,
  Parameters: Object.values(item),
});

export const many = <T>(count: number, one: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => one(i));

const at = (k: string, p = 'S') => ({ k: bytes(k), p: { S: p } });
const there = at('there');
const absent = at('absent');
export const item = {
  ...there,
  t: bytes('t'),
  s: bytes('1'),
  h: filled(2000),
  n: { N: '5' },
  a: { S: 'text' },
};

const put = (more: Fields, rest: Fields = {}) => ({ ...onTable, Item: { ...absent, ...more }, ...rest });
const remove = (ConditionExpression: string, rest: Fields = {}) => ({
  ...onTable,
  Key: absent,
  ConditionExpression,
  ...rest,
});
export const values = (of: Fields) => ({ ExpressionAttributeValues: of });
export const names = (of: Fields) => ({ ExpressionAttributeNames: of });
const update = (UpdateExpression: string, of?: Fields, Key = there) => ({
  ...onTable,
  Key,
  UpdateExpression,
  ...(of && values(of)),
});
export const query = (condition: string, of: Fields, rest: Fields = {}) => ({
  ...onTable,
  KeyConditionExpression: condition,
  ...values(of),
  ...rest,
});
const own = query('k = :k', { ':k': bytes('there') });
export const transaction = (...TransactItems: object[]) => ({ TransactItems });
export const of = (kind: string, request: Fields) => ({ [kind]: { ...onTable, ...request } });
export const batch = (...requests: object[]) => ({ RequestItems: { table: requests } });
export const puts = (Item: Fields) => ({ PutRequest: { Item } });
export const deletes = (Key: Fields) => ({ DeleteRequest: { Key } });
const gets = (...Keys: object[]) => ({ RequestItems: { table: { Keys } } });

/** Requests that are refused, or that change nothing, on a table with one item. */
export const cases: readonly (readonly [name: string, operation: string, body: object])[] = [
  ['a table that is not there', 'GetItem', { TableName: 'none', Key: there }],
  ['a name that is too short', 'DescribeTable', { TableName: 'T' }],
  ['a table that is there', 'CreateTable', tableOf('table')],
  ['an item that is there', 'GetItem', { ...onTable, Key: there, ...indexes }],
  ['an item that is not there', 'GetItem', { ...onTable, Key: absent, ...indexes }],
  ['a consistent read', 'GetItem', { ...onTable, Key: there, ConsistentRead: true, ...indexes }],
  ['a consistent read of nothing', 'GetItem', { ...onTable, Key: absent, ConsistentRead: true, ...indexes }],
  ['the total of units', 'GetItem', { ...onTable, Key: there, ReturnConsumedCapacity: 'TOTAL' }],
  ['a projection', 'GetItem', { ...onTable, Key: there, ProjectionExpression: 'k, n, z' }],
  ['a projection of nothing', 'GetItem', { ...onTable, Key: there, ProjectionExpression: 'z' }],
  ['a projection with one name twice', 'GetItem', { ...onTable, Key: there, ProjectionExpression: 'k, k' }],
  ['a key with more', 'GetItem', { ...onTable, Key: { ...there, t: bytes('t') } }],
  ['a key with less', 'GetItem', { ...onTable, Key: { k: bytes('there') } }],
  ['a key of another type', 'GetItem', { ...onTable, Key: { ...there, p: { N: '1' } } }],
  [
    'a name that is not used',
    'GetItem',
    { ...onTable, Key: there, ProjectionExpression: 'k', ...names({ '#q': 'x' }) },
  ],
  ['names without an expression', 'GetItem', { ...onTable, Key: there, ...names({ '#q': 'x' }) }],
  ['a name that is not there', 'GetItem', { ...onTable, Key: there, ProjectionExpression: '#k' }],
  ['a value that is not there', 'DeleteItem', remove('a = :v')],
  [
    'a value that is not used',
    'DeleteItem',
    remove('a = :v', values({ ':v': { N: '1' }, ':w': { N: '1' } })),
  ],
  ['wrong syntax', 'DeleteItem', remove('a = = :v', values({ ':v': { N: '1' } }))],
  ['an unfinished condition', 'DeleteItem', remove('a =', values({ ':v': { N: '1' } }))],
  ['an empty condition', 'DeleteItem', remove('')],
  ['a condition that fails', 'DeleteItem', remove('attribute_exists(k)')],
  [
    'a condition that fails, with the item',
    'PutItem',
    {
      ...onTable,
      Item: item,
      ConditionExpression: 'n > :v',
      ...values({ ':v': { N: '5' } }),
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  ],
  [
    'a number that is as large',
    'PutItem',
    { ...onTable, Item: item, ConditionExpression: 'n = :v', ...values({ ':v': { N: '5.00' } }) },
  ],
  [
    'a comparison of two types',
    'PutItem',
    { ...onTable, Item: item, ConditionExpression: 'n < :v', ...values({ ':v': { S: '9' } }) },
  ],
  [
    'what is absent and unlike',
    'PutItem',
    { ...onTable, Item: item, ConditionExpression: 'z <> :v', ...values({ ':v': { S: '9' } }) },
  ],
  [
    'AND before OR',
    'PutItem',
    {
      ...onTable,
      Item: item,
      ConditionExpression: 'attribute_exists(k) OR attribute_exists(z) AND attribute_exists(z)',
    },
  ],
  [
    'parentheses',
    'PutItem',
    {
      ...onTable,
      Item: item,
      ConditionExpression: '(attribute_exists(k) OR attribute_exists(z)) AND attribute_exists(z)',
    },
  ],
  [
    'a beginning',
    'PutItem',
    { ...onTable, Item: item, ConditionExpression: 'begins_with(a, :v)', ...values({ ':v': { S: 'te' } }) },
  ],
  [
    'another beginning',
    'PutItem',
    { ...onTable, Item: item, ConditionExpression: 'begins_with(a, :v)', ...values({ ':v': { S: 'x' } }) },
  ],
  [
    'bounds of one type',
    'PutItem',
    {
      ...onTable,
      Item: item,
      ConditionExpression: 'n BETWEEN :v AND :w',
      ...values({ ':v': { N: '4' }, ':w': { N: '5' } }),
    },
  ],
  [
    'an item with what is empty',
    'PutItem',
    {
      TableName: 'plain',
      Item: { ...absent, a: { S: '' }, b: { B: '' }, l: { L: [] }, m: { M: {} }, n: { N: '-1.50' } },
    },
  ],
  ['an empty set', 'PutItem', put({ a: { SS: [] } })],
  ['a set with one element twice', 'PutItem', put({ a: { NS: ['1', '1.0'] } })],
  ['a set with one text twice', 'PutItem', put({ a: { SS: ['a', 'a'] } })],
  ['a set with the same bytes twice', 'PutItem', put({ a: { BS: ['AQ==', 'AQ=='] } })],
  ['that item', 'GetItem', { TableName: 'plain', Key: absent }],
  ['an item without its sort key', 'PutItem', { ...onTable, Item: { k: bytes('absent') } }],
  ['an item with a key of another type', 'PutItem', put({ p: { N: '1' } })],
  ['an index key of another type', 'PutItem', put({ t: { S: 'x' } })],
  ['an empty sort key', 'PutItem', put({ p: { S: '' } })],
  ['an empty partition key', 'PutItem', put({ k: { B: '' } })],
  ['an empty index key', 'PutItem', put({ t: { B: '' } })],
  ['a long partition key', 'PutItem', put({ k: filled(2049) })],
  ['a long sort key', 'PutItem', put({ p: { S: 'x'.repeat(1025) } })],
  ['a long index key', 'PutItem', put({ t: bytes('x'), s: filled(1025) })],
  ['a number of 39 digits', 'PutItem', put({ n: { N: '123456789012345678901234567890123456789' } })],
  ['a number that is too large', 'PutItem', put({ n: { N: '1e126' } })],
  ['a number that is too small', 'PutItem', put({ n: { N: '1e-131' } })],
  ['a number that is none', 'PutItem', put({ n: { N: 'abc' } })],
  ['an empty number', 'PutItem', put({ n: { N: '' } })],
  ['two types at once', 'PutItem', put({ n: { N: '1', S: 'x' } })],
  ['no type', 'PutItem', put({ n: {} })],
  ['a type that is none', 'PutItem', put({ n: { Q: 'x' } })],
  ['a null that is false', 'PutItem', put({ n: { NULL: false } })],
  ['an item of more than 400 KB', 'PutItem', put({ h: filled(420_000) })],
  ['an update of the key', 'UpdateItem', update('SET p = :v', { ':v': { S: '1' } })],
  ['an update of one attribute twice', 'UpdateItem', update('SET a = :v, a = :v', { ':v': { S: '1' } })],
  ['an addition to text', 'UpdateItem', update('ADD a :v', { ':v': { N: '1' } })],
  ['an update to more than 400 KB', 'UpdateItem', update('SET b = :v', { ':v': filled(420_000) })],
  [
    'an update of what is not there, on a condition',
    'UpdateItem',
    { ...update('SET a = :v', { ':v': { S: '1' } }, absent), ConditionExpression: 'attribute_exists(k)' },
  ],
  ['an update with one section twice', 'UpdateItem', update('SET a = :v SET b = :v', { ':v': { S: '1' } })],
  ['a deletion of nothing', 'DeleteItem', { ...onTable, Key: absent, ...indexes }],
  ['a query', 'Query', { ...own, ...indexes }],
  ['a limit that is reached at the end', 'Query', { ...own, Limit: 1, ...indexes }],
  ['a limit of zero', 'Query', { ...own, Limit: 0 }],
  [
    'a filter',
    'Query',
    {
      ...query('k = :k', { ':k': bytes('there'), ':a': { S: 'x' } }),
      FilterExpression: 'a = :a',
      ...indexes,
    },
  ],
  [
    'a filter of a key',
    'Query',
    { ...query('k = :k', { ':k': bytes('there'), ':a': { S: 'x' } }), FilterExpression: 'p = :a' },
  ],
  ['a start in another partition', 'Query', { ...own, ExclusiveStartKey: absent }],
  ['a start that is too short', 'Query', { ...own, ExclusiveStartKey: { k: bytes('there') } }],
  [
    'a start beyond the bounds',
    'Query',
    query(
      'k = :k AND p BETWEEN :a AND :b',
      { ':k': bytes('there'), ':a': { S: 'A' }, ':b': { S: 'B' } },
      { ExclusiveStartKey: there },
    ),
  ],
  ['a partition of another type', 'Query', query('k = :k', { ':k': { S: 'there' } })],
  ['a query without its partition', 'Query', query('p = :k', { ':k': { S: 'S' } })],
  ['a query by what is no key', 'Query', query('h = :k', { ':k': { S: 'S' } })],
  [
    'two conditions on a sort key',
    'Query',
    query('k = :k AND p >= :a AND p <= :b', { ':k': bytes('there'), ':a': { S: 'A' }, ':b': { S: 'B' } }),
  ],
  ['an index that is none', 'Query', { ...own, IndexName: 'none' }],
  [
    'a consistent query of an index',
    'Query',
    query('t = :k', { ':k': bytes('t') }, { IndexName: 'by_time', ConsistentRead: true }),
  ],
  [
    'what an index does not have',
    'Query',
    query('t = :k', { ':k': bytes('t') }, { IndexName: 'by_time', ProjectionExpression: 'k, n' }),
  ],
  [
    'a start that is none of an index',
    'Query',
    query('t = :k', { ':k': bytes('t') }, { IndexName: 'by_time', ExclusiveStartKey: there }),
  ],
  ['a scan', 'Scan', { ...onTable, ...indexes }],
  [
    'a scan with a filter',
    'Scan',
    { ...onTable, FilterExpression: 'n > :n', ...values({ ':n': { N: '5' } }), ...indexes },
  ],
  ['an empty batch', 'BatchWriteItem', { RequestItems: {} }],
  ['a batch of nothing', 'BatchWriteItem', batch()],
  ['a batch of 26', 'BatchWriteItem', batch(...many(26, (i) => deletes(at('absent', `S${i}`))))],
  ['a batch with one key twice', 'BatchWriteItem', batch(puts(absent), deletes(absent))],
  [
    'a batch with an item that is too large',
    'BatchWriteItem',
    batch(puts(at('never')), puts({ ...absent, h: filled(420_000) })),
  ],
  ['nothing of that batch', 'GetItem', { ...onTable, Key: at('never') }],
  ['keys', 'BatchGetItem', { ...gets(there), ...indexes }],
  ['one key twice', 'BatchGetItem', gets(there, there)],
  ['101 keys', 'BatchGetItem', gets(...many(101, (i) => at('absent', `S${i}`)))],
  ['no keys', 'BatchGetItem', gets()],
  [
    // DynamoDB Local refuses it too late: the first one is written.
    'one insertion twice',
    'BatchExecuteStatement',
    { Statements: [inserting('plain', at('twice')), inserting('plain', at('twice'))] },
  ],
  [
    'insertions that fail',
    'BatchExecuteStatement',
    {
      Statements: [
        inserting('table', item),
        inserting('none', absent),
        inserting('table', { k: bytes('absent') }),
        inserting('table', { ...absent, t: { S: 'x' } }),
        inserting('table', { ...absent, p: { S: 'T' }, h: filled(420_000) }),
      ],
    },
  ],
  [
    'a transaction of 101',
    'TransactWriteItems',
    transaction(...many(101, (i) => of('Delete', { Key: at('absent', `S${i}`) }))),
  ],
  [
    'a transaction with one item twice',
    'TransactWriteItems',
    transaction(of('Put', { Item: absent }), of('Delete', { Key: absent })),
  ],
  [
    'a transaction with an item that is too large',
    'TransactWriteItems',
    transaction(of('Put', { Item: { ...absent, h: filled(420_000) } })),
  ],
  [
    'a transaction whose condition fails',
    'TransactWriteItems',
    transaction(
      of('Put', { Item: absent }),
      of('ConditionCheck', {
        Key: there,
        ConditionExpression: 'attribute_not_exists(k)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    ),
  ],
  ['nothing of that transaction', 'GetItem', { ...onTable, Key: absent }],
  [
    'a transaction with an update whose condition fails',
    'TransactWriteItems',
    transaction(
      of('Put', { Item: absent }),
      of('Update', {
        Key: there,
        UpdateExpression: 'ADD #c :one',
        ConditionExpression: '#c > :one',
        ExpressionAttributeNames: { '#c': 'counted' },
        ExpressionAttributeValues: { ':one': { N: '1' } },
      }),
    ),
  ],
  [
    'a transaction with an update',
    'TransactWriteItems',
    transaction(
      of('Update', {
        Key: there,
        UpdateExpression: 'ADD #c :one',
        ConditionExpression: 'attribute_not_exists(#c) OR #c <= :one',
        ExpressionAttributeNames: { '#c': 'counted' },
        ExpressionAttributeValues: { ':one': { N: '1' } },
      }),
    ),
  ],
  ['the item of that update', 'GetItem', { ...onTable, Key: there }],
  [
    'a stream that is none',
    'DescribeStream',
    { StreamArn: 'arn:aws:dynamodb:ddblocal:000000000000:table/table/stream/2026-01-01T00:00:00.000' },
  ],
  ['an iterator that is none', 'GetRecords', { ShardIterator: 'abc' }],
];
