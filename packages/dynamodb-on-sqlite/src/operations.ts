import { createHash } from 'node:crypto';
import type { Database, StoredTable } from './database.ts';
import { invalid, malformed, noTable, StoreError, unsupported } from './errors.ts';
import { type Change, type Condition, readCondition, readUpdate, updated } from './expressions.ts';
import {
  maxBatchBytes,
  query,
  type ReadPage,
  readKeys,
  readPlaceholders,
  readUnits,
  requireKnown,
  scan,
} from './reads.ts';
import { describeStream, getRecords, getShardIterator } from './streams.ts';
import {
  describe,
  getKey,
  type Key,
  readStream,
  readTable,
  requestedKey,
  requireKeyName,
  requireName,
} from './tables.ts';
import { type Fields, type Item, isObject, itemSize, readObjects, type SizedItem, toItem } from './values.ts';
import { type Prepared, perform, prepare, sumOfUnits, toStored, type Units, type Write } from './writes.ts';

/*
 * The operations of DynamoDB's API that this store has, and their fields:
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Operations.html
 */

/** DynamoDB's limits of requests. */
const maxBatchWrite = 25;
const maxBatchGet = 100;
const maxTransaction = 100;
const maxStatement = 8192;
const maxTransactionBytes = 4 * 1024 * 1024;

/** How long DynamoDB remembers the token of a transaction, in ms. */
const tokenMs = 10 * 60_000;

/** Items that expired longer ago stay, in seconds. */
const oldestExpiry = 5 * 365 * 86_400;
/** How long changes stay in a stream, in seconds. */
const streamSeconds = 86_400;
/** The items that are removed at once when they have expired. */
const expiredAtOnce = 100;

/** What a request says about what its answer is to have. */
type CapacityDetail = 'NONE' | 'TOTAL' | 'INDEXES';

const capacityDetail = ({ ReturnConsumedCapacity: detail = 'NONE' }: Fields): CapacityDetail => {
  if (detail === 'NONE' || detail === 'TOTAL' || detail === 'INDEXES') return detail;
  throw invalidChoice(detail, 'returnConsumedCapacity', ['INDEXES', 'TOTAL', 'NONE']);
};

/** The error of a field that has none of the values that it may have. */
const invalidChoice = (value: unknown, field: string, values: readonly string[]): StoreError =>
  invalid(
    `1 validation error detected: Value '${value}' at '${field}' failed to satisfy constraint: ` +
      `Member must satisfy enum value set: [${values.join(', ')}]`,
  );

/** Whether the error of a failed condition is to have the item. */
const returnsOld = ({ ReturnValuesOnConditionCheckFailure: given }: Fields): boolean => {
  const returned = given ?? 'NONE';
  if (returned === 'ALL_OLD' || returned === 'NONE') return returned === 'ALL_OLD';
  throw invalidChoice(returned, 'returnValuesOnConditionCheckFailure', ['ALL_OLD', 'NONE']);
};

const toCapacity = (detail: CapacityDetail, name: string, { table, indexes }: Units) => {
  const total = [...indexes.values()].reduce((sum, units) => sum + units, table);
  const all = { TableName: name, CapacityUnits: total };
  if (detail === 'TOTAL') return all;
  return {
    ...all,
    Table: { CapacityUnits: table },
    ...(indexes.size > 0 && {
      GlobalSecondaryIndexes: Object.fromEntries(
        [...indexes].map(([index, units]) => [index, { CapacityUnits: units }]),
      ),
    }),
  };
};

/** What a request took of one table. */
interface Taken {
  readonly name: string;
  readonly units: Units;
}

/** The capacity that a request took of one table, or of each of some; undefined if it does not ask. */
const consumed = (request: Fields, taken: Taken | readonly Taken[]): object | undefined => {
  const detail = capacityDetail(request);
  if (detail === 'NONE') return undefined;
  const capacities = [taken].flat().map(({ name, units }) => toCapacity(detail, name, units));
  return Array.isArray(taken) ? capacities : capacities[0];
};

const ofTable = (units: number): Units => ({ table: units, indexes: new Map() });

/** JSON of fields, each of which is JSON already, without those that are undefined. */
const joined = (fields: Readonly<Record<string, string | undefined>>): string =>
  `{${Object.entries(fields)
    .flatMap(([name, json]) => (json === undefined ? [] : [`${JSON.stringify(name)}:${json}`]))
    .join(',')}}`;

