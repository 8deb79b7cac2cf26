import type { StandIn } from 'aws-stand-in';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDynamodbLocal } from '../src/dynamodb-local.ts';
import { startStore } from '../src/start.ts';
import { type Fields, isObject, toItem } from '../src/values.ts';
import {
  batch,
  cases,
  deletes,
  indexes,
  inserting,
  item,
  limits,
  many,
  names,
  onTable,
  onTheTable,
  puts,
  query,
  transaction,
  values,
} from './cases.ts';
import { hasJava, requiresJava, runs } from './java.ts';
import { type Answer, bytes, filled, makeTable, type Wire, wireTo } from './support.ts';

/*
 * One contract for both stores: each request goes to the embedded store and to Amazon's DynamoDB
 * Local, and has to have the same answer. Where the two differ, it is said here why.
 */

/** Amazon's store; undefined on a machine without Java. */
const amazon: StandIn | undefined = hasJava ? await startDynamodbLocal() : undefined;

let stores: StandIn[] = [];
let ours: Wire;
let theirs: Wire;

beforeAll(async () => {
  const embedded = await startStore();
  stores = [embedded, ...(amazon ? [amazon] : [])];
  [ours, theirs] = [wireTo(embedded.endpoint), wireTo(amazon?.endpoint ?? embedded.endpoint)];
  if (!amazon) return;
  for (const wire of [ours, theirs]) {
    await wire.send('CreateTable', makeTable('table'));
    await wire.send('CreateTable', { ...makeTable('plain'), StreamSpecification: { StreamEnabled: false } });
  }
});
afterAll(async () => {
  for (const wire of [ours, theirs]) wire.close();
  await Promise.all(stores.map((store) => store.stop()));
});

/** A reason of a cancelled transaction. DynamoDB Local adds a full stop if it has the item. */
const withoutStop = (reason: unknown) =>
  isObject(reason) && typeof reason.Message === 'string'
    ? { ...reason, Message: reason.Message.replace(/\.$/, '') }
    : reason;

/**
 * What is compared of an answer: not the order of attributes, nor where the error's text is. Of a
 * read that finds nothing DynamoDB Local counts no unit, where AWS counts those of the smallest item.
 */
const comparable = ({ status, body }: Answer): Fields => {
  const { Message, message = Message, __type: type, ConsumedCapacity, CancellationReasons, ...rest } = body;
  return {
    status,
    ...(typeof type === 'string' && { type: type.split('#').at(-1), message }),
    ...(rest.ScannedCount !== 0 && ConsumedCapacity !== undefined && { ConsumedCapacity }),
    ...(Array.isArray(CancellationReasons) && { reasons: CancellationReasons.map(withoutStop) }),
    ...rest,
  };
};

const both = async (operation: string, body: object) => {
  const [own, other] = await Promise.all([ours.send(operation, body), theirs.send(operation, body)]);
  return { own: comparable(own), other: comparable(other), body: own.body };
};

/** Sends a request to both stores, which have to answer the same. */
const same = async (operation: string, request: object): Promise<Fields> => {
  const { own, other, body } = await both(operation, request);
  expect(own).toEqual(other);
  return body;
};

describe('both stores answer the same to', requiresJava, () => {
  beforeAll(async () => {
    await same('PutItem', { ...onTable, Item: item, ...indexes });
  });

  it.each([...cases, ...limits])('%s', async (_, operation, body) => {
    await same(operation, body);
  });
});

// Cases that are made up

/** Bytes in an order that a sign would turn around. */
const someByte = fc.constantFrom(0, 1, 0x7f, 0x80, 0xff);

/**
 * Numbers as they are stored. Those of updates and batches DynamoDB Local counts as they are written,
 * with zeros and exponents.
 */
const number = fc.oneof(
  fc.integer({ min: -100_000, max: 100_000 }).map(String),
  fc.constantFrom('0.25', '-7.5', '0.001', '12345678901234567890123456789012345678'),
);

/** Numbers in all their forms. */
const anyNumber = fc.oneof(
  number,
  fc
    .tuple(fc.integer({ min: -999, max: 999 }), fc.integer({ min: -30, max: 30 }))
    .map(([a, b]) => `${a}e${b}`),
  fc.constantFrom('0', '-0.0', '1.50', '100', '9.9E125', '1e-130', '-7e100'),
);

