import type { Fields } from '../src/values.ts';
import { bytes, filled, makeTable } from './support.ts';

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
export const values = (fields: Fields) => ({ ExpressionAttributeValues: fields });
export const names = (fields: Fields) => ({ ExpressionAttributeNames: fields });
const update = (UpdateExpression: string, fields?: Fields, Key = there) => ({
  ...onTable,
  Key,
  UpdateExpression,
  ...(fields && values(fields)),
});
export const query = (condition: string, fields: Fields, rest: Fields = {}) => ({
  ...onTable,
  KeyConditionExpression: condition,
  ...values(fields),
  ...rest,
});
const own = query('k = :k', { ':k': bytes('there') });
export const transaction = (...TransactItems: object[]) => ({ TransactItems });
export const onTheTable = (kind: string, request: Fields) => ({ [kind]: { ...onTable, ...request } });
export const batch = (...requests: object[]) => ({ RequestItems: { table: requests } });
export const puts = (Item: Fields) => ({ PutRequest: { Item } });
export const deletes = (Key: Fields) => ({ DeleteRequest: { Key } });
const gets = (...Keys: object[]) => ({ RequestItems: { table: { Keys } } });

/** Requests that are refused, or that change nothing, on a table with one item. */
export const cases: readonly (readonly [name: string, operation: string, body: object])[] = [
  ['a table that is not there', 'GetItem', { TableName: 'none', Key: there }],
  ['a name that is too short', 'DescribeTable', { TableName: 'T' }],
  ['a table that is there', 'CreateTable', makeTable('table')],
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
  ['a removal of the key', 'UpdateItem', update('REMOVE p')],
  ['a removal of what is not there', 'UpdateItem', update('REMOVE x')],
  ['a removal of what is set', 'UpdateItem', update('SET a = :v REMOVE a', { ':v': { S: '1' } })],
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
    transaction(...many(101, (i) => onTheTable('Delete', { Key: at('absent', `S${i}`) }))),
  ],
  [
    'a transaction with one item twice',
    'TransactWriteItems',
    transaction(onTheTable('Put', { Item: absent }), onTheTable('Delete', { Key: absent })),
  ],
  [
    'a transaction with an item that is too large',
    'TransactWriteItems',
    transaction(onTheTable('Put', { Item: { ...absent, h: filled(420_000) } })),
  ],
  [
    'a transaction whose condition fails',
    'TransactWriteItems',
    transaction(
      onTheTable('Put', { Item: absent }),
      onTheTable('ConditionCheck', {
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
      onTheTable('Put', { Item: absent }),
      onTheTable('Update', {
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
      onTheTable('Update', {
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

// DynamoDB's limits: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html

const one = { ':v': { N: '1' } };
const long = (length: number): string => 'x'.repeat(length);
const joined = (count: number, part: string, by: string): string => many(count, () => part).join(by);
const nested = (levels: number): object => (levels === 0 ? { S: 'x' } : { L: [nested(levels - 1)] });
const projecting = (name: string, placeholder = '#a') => ({
  ...onTable,
  Key: there,
  ProjectionExpression: placeholder,
  ...names({ [placeholder]: name }),
});
const inserted = (length: number) => {
  const { Statement, Parameters } = inserting('plain', at('limits', String(length)));
  return { Statement: Statement.padEnd(length), Parameters };
};

const [byTime] = makeTable('limits').GlobalSecondaryIndexes;
const definition = (AttributeName: string) => ({ AttributeName, AttributeType: 'B' });
const hash = (AttributeName: string) => ({ AttributeName, KeyType: 'HASH' });
const range = (AttributeName: string) => ({ AttributeName, KeyType: 'RANGE' });

/** A request for a table with one index, of which something is changed. */
const table = (changes: Fields, ofIndex: Fields = {}) => ({
  ...makeTable('limits'),
  AttributeDefinitions: [
    definition('k'),
    { ...definition('p'), AttributeType: 'S' },
    definition('t'),
    definition('s'),
  ],
  GlobalSecondaryIndexes: [{ ...byTime, ...ofIndex }],
  ...changes,
});
const withOthers = (type: string) => ({ Projection: { ProjectionType: type, NonKeyAttributes: ['z'] } });

/** Requests at DynamoDB's limits and just beyond. Those that are done change nothing for the others. */
export const limits: readonly (readonly [name: string, operation: string, body: object])[] = [
  ['a condition of 4,096 bytes', 'DeleteItem', remove('n = :v'.padEnd(4096), values(one))],
  ['a condition of 4,097 bytes', 'DeleteItem', remove('n = :v'.padEnd(4097), values(one))],
  [
    'a filter of 4,097 bytes',
    'Query',
    {
      ...query('k = :k', { ':k': bytes('there'), ...one }),
      FilterExpression: 'n = :v'.padEnd(4097),
    },
  ],
  ['a key condition of 4,097 bytes', 'Query', query('k = :k'.padEnd(4097), { ':k': bytes('there') })],
  [
    'a projection of 4,097 bytes',
    'GetItem',
    { ...onTable, Key: there, ProjectionExpression: 'k'.padEnd(4097) },
  ],
  ['an update of 4,097 bytes', 'UpdateItem', update('SET n = :v'.padEnd(4097), one)],
  ['299 operators', 'DeleteItem', remove(joined(150, 'n = :v', ' OR '), values(one))],
  ['301 operators', 'DeleteItem', remove(joined(151, 'n = :v', ' OR '), values(one))],
  ['301 functions and operators', 'DeleteItem', remove(joined(151, 'attribute_exists(n)', ' OR '))],
  ['301 bounds and operators', 'DeleteItem', remove(joined(151, 'n BETWEEN :v AND :v', ' OR '), values(one))],
  [
    'a filter of 301 operators',
    'Query',
    {
      ...query('k = :k', { ':k': bytes('there'), ...one }),
      FilterExpression: joined(151, 'n = :v', ' OR '),
    },
  ],
  ['a key condition of 301 operators', 'Query', query(joined(151, 'k = :k', ' AND '), { ':k': bytes('k') })],
  ['parentheses in parentheses', 'DeleteItem', remove('((n = :v))', values(one))],
  ['parentheses around others', 'DeleteItem', remove('((n = :v) OR n = :v)', values(one))],
  ['parentheses around all of others', 'DeleteItem', remove('((n = :v OR n = :v)) AND n = :v', values(one))],
  ['a placeholder of 255 letters', 'GetItem', projecting('b', `#${long(254)}`)],
  ['a placeholder of 256 letters', 'GetItem', projecting('b', `#${long(255)}`)],
  [
    'a placeholder of a value of 256 letters',
    'DeleteItem',
    remove('n = :v', values({ [`:${long(255)}`]: one[':v'] })),
  ],
  ['a placeholder without its sign', 'GetItem', projecting('b', 'a')],
  ['a placeholder of another sign', 'GetItem', projecting('b', ':a')],
  ['a placeholder with a dash', 'DeleteItem', remove('n = :a', values({ ':a-b': one[':v'] }))],
  ['values of more than 2 MB', 'DeleteItem', remove('n = :v', values({ ':v': filled(2_100_000) }))],
  ['a value that is none', 'DeleteItem', remove('n = :v', values({ ':v': { N: 'x' } }))],
  ['a value that is an empty set', 'DeleteItem', remove('n = :v', values({ ':v': { SS: [] } }))],
  ['an empty name behind a placeholder', 'GetItem', projecting('')],
  ['a name of 65,535 bytes behind a placeholder', 'GetItem', projecting(long(65_535))],
  ['a name of 65,536 bytes behind a placeholder', 'GetItem', projecting(long(65_536))],
  ['an empty name', 'PutItem', put({ '': { N: '1' } })],
  ['an empty name in a map', 'PutItem', put({ m: { M: { '': { N: '1' } } } })],
  ['an empty name in a batch', 'BatchWriteItem', batch(puts({ ...absent, '': { N: '1' } }))],
  ['33 levels', 'PutItem', put({ m: nested(32) })],
  [
    'what to return of another kind',
    'DeleteItem',
    { ...onTable, Key: absent, ReturnValuesOnConditionCheckFailure: 'SOME' },
  ],
  ['what to return in small letters', 'PutItem', put({}, { ReturnValuesOnConditionCheckFailure: 'all_old' })],
  [
    'what to return of an update',
    'UpdateItem',
    { ...update('SET n = :v', one), ReturnValuesOnConditionCheckFailure: 'ALL_NEW' },
  ],
  ['a name of a table of 255 letters', 'DescribeTable', { TableName: long(255) }],
  ['a name of a table of 256 letters', 'DescribeTable', { TableName: long(256) }],
  ['an empty partition', 'Query', query('k = :k', { ':k': { B: '' } })],
  [
    'an empty beginning of a sort key',
    'Query',
    query('k = :k AND begins_with(p, :p)', { ':k': bytes('k'), ':p': { S: '' } }),
  ],
  [
    'a sort key of 1,025 bytes',
    'Query',
    query('k = :k AND p = :p', { ':k': bytes('k'), ':p': { S: long(1025) } }),
  ],
  ['a sort key that is unlike', 'Query', query('k = :k AND p <> :p', { ':k': bytes('k'), ':p': { S: 'x' } })],
  ['a key or another', 'Query', query('k = :k OR p = :p', { ':k': bytes('k'), ':p': { S: 'x' } })],
  ['a key that is there', 'Query', query('k = :k AND attribute_exists(p)', { ':k': bytes('k') })],
  ['a segment alone', 'Scan', { ...onTable, Segment: 0 }],
  ['segments alone', 'Scan', { ...onTable, TotalSegments: 2 }],
  ['a segment beyond the last', 'Scan', { ...onTable, Segment: 2, TotalSegments: 2 }],
  ['more than a million segments', 'Scan', { ...onTable, Segment: 0, TotalSegments: 1_000_001 }],
  ['a start that is too short for a scan', 'Scan', { ...onTable, ExclusiveStartKey: { k: bytes('k') } }],
  ['a statement of 8,192 bytes', 'BatchExecuteStatement', { Statements: [inserted(8192)] }],
  [
    'a statement of 8,193 bytes behind another',
    'BatchExecuteStatement',
    { Statements: [inserted(100), inserted(8193)] },
  ],
  ['nothing of the one before it', 'GetItem', { TableName: 'plain', Key: at('limits', '100') }],
  ['no statements', 'BatchExecuteStatement', { Statements: [] }],
  ['an empty statement', 'BatchExecuteStatement', { Statements: [{ Statement: '' }] }],
  [
    '26 statements',
    'BatchExecuteStatement',
    { Statements: many(26, (i) => inserting('plain', at(`limits ${i}`))) },
  ],
  [
    'a token of 37 letters',
    'TransactWriteItems',
    { ...transaction(onTheTable('Delete', { Key: absent })), ClientRequestToken: long(37) },
  ],
  ['an index with a name that is too short', 'CreateTable', table({}, { IndexName: 'a' })],
  ['two indexes of one name', 'CreateTable', table({ GlobalSecondaryIndexes: [byTime, byTime] })],
  [
    'no index in a list of them',
    'CreateTable',
    table({ GlobalSecondaryIndexes: [], AttributeDefinitions: [definition('k')], KeySchema: [hash('k')] }),
  ],
  [
    '21 indexes',
    'CreateTable',
    table({ GlobalSecondaryIndexes: many(21, (i) => ({ ...byTime, IndexName: `index${i}` })) }),
  ],
  [
    'a key of 256 letters',
    'CreateTable',
    table({ AttributeDefinitions: [definition(long(256))], KeySchema: [hash(long(256))] }),
  ],
  [
    'a projected name of 256 letters',
    'CreateTable',
    table({}, { Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: [long(256)] } }),
  ],
  [
    'one projected name twice',
    'CreateTable',
    table({}, { Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['z', 'z'] } }),
  ],
  [
    'a projection of some, and of none',
    'CreateTable',
    table({}, { Projection: { ProjectionType: 'INCLUDE' } }),
  ],
  ['a projection of keys, and of others', 'CreateTable', table({}, withOthers('KEYS_ONLY'))],
  ['a projection of all, and of others', 'CreateTable', table({}, withOthers('ALL'))],
  ['an index without a projection', 'CreateTable', table({}, { Projection: undefined })],
  [
    'a definition that nothing uses',
    'CreateTable',
    table({ AttributeDefinitions: [...table({}).AttributeDefinitions, definition('z')] }),
  ],
  [
    'one definition twice',
    'CreateTable',
    table({ AttributeDefinitions: [...table({}).AttributeDefinitions, definition('s')] }),
  ],
  ['a key without a definition', 'CreateTable', table({ AttributeDefinitions: [definition('z')] })],
  ['no definitions', 'CreateTable', table({ AttributeDefinitions: [] })],
  ['no keys', 'CreateTable', table({ KeySchema: [] })],
  ['three keys', 'CreateTable', table({ KeySchema: [hash('k'), range('p'), range('s')] })],
  ['two partition keys', 'CreateTable', table({ KeySchema: [hash('k'), hash('p')] })],
  ['a sort key before the partition key', 'CreateTable', table({ KeySchema: [range('p'), hash('k')] })],
  ['one key twice', 'CreateTable', table({ KeySchema: [hash('k'), range('k')] })],
  ['no partition key', 'CreateTable', table({ KeySchema: [range('p')] })],
  ['a stream of nothing', 'CreateTable', table({ StreamSpecification: { StreamEnabled: true } })],
  ['none of those tables', 'DescribeTable', { TableName: 'limits' }],
  [
    'a time to live of 256 letters',
    'UpdateTimeToLive',
    { ...onTable, TimeToLiveSpecification: { AttributeName: long(256), Enabled: true } },
  ],
];