const fields = (...names: string[]): ReadonlySet<string> => new Set(names);

const expressionFields = ['ExpressionAttributeNames', 'ExpressionAttributeValues'];
const conditionFields = ['ConditionExpression', 'ReturnValuesOnConditionCheckFailure', ...expressionFields];
const pageFields = [
  'TableName',
  'Limit',
  'ExclusiveStartKey',
  'ConsistentRead',
  'FilterExpression',
  'ProjectionExpression',
  'ReturnConsumedCapacity',
  ...expressionFields,
];

const insertion = /^\s*INSERT\s+INTO\s+"([^"]+)"\s+VALUE\s+\{(.*)\}\s*$/s;
const insertedField = /\s*'([^']+)'\s*:\s*\?\s*(,|$)/y;

/** The table of a PartiQL insertion, and the names of its attributes in the order of its parameters. */
const readInsertion = (statement: unknown): { readonly name: string; readonly names: readonly string[] } => {
  if (typeof statement !== 'string') throw malformed('Statement is no text');
  const [, name, body = ''] = insertion.exec(statement) ?? [];
  if (name === undefined) throw unsupported('PartiQL other than INSERT INTO "<table>" VALUE {…}');
  const names: string[] = [];
  insertedField.lastIndex = 0;
  while (insertedField.lastIndex < body.length) {
    const [, attribute, separator] = insertedField.exec(body) ?? [];
    if (attribute === undefined) throw unsupported("a PartiQL item other than {'<name>':?, …}");
    if (names.includes(attribute)) throw invalid(`Duplicate keys in tuple. Key: ${attribute}`);
    names.push(attribute);
    if (separator === '') break;
  }
  return { name, names };
};

/** The error of a condition that does not hold. */
const conditionCode = 'ConditionalCheckFailedException';

/** The codes that statements and transactions have for errors. */
const statementCodes: Readonly<Record<string, string>> = {
  ValidationException: 'ValidationError',
  [conditionCode]: 'ConditionalCheckFailed',
  ResourceNotFoundException: 'ResourceNotFound',
};

const getCode = ({ code }: StoreError): string => statementCodes[code] ?? code;

/** A text that two keys of one table share only if they are the same. */
const keyText = ({ partition, sort }: Key): string =>
  `${partition.toString('base64')} ${sort.toString('base64')}`;

/** @throws StoreError if two writes are on the same item */
const requireApart = (writes: readonly Pick<Write, 'table' | 'key'>[], message: string): void => {
  const keys = new Set(writes.map(({ table, key }) => `${table.id} ${keyText(key)}`));
  if (keys.size < writes.length) throw invalid(message);
};

const duplicates = 'Provided list of item keys contains duplicates';