/** Values within each other; none is empty, of which DynamoDB Local's streams leave out the type. */
const { value: nested } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.string({ unit: 'grapheme', maxLength: 6 }).map((S) => ({ S })),
    number.map((N) => ({ N })),
    fc.boolean().map((BOOL) => ({ BOOL })),
    fc.constant({ NULL: true }),
    fc.constantFrom({ SS: ['a', 'é'] }, { NS: ['1', '20'] }, { BS: ['AQ=='] }),
    fc.uint8Array({ maxLength: 6 }).map((array) => ({ B: Buffer.from(array).toString('base64') })),
    fc.array(tie('value'), { minLength: 1, maxLength: 3 }).map((L) => ({ L })),
    fc
      .dictionary(fc.stringMatching(/^[a-zé#]{1,3}$/), tie('value'), { minKeys: 1, maxKeys: 3 })
      .map((M) => ({ M })),
  ),
}));

/** Sizes about those where a unit ends. */
const size = fc.oneof(
  fc.integer({ min: 0, max: 100 }),
  fc.integer({ min: 940, max: 1030 }),
  fc.integer({ min: 1960, max: 2050 }),
  fc.integer({ min: 4000, max: 4100 }),
);

const sortText = fc.constantFrom('E', 'S', 'P', 'Z', 'é', 'z', '😀', '\uffff');

/** The key of an item of one of three partitions. */
const itemKey = fc.record({ at: fc.constantFrom('a', 'b', 'c'), p: sortText });
interface ItemKey {
  readonly at: string;
  readonly p: string;
}

/** An item but for its key. */
const content = fc.record(
  {
    t: fc.constantFrom('t1', 't2'),
    s: someByte,
    r: fc.constantFrom('r1', 'r2'),
    h: size,
    c: size,
    n: number,
    m: nested,
  },
  { requiredKeys: [] },
);
interface Content {
  readonly t?: string;
  readonly s?: number;
  readonly r?: string;
  readonly h?: number;
  readonly c?: number;
  readonly n?: string;
  readonly m?: unknown;
}

const keyIn = (run: string, { at, p }: ItemKey) => ({ k: bytes(`${run} ${at}`), p: { S: p } });

/** No two items have the same key in an index: DynamoDB leaves their order open. */
const sortBytes = (s: number, { at, p }: ItemKey) => Buffer.concat([Buffer.of(s), Buffer.from(at + p)]);

const itemIn = (run: string, key: ItemKey, { t, s, r, h, c, n, m }: Content): Fields => ({
  ...keyIn(run, key),
  ...(t !== undefined && { t: bytes(`${run} ${t}`) }),
  ...(r !== undefined && { r: bytes(`${run} ${r}`) }),
  ...(s !== undefined && { s: { B: sortBytes(s, key).toString('base64') } }),
  ...(h !== undefined && { h: filled(h) }),
  ...(c !== undefined && { c: filled(c) }),
  ...(n !== undefined && { n: { N: n } }),
  ...(m !== undefined && { m }),
});

const condition: fc.Arbitrary<object> = fc.oneof(
  fc.constantFrom(
    { ConditionExpression: 'attribute_not_exists(k)' },
    { ConditionExpression: 'attribute_exists(k) AND attribute_not_exists(n)' },
    {},
  ),
  fc.tuple(fc.constantFrom('=', '<>', '<', '<=', '>', '>='), number).map(([sign, N]) => ({
    ConditionExpression: `attribute_not_exists(k) OR n ${sign} :n`,
    ...values({ ':n': { N } }),
  })),
  nested.map((value) => ({
    ConditionExpression: 'm = :m OR attribute_not_exists(m)',
    ...values({ ':m': value }),
  })),
);

/** A request, given the run's own part of each key. */
type Request = (run: string) => readonly [operation: string, body: object];

const request =
  (operation: string, body: (run: string) => object): Request =>
  (run) => [operation, { ...body(run), ...indexes }];

const apart = fc.uniqueArray(fc.tuple(itemKey, content), {
  minLength: 1,
  maxLength: 5,
  selector: ([{ at, p }]) => at + p,
});