/** The store: DynamoDB's operations on a database. */
export class Operations {
  readonly #database: Database;
  /** The tokens of transactions that were done: a hash of each, and when it was. */
  readonly #tokens = new Map<string, { readonly hash: string; readonly at: number }>();

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Does what a request asks for. What it writes is durable once the database has committed.
   *
   * @param target the operation, as the header `X-Amz-Target` names it
   * @param body the JSON of the request
   * @returns the JSON of the answer
   * @throws StoreError for the client; any other error leaves a transaction that has to be rolled back
   */
  run(target: string, body: string): string {
    const [, operation = ''] = target.split('.');
    const handle = Object.hasOwn(this.#operations, operation) ? this.#operations[operation] : undefined;
    if (!handle)
      throw new StoreError(
        'UnknownOperationException',
        `the embedded store does not support ${operation || target}`,
      );
    const request = parse(body);
    requireKnown(operation, request, handle.fields);
    return handle.run(request);
  }

  /**
   * Removes what has expired, and changes that streams keep no longer.
   *
   * @param now in ms since 1970
   */
  expire(now: number): void {
    const seconds = now / 1000;
    for (const table of this.#database.tables) {
      if (table.definition.expiry === undefined) continue;
      for (const row of table.expired(seconds, seconds - oldestExpiry, expiredAtOnce)) {
        const key = getKey(table.definition, toStored(row).item);
        perform(this.#database, prepare({ table, key, expires: true, change: () => undefined }));
      }
    }
    if (this.#database.lastChange > 0) this.#database.trimChanges(seconds - streamSeconds);
    for (const [token, { at }] of this.#tokens) if (now - at > tokenMs) this.#tokens.delete(token);
  }

  #table(name: unknown): StoredTable {
    const table = this.#database.table(requireName(name));
    if (table) return table;
    throw noTable();
  }

  #condition(request: Fields): Pick<Write, 'condition' | 'returnsOld'> {
    const returns = returnsOld(request);
    const placeholders = readPlaceholders(request);
    const { ConditionExpression: source } = request;
    const condition: Condition | undefined =
      source === undefined ? undefined : readCondition('ConditionExpression', source, placeholders);
    placeholders.requireUsed(condition !== undefined);
    return { condition, returnsOld: returns };
  }

  #put(table: StoredTable, request: Fields): Write {
    const item = toItem(request.Item);
    const key = getKey(table.definition, item.item);
    return { table, key, ...this.#condition(request), change: () => item };
  }

  #delete(table: StoredTable, request: Fields): Write {
    const key = requestedKey(table.definition, toItem(request.Key).item);
    return { table, key, ...this.#condition(request), change: () => undefined };
  }

  #update(table: StoredTable, request: Fields): Write {
    const given = toItem(request.Key).item;
    const key = requestedKey(table.definition, given);
    const returns = returnsOld(request);
    const placeholders = readPlaceholders(request);
    const { ConditionExpression: source, UpdateExpression: update } = request;
    if (update === undefined) throw unsupported('UpdateItem without an UpdateExpression');
    const changes: readonly Change[] = readUpdate(update, placeholders);
    const condition =
      source === undefined ? undefined : readCondition('ConditionExpression', source, placeholders);
    placeholders.requireUsed(true);
    const { partition, sort } = table.definition;
    const ofKey = changes.find(({ name }) => name === partition.name || name === sort?.name);
    if (ofKey)
      throw invalid(
        `One or more parameter values were invalid: Cannot update attribute ${ofKey.name}. ` +
          'This attribute is part of the key',
      );
    const change = (before: Item | undefined): SizedItem => {
      const item = updated(before ?? given, changes);
      return { item, size: itemSize(item) };
    };
    return {
      table,
      key,
      condition,
      change,
      returnsOld: returns,
      tooLarge: 'Item size to update has exceeded the maximum allowed size',
    };
  }

  #one(write: Write, request: Fields): string {
    const units = perform(this.#database, prepare(write));
    const { name } = write.table.definition;
    return JSON.stringify({ ConsumedCapacity: consumed(request, { name, units }) });
  }

  #updateItem(request: Fields): string {
    const { ReturnValues: returned = 'NONE' } = request;
    if (returned !== 'NONE' && returned !== 'ALL_NEW') throw unsupported(`ReturnValues ${returned}`);
    const write = this.#update(this.#table(request.TableName), request);
    const prepared = prepare(write);
    const units = perform(this.#database, prepared);
    return JSON.stringify({
      ...(returned === 'ALL_NEW' && { Attributes: prepared.after?.item }),
      ConsumedCapacity: consumed(request, { name: write.table.definition.name, units }),
    });
  }

  #getItem(request: Fields): string {
    const table = this.#table(request.TableName);
    const { items, units } = readKeys(table, [request.Key], request, Number.POSITIVE_INFINITY);
    const taken = { name: table.definition.name, units: ofTable(units) };
    return joined({ Item: items[0], ConsumedCapacity: JSON.stringify(consumed(request, taken)) });
  }

  #page(request: Fields, read: (table: StoredTable, request: Fields) => ReadPage): string {
    const table = this.#table(request.TableName);
    const { items, scanned, bytes, next, index, consistent } = read(table, request);
    const taken = readUnits(bytes, consistent);
    const units = index ? { table: 0, indexes: new Map([[index.name, taken]]) } : ofTable(taken);
    return joined({
      Items: `[${items.join(',')}]`,
      Count: String(items.length),
      ScannedCount: String(scanned),
      LastEvaluatedKey: next && JSON.stringify(next),
      ConsumedCapacity: JSON.stringify(consumed(request, { name: table.definition.name, units })),
    });
  }

  #batchGet(request: Fields): string {
    const batches = this.#batches(request, 'BatchGetItem').map(({ name, asked }) => {
      if (!isObject(asked)) throw malformed('RequestItems has what is no object');
      requireKnown('BatchGetItem', asked, batchGetFields);
      const keys = readObjects(asked.Keys, 'Keys');
      const table = this.#table(name);
      const wanted = keys.map((key) => ({ table, key: requestedKey(table.definition, toItem(key).item) }));
      requireApart(wanted, duplicates);
      return { name, asked, keys, table };
    });
    const count = batches.reduce((sum, { keys }) => sum + keys.length, 0);
    if (count > maxBatchGet) throw invalid('Too many items requested for the BatchGetItem call');
    const empty = batches.find(({ keys }) => keys.length === 0);
    if (empty)
      throw invalid(
        `The list of keys in RequestItems for BatchGetItem is required: ${empty.name} has empty list`,
      );
    let room = maxBatchBytes;
    const found = batches.map(({ name, asked, keys, table }) => {
      const read = readKeys(table, keys, asked, room);
      room = read.left.length > 0 ? 0 : room - read.bytes;
      return { name, asked, ...read };
    });
    const left = found.filter((one) => one.left.length > 0);
    const taken = found.map(({ name, units }) => ({ name, units: ofTable(units) }));
    return joined({
      Responses: joined(Object.fromEntries(found.map(({ name, items }) => [name, `[${items.join(',')}]`]))),
      UnprocessedKeys: JSON.stringify(
        Object.fromEntries(left.map(({ name, asked, left: Keys }) => [name, { ...asked, Keys }])),
      ),
      ConsumedCapacity: JSON.stringify(consumed(request, taken)),
    });
  }

  /** What a batch asks of each table. */
  #batches(
    { RequestItems }: Fields,
    operation: string,
  ): { readonly name: string; readonly asked: unknown }[] {
    if (!isObject(RequestItems) || Object.keys(RequestItems).length === 0)
      throw invalid(`${operation} cannot have a null or no requests set`);
    return Object.entries(RequestItems).map(([name, asked]) => ({ name, asked }));
  }

  #batchWrite(request: Fields): string {
    const asked = this.#batches(request, 'BatchWriteItem').map(({ name, asked }) => ({
      name,
      writes: readObjects(asked, 'RequestItems'),
    }));
    if (asked.reduce((sum, { writes }) => sum + writes.length, 0) > maxBatchWrite)
      throw invalid('Too many items requested for the BatchWriteItem call');
    const empty = asked.find(({ writes }) => writes.length === 0);
    if (empty)
      throw invalid(`The batch write request list for a table cannot be null or empty: ${empty.name}`);
    const batches = asked.map(({ name, writes }) => {
      const table = this.#table(name);
      return { name, writes: writes.map((write) => this.#batchedWrite(table, write)) };
    });
    for (const { writes } of batches) requireApart(writes, duplicates);
    // All are checked before one is done: a batch with a wrong item writes nothing.
    const prepared = batches.map(({ name, writes }) => ({ name, writes: writes.map(prepare) }));
    const done = prepared.map(({ name, writes }) => ({
      name,
      units: sumOfUnits(writes.map((write) => perform(this.#database, write))),
    }));
    return JSON.stringify({ UnprocessedItems: {}, ConsumedCapacity: consumed(request, done) });
  }

  #batchedWrite(table: StoredTable, { PutRequest, DeleteRequest, ...others }: Fields): Write {
    if (Object.keys(others).length > 0 || (PutRequest === undefined) === (DeleteRequest === undefined))
      throw invalid('Supplied WriteRequest has to have one of PutRequest and DeleteRequest');
    if (isObject(PutRequest)) return this.#put(table, { Item: PutRequest.Item });
    if (isObject(DeleteRequest)) return this.#delete(table, { Key: DeleteRequest.Key });
    throw malformed('a request of a batch is no object');
  }

  #insertion({ Statement, Parameters, ...others }: Fields): Write {
    const [other] = Object.keys(others);
    if (other !== undefined) throw unsupported(`${other} in BatchExecuteStatement`);
    const { name, names } = readInsertion(Statement);
    const parameters: readonly unknown[] = Array.isArray(Parameters) ? Parameters : [];
    if (parameters.length !== names.length)
      throw invalid('Number of parameters in request and statement don’t match.');
    const item = toItem(Object.fromEntries(names.map((attribute, i) => [attribute, parameters[i]])));
    const table = this.#table(name);
    const { partition, sort } = table.definition;
    for (const key of sort ? [partition.name, sort.name] : [partition.name])
      if (!Object.hasOwn(item.item, key))
        throw invalid(`Key attribute should be present in the item: Key ${key}`);
    return {
      table,
      key: getKey(table.definition, item.item),
      condition: { kind: 'absent', name: partition.name },
      change: () => item,
    };
  }

  #batchExecute(request: Fields): string {
    const statements = readObjects(request.Statements, 'Statements');
    if (statements.length === 0 || statements.some(({ Statement: text }) => text === ''))
      throw invalid('The statement was empty.');
    if (statements.length > maxBatchWrite)
      throw invalid(`BatchWriteItem cannot write more than ${maxBatchWrite} items`);
    if (statements.some(({ Statement: text }) => typeof text === 'string' && text.length > maxStatement))
      throw invalid(`Member must have length less than or equal to ${maxStatement}`);
    const inserts = statements.map((statement) => attempt(() => this.#insertion(statement)));
    const unknown = inserts.find(
      (insert) => insert instanceof StoreError && insert.message.startsWith('the embedded'),
    );
    if (unknown) throw unknown;
    requireApart(
      inserts.filter((insert): insert is Write => !(insert instanceof StoreError)),
      duplicates,
    );
    const done = inserts.map((insert) => this.#insert(insert));
    const taken = done.flatMap(({ name, units }) => (name !== undefined && units ? [{ name, units }] : []));
    return JSON.stringify({
      Responses: done.map(({ name, error }) => ({ Error: error, TableName: name })),
      ConsumedCapacity: consumed(request, taken),
    });
  }

  #insert(insert: Write | StoreError): {
    readonly name?: string;
    readonly units?: Units;
    readonly error?: { readonly Code: string; readonly Message: string };
  } {
    if (insert instanceof StoreError) return { error: { Code: getCode(insert), Message: insert.message } };
    const { name } = insert.table.definition;
    const prepared = attempt(() => prepare(insert));
    if (!(prepared instanceof StoreError)) return { name, units: perform(this.#database, prepared) };
    if (prepared.code !== conditionCode)
      return { name, error: { Code: getCode(prepared), Message: prepared.message } };
    // As a failed condition does, it takes the table's own units of the item.
    const { condition: _, change: __, ...check } = insert;
    const units = perform(this.#database, prepare(check));
    return {
      name,
      units,
      error: { Code: 'DuplicateItem', Message: 'Duplicate primary key exists in table' },
    };
  }

  #transactionWrite(action: Fields): Write {
    const [[kind, request] = [], ...others] = Object.entries(action);
    if (kind === undefined || others.length > 0 || !isObject(request))
      throw invalid('TransactItems can only contain one of Check, Put, Update or Delete');
    const known = transactionFields[kind];
    if (!known) throw unsupported(`${kind} in TransactWriteItems`);
    requireKnown(`${kind} of TransactWriteItems`, request, known);
    const table = this.#table(request.TableName);
    if (kind === 'Put') return this.#put(table, request);
    if (kind === 'Delete') return this.#delete(table, request);
    if (kind === 'Update') return this.#update(table, request);
    const { change: _, ...check } = this.#delete(table, request);
    if (!check.condition) throw invalid('The expression can not be empty;');
    return check;
  }

  /** Whether a transaction with the token of a request was done. */
  #isDone({ ClientRequestToken: token, TransactItems }: Fields): boolean {
    if (token === undefined) return false;
    if (typeof token !== 'string' || token.length < 1) throw invalid('ClientRequestToken has to be a text');
    if (token.length > 36)
      throw invalid(
        `Value ${token} at 'clientRequestToken' failed to satisfy constraint: ` +
          'Member must have length less than or equal to 36',
      );
    const known = this.#tokens.get(token);
    const hash = hashJson(TransactItems);
    if (known && Date.now() - known.at <= tokenMs) {
      if (known.hash === hash) return true;
      throw new StoreError('IdempotentParameterMismatchException', '');
    }
    return false;
  }

  #transactWrite(request: Fields): string {
    const actions = readObjects(request.TransactItems, 'TransactItems');
    if (actions.length > maxTransaction) throw invalid('Member must have length less than or equal to 100');
    if (actions.length === 0) throw invalid('Member must have length greater than or equal to 1');
    const writes = actions.map((action) => this.#transactionWrite(action));
    requireApart(writes, 'Transaction request cannot include multiple operations on one item');
    const wasDone = this.#isDone(request);
    const prepared = writes.map((write) =>
      attempt(() => prepare(wasDone ? { table: write.table, key: write.key } : write)),
    );
    const done = prepared.filter((one): one is Prepared => !(one instanceof StoreError));
    const broken = prepared.find((one) => one instanceof StoreError && one.code !== conditionCode);
    if (broken) throw broken;
    if (done.length < prepared.length) throw cancelled(prepared);
    if (done.reduce((sum, { after }) => sum + (after?.size ?? 0), 0) > maxTransactionBytes)
      throw invalid('Item size in the transaction has exceeded the maximum allowed size');
    const byTable = Map.groupBy(done, ({ write }) => write.table.definition.name);
    const units = [...byTable].map(([name, parts]) => ({
      name,
      units: wasDone
        ? ofTable(parts.reduce((sum, { after }) => sum + 2 * readUnits(after?.size ?? 0, true), 0))
        : sumOfUnits(
            parts.map((one) => perform(this.#database, one)),
            2,
          ),
    }));
    if (typeof request.ClientRequestToken === 'string' && !wasDone)
      this.#tokens.set(request.ClientRequestToken, { hash: hashJson(request.TransactItems), at: Date.now() });
    return JSON.stringify({ ConsumedCapacity: consumed(request, units) });
  }

  #createTable(request: Fields): string {
    const definition = readTable(request, Date.now());
    if (this.#database.table(definition.name))
      throw new StoreError('ResourceInUseException', 'Cannot create preexisting table');
    return JSON.stringify({ TableDescription: describe(this.#database.createTable(definition).definition) });
  }

  #describeTable(request: Fields): string {
    return JSON.stringify({ Table: describe(this.#table(request.TableName).definition) });
  }

  /** Only to give a table a stream. */
  #updateTable(request: Fields): string {
    const table = this.#table(request.TableName);
    const stream = readStream(request.StreamSpecification, Date.now());
    if (!stream) throw unsupported('UpdateTable but to switch on a stream');
    if (table.definition.stream) throw invalid('Table already has an enabled stream');
    const definition = { ...table.definition, stream };
    this.#database.changeTable(table, definition);
    return JSON.stringify({ TableDescription: describe(definition) });
  }

  #updateTimeToLive(request: Fields): string {
    const table = this.#table(request.TableName);
    const { TimeToLiveSpecification: specification } = request;
    if (!isObject(specification) || typeof specification.AttributeName !== 'string')
      throw invalid('TimeToLiveSpecification has to name an attribute');
    requireKeyName(specification.AttributeName);
    if (specification.Enabled !== true) throw unsupported('switching off time to live');
    if (table.definition.expiry !== undefined) throw invalid('TimeToLive is already enabled');
    this.#database.changeTable(table, { ...table.definition, expiry: specification.AttributeName });
    return JSON.stringify({ TimeToLiveSpecification: specification });
  }

  #describeTimeToLive(request: Fields): string {
    const { expiry } = this.#table(request.TableName).definition;
    const TimeToLiveDescription =
      expiry === undefined
        ? { TimeToLiveStatus: 'DISABLED' }
        : { TimeToLiveStatus: 'ENABLED', AttributeName: expiry };
    return JSON.stringify({ TimeToLiveDescription });
  }

  readonly #operations: Readonly<
    Record<string, { readonly fields: ReadonlySet<string>; readonly run: (request: Fields) => string }>
  > = {
    PutItem: {
      fields: fields('TableName', 'Item', 'ReturnConsumedCapacity', ...conditionFields),
      run: (request) => this.#one(this.#put(this.#table(request.TableName), request), request),
    },
    DeleteItem: {
      fields: fields('TableName', 'Key', 'ReturnConsumedCapacity', ...conditionFields),
      run: (request) => this.#one(this.#delete(this.#table(request.TableName), request), request),
    },
    UpdateItem: {
      fields: fields(
        'TableName',
        'Key',
        'UpdateExpression',
        'ReturnValues',
        'ReturnConsumedCapacity',
        ...conditionFields,
      ),
      run: (request) => this.#updateItem(request),
    },
    GetItem: {
      fields: fields(
        'TableName',
        'Key',
        'ConsistentRead',
        'ProjectionExpression',
        'ReturnConsumedCapacity',
        'ExpressionAttributeNames',
      ),
      run: (request) => this.#getItem(request),
    },
    Query: {
      fields: fields(...pageFields, 'IndexName', 'KeyConditionExpression', 'ScanIndexForward'),
      run: (request) => this.#page(request, query),
    },
    Scan: {
      fields: fields(...pageFields, 'Segment', 'TotalSegments'),
      run: (request) => this.#page(request, scan),
    },
    BatchGetItem: {
      fields: fields('RequestItems', 'ReturnConsumedCapacity'),
      run: (request) => this.#batchGet(request),
    },
    BatchWriteItem: {
      fields: fields('RequestItems', 'ReturnConsumedCapacity'),
      run: (request) => this.#batchWrite(request),
    },
    BatchExecuteStatement: {
      fields: fields('Statements', 'ReturnConsumedCapacity'),
      run: (request) => this.#batchExecute(request),
    },
    TransactWriteItems: {
      fields: fields('TransactItems', 'ClientRequestToken', 'ReturnConsumedCapacity'),
      run: (request) => this.#transactWrite(request),
    },
    CreateTable: {
      fields: fields(
        'TableName',
        'BillingMode',
        'KeySchema',
        'AttributeDefinitions',
        'GlobalSecondaryIndexes',
        'StreamSpecification',
      ),
      run: (request) => this.#createTable(request),
    },
    DescribeTable: { fields: fields('TableName'), run: (request) => this.#describeTable(request) },
    UpdateTable: {
      fields: fields('TableName', 'StreamSpecification'),
      run: (request) => this.#updateTable(request),
    },
    UpdateTimeToLive: {
      fields: fields('TableName', 'TimeToLiveSpecification'),
      run: (request) => this.#updateTimeToLive(request),
    },
    DescribeTimeToLive: {
      fields: fields('TableName'),
      run: (request) => this.#describeTimeToLive(request),
    },
    DescribeStream: {
      fields: fields('StreamArn'),
      run: (request) => describeStream(this.#database, request),
    },
    GetShardIterator: {
      fields: fields('StreamArn', 'ShardId', 'ShardIteratorType', 'SequenceNumber'),
      run: (request) => getShardIterator(this.#database, request),
    },
    GetRecords: {
      fields: fields('ShardIterator', 'Limit'),
      run: (request) => getRecords(this.#database, request),
    },
  };
}

const batchGetFields = fields('Keys', 'ConsistentRead', 'ProjectionExpression', 'ExpressionAttributeNames');

const transactionFields: Readonly<Record<string, ReadonlySet<string>>> = {
  Put: fields('TableName', 'Item', ...conditionFields),
  Delete: fields('TableName', 'Key', ...conditionFields),
  Update: fields('TableName', 'Key', 'UpdateExpression', ...conditionFields),
  ConditionCheck: fields('TableName', 'Key', ...conditionFields),
};

const parse = (body: string): Fields => {
  let request: unknown;
  try {
    request = JSON.parse(body);
  } catch {
    throw malformed('the body of the request is no JSON');
  }
  if (isObject(request)) return request;
  throw malformed('the body of the request is no object');
};

/** The result of a step, or why DynamoDB would refuse it. */
const attempt = <T>(step: () => T): T | StoreError => {
  try {
    return step();
  } catch (error) {
    if (error instanceof StoreError) return error;
    throw error;
  }
};

const hashJson = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64');

/** The error of a transaction that was not done, with a reason for each of its parts. */
const cancelled = (prepared: readonly (Prepared | StoreError)[]): StoreError => {
  const reasons = prepared.map((one) =>
    one instanceof StoreError
      ? { Code: getCode(one), Message: one.message, ...one.details }
      : { Code: 'None' },
  );
  const codes = reasons.map(({ Code }) => Code).join(', ');
  return new StoreError(
    'TransactionCanceledException',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    { details: { CancellationReasons: reasons } },
  );
};