const writes: fc.Arbitrary<Request> = fc.oneof(
  fc
    .tuple(itemKey, content, condition)
    .map(([key, rest, on]) =>
      request('PutItem', (run) => ({ ...onTable, Item: itemIn(run, key, rest), ...on })),
    ),
  fc
    .tuple(itemKey, condition)
    .map(([key, on]) => request('DeleteItem', (run) => ({ ...onTable, Key: keyIn(run, key), ...on }))),
  fc.tuple(itemKey, number, number, size).map(([key, one, other, h]) =>
    request('UpdateItem', (run) => ({
      ...onTable,
      Key: keyIn(run, key),
      UpdateExpression: 'SET h = :h, x = if_not_exists(x, :x) ADD n :n REMOVE m, a',
      ConditionExpression: 'attribute_not_exists(n) OR n < :x',
      ...values({ ':h': filled(h), ':x': { N: one }, ':n': { N: other } }),
      ReturnValues: 'ALL_NEW',
    })),
  ),
  apart.map((items) =>
    request('BatchWriteItem', (run) =>
      batch(
        ...items.map(([key, rest], i) =>
          i % 3 === 2 ? deletes(keyIn(run, key)) : puts(itemIn(run, key, rest)),
        ),
      ),
    ),
  ),
  apart.map((items) =>
    request('BatchExecuteStatement', (run) => ({
      Statements: items.map(([key, rest]) => inserting('table', itemIn(run, key, rest))),
    })),
  ),
  fc
    .tuple(apart, condition)
    .map(([items, on]) =>
      request('TransactWriteItems', (run) =>
        transaction(
          ...items.map(([key, rest], i) =>
            i % 3 === 2
              ? onTheTable('Delete', { Key: keyIn(run, key) })
              : onTheTable('Put', { Item: itemIn(run, key, rest), ...(i === 0 && on) }),
          ),
        ),
      ),
    ),
);

const base64 = (...array: number[]) => ({ B: Buffer.from(array).toString('base64') });

/** A sort key with two bounds, of the table or of an index. */
const range: fc.Arbitrary<{
  readonly partition: string;
  readonly sort: readonly [name: string, from: object, to: object];
  readonly IndexName?: string;
}> = fc.oneof(
  fc.tuple(sortText, sortText).map((bounds) => {
    const [from = '', to = ''] = bounds.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    return { partition: 'k', sort: ['p', { S: from }, { S: to }] as const };
  }),
  fc.tuple(fc.constantFrom('by_time', 'by_trace'), someByte, someByte).map(([IndexName, a, b]) => ({
    IndexName,
    partition: IndexName === 'by_time' ? 't' : 'r',
    sort: ['s', base64(Math.min(a, b)), base64(Math.max(a, b), 0xff)] as const,
  })),
);

/** A query of a partition, of a part of it or of all. */
const queries = fc
  .record({
    range,
    number: fc.constantFrom(1, 2),
    operator: fc.constantFrom('', ' AND #s BETWEEN :a AND :b', ' AND #s >= :a', ' AND #s < :b'),
    Limit: fc.constantFrom(undefined, 1, 2, 3),
    ScanIndexForward: fc.boolean(),
    ProjectionExpression: fc.constantFrom(undefined, 'k, p', '#s'),
  })
  .map(({ range: { partition, sort, ...index }, number, operator, ...rest }) => (run: string) => {
    const [name, from, to] = sort;
    const key = partition === 'k' ? `${run} ${number === 1 ? 'a' : 'b'}` : `${run} ${partition}${number}`;
    const usesSort = operator !== '' || rest.ProjectionExpression === '#s';
    return {
      ...onTable,
      ...index,
      ...rest,
      KeyConditionExpression: `#p = :p${operator}`,
      ...names({ '#p': partition, ...(usesSort && { '#s': name }) }),
      ...values({
        ':p': bytes(key),
        ...(operator.includes(':a') && { ':a': from }),
        ...(operator.includes(':b') && { ':b': to }),
      }),
      ...indexes,
    };
  });

/** JSON with the fields of objects in the order of their names. */
const toText = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    isObject(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : inner,
  );

/**
 * Reads all pages of a query from both stores. Where a limit ends a page at the very bound of its
 * range, DynamoDB Local knows that nothing is left. The embedded store has one more page then, which
 * is empty.
 */
const samePages = async (body: object): Promise<void> => {
  let start: unknown;
  do {
    const asked = { ...body, ...(start !== undefined && { ExclusiveStartKey: start }) };
    const page = await both('Query', asked);
    const { LastEvaluatedKey: next, ...own } = page.own;
    const { LastEvaluatedKey: theirNext, ...other } = page.other;
    expect(own).toEqual(other);
    start = page.body.LastEvaluatedKey;
    if (theirNext !== undefined || next === undefined) expect(next).toEqual(theirNext);
    else {
      const rest = await ours.send('Query', { ...body, ExclusiveStartKey: next });
      expect(rest.body).toMatchObject({ ScannedCount: 0 });
      return;
    }
  } while (start !== undefined);
};

const withoutUnits = ({ ConsumedCapacity: _, ...answer }: Fields): Fields => answer;

/**
 * Writes to both stores. DynamoDB Local does not report the units of PartiQL, counts those of a
 * transaction once where AWS counts them twice, and a deletion of nothing in a batch as two.
 */
const sameWrite = async (operation: string, body: object): Promise<void> => {
  const { own, other } = await both(operation, body);
  const countsAlike =
    /^(Put|Update|Delete)Item$/.test(operation) || !/"Delete|"Statement|"Transact/.test(toText(body));
  const compared = countsAlike ? (all: Fields) => all : withoutUnits;
  expect(compared(own)).toEqual(compared(other));
};

let count = 0;
const newRun = (): string => `run ${count++}`;

/** Where a stream is to be read from. */
interface Place {
  readonly wire: Wire;
  readonly iterators: readonly unknown[];
}

const findPlace = async (wire: Wire): Promise<Place> => {
  const { body } = await wire.send('DescribeTable', onTable);
  const StreamArn = isObject(body.Table) ? body.Table.LatestStreamArn : undefined;
  const { StreamDescription: stream } = (await wire.send('DescribeStream', { StreamArn })).body;
  const shards: readonly unknown[] = isObject(stream) && Array.isArray(stream.Shards) ? stream.Shards : [];
  const iterators = shards.map(async (shard) => {
    const ShardId = isObject(shard) ? shard.ShardId : undefined;
    const asked = { StreamArn, ShardId, ShardIteratorType: 'LATEST' };
    return (await wire.send('GetShardIterator', asked)).body.ShardIterator;
  });
  return { wire, iterators: await Promise.all(iterators) };
};

/** The changes behind a place, by the keys of their items: one item's are in order. */
const changesFrom = async ({ wire, iterators }: Place): Promise<Readonly<Record<string, unknown>>> => {
  const found: (readonly [string, unknown])[] = [];
  for (let iterator of iterators)
    for (let empty = 0; empty < 2 && iterator !== undefined; ) {
      const { body }: Answer = await wire.send('GetRecords', { ShardIterator: iterator });
      const records: readonly unknown[] = Array.isArray(body.Records) ? body.Records : [];
      iterator = body.NextShardIterator;
      if (records.length === 0) empty++;
      for (const record of records) {
        if (!isObject(record) || !isObject(record.dynamodb)) throw new Error('a record without a change');
        const { Keys, NewImage, OldImage, SizeBytes } = record.dynamodb;
        found.push([toText(Keys), { name: record.eventName, NewImage, OldImage, SizeBytes }]);
      }
    }
  const groups = Map.groupBy(found, ([key]) => key);
  return Object.fromEntries([...groups].map(([key, changes]) => [key, changes.map(([, change]) => change)]));
};

const onPlain = { TableName: 'plain' };

describe('both stores', requiresJava, () => {
  it('do the same writes, and then answer the same queries and have the same changes in their streams', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(writes, { minLength: 3, maxLength: 12 }),
        fc.array(queries, { minLength: 2, maxLength: 5 }),
        async (written, asked) => {
          const run = newRun();
          const places = await Promise.all([ours, theirs].map(findPlace));
          for (const one of written) await sameWrite(...one(run));
          for (const one of asked) await samePages(one(run));
          for (const at of ['a', 'b', 'c'])
            await samePages(query('k = :k', { ':k': bytes(`${run} ${at}`) }, indexes));
          const [own, other] = await Promise.all(places.map(changesFrom));
          expect(own).toEqual(other);
        },
      ),
      { numRuns: runs(20, 160), endOnFailure: true },
    );
  });

  it('count the bytes of an item alike, whatever it has', async () => {
    const cases = fc.asyncProperty(
      content,
      anyNumber,
      fc.constantFrom(3, 6),
      fc.constantFrom(0, 1),
      async (rest, n, units, over) => {
        const without = itemIn(newRun(), { at: 'a', p: 'S' }, { ...rest, n, c: 0, h: 0 });
        const Item = { ...without, h: filled(units * 1024 + over - toItem(without).size) };
        const answer = await same('PutItem', { ...onPlain, Item, ...indexes });
        expect(answer).toMatchObject({ ConsumedCapacity: { Table: { CapacityUnits: units + over } } });
      },
    );
    await fc.assert(cases, { numRuns: runs(60, 600) });
  });

  it('end a page with the item that brings it to a megabyte', async () => {
    const sizes = fc.array(fc.constantFrom(131_071, 131_072, 131_073, 262_144, 400_000), {
      minLength: 3,
      maxLength: 10,
    });
    const cases = fc.asyncProperty(sizes, async (size) => {
      const run = newRun();
      for (const [i, bytes] of size.entries()) {
        const without = itemIn(run, { at: 'a', p: String(i) }, { t: 't1', s: i, h: 0 });
        const Item = { ...without, h: filled(bytes - toItem(without).size) };
        await same('PutItem', { ...onPlain, Item, ...indexes });
      }
      const ofIndex = { IndexName: 'by_time', ProjectionExpression: 'k, p' };
      await samePages({ ...query('k = :k', { ':k': bytes(`${run} a`) }, indexes), ...onPlain });
      await samePages({ ...query('t = :k', { ':k': bytes(`${run} t1`) }, indexes), ...onPlain, ...ofIndex });
    });
    await fc.assert(cases, { numRuns: runs(3, 24) });
  });

  it('leave over what makes a batch larger than 16 MB', async () => {
    const run = newRun();
    const Keys = many(45, (i) => keyIn(run, { at: 'a', p: String(i) }));
    for (const key of Keys) await same('PutItem', { ...onPlain, Item: { ...key, h: filled(400_000) } });
    const counts = async (wire: Wire) => {
      const RequestItems = { plain: { Keys, ProjectionExpression: 'k, p' } };
      const { body } = await wire.send('BatchGetItem', { RequestItems, ...indexes });
      const { Responses: found, UnprocessedKeys: left, ConsumedCapacity } = body;
      const items = isObject(found) && Array.isArray(found.plain) ? found.plain.length : 0;
      const rest = isObject(left) && isObject(left.plain) ? left.plain.Keys : [];
      return { items, rest: Array.isArray(rest) ? rest.length : 0, ConsumedCapacity };
    };
    const own = await counts(ours);
    expect(own).toMatchObject({ items: 41, rest: 4 });
    expect(own).toEqual(await counts(theirs));
  });

  it('scan the same items, in segments that have each of them once', async () => {
    const segment = async (wire: Wire, Segment: number): Promise<string[]> => {
      const items: string[] = [];
      let start: unknown;
      do {
        const asked = { ...onTable, Segment, TotalSegments: 3, Limit: 50 };
        const { body } = await wire.send('Scan', {
          ...asked,
          ...(start !== undefined && { ExclusiveStartKey: start }),
        });
        items.push(...(Array.isArray(body.Items) ? body.Items.map(toText) : []));
        start = body.LastEvaluatedKey;
      } while (start !== undefined);
      return items;
    };
    const scan = async (wire: Wire) => (await Promise.all(many(3, (i) => segment(wire, i)))).flat().sort();
    const own = await scan(ours);
    expect(own.length).toBeGreaterThan(10);
    expect(own).toEqual(await scan(theirs));
  });

  it('do a transaction once, however often it comes with its token', async () => {
    const run = newRun();
    const Item = itemIn(run, { at: 'a', p: 'S' }, { n: '1' });
    const put = onTheTable('Put', { Item, ConditionExpression: 'attribute_not_exists(k)' });
    const sent = { ...transaction(put), ClientRequestToken: run };
    await same('TransactWriteItems', sent);
    await same('TransactWriteItems', sent);
    await same('TransactWriteItems', {
      ...sent,
      ...transaction(onTheTable('Put', { Item: { ...Item, n: { N: '2' } } })),
    });
    await same('GetItem', { ...onTable, Key: keyIn(run, { at: 'a', p: 'S' }) });
  });

  it('describe a table alike, as far as it is read', async () => {
    const described = async (wire: Wire) => {
      const { body } = await wire.send('DescribeTable', onTable);
      const { AttributeDefinitions, KeySchema, TableStatus, StreamSpecification, TableName } = isObject(
        body.Table,
      )
        ? body.Table
        : {};
      return { AttributeDefinitions, KeySchema, TableStatus, StreamSpecification, TableName };
    };
    expect(await described(ours)).toEqual(await described(theirs));
  });
});
