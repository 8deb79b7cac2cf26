import { invalid, malformed, type StoreError, unsupported } from './errors.ts';
import {
  attribute,
  type Fields,
  type Item,
  isObject,
  type KeyType,
  keyBytes,
  readObjects,
  type Value,
} from './values.ts';

/** A key attribute. */
export interface KeyAttribute {
  readonly name: string;
  readonly type: KeyType;
}

/** The keys of a table or of an index. */
export interface KeySchema {
  readonly partition: KeyAttribute;
  readonly sort?: KeyAttribute;
}

/** A global secondary index. */
export interface Index extends KeySchema {
  readonly name: string;
  readonly sort: KeyAttribute;
  /** The attributes that its rows have beside its keys and the table's; undefined if they have all. */
  readonly projects?: readonly string[];
}

/** What the records of a stream have of a changed item. */
const streamViews = ['KEYS_ONLY', 'NEW_IMAGE', 'OLD_IMAGE', 'NEW_AND_OLD_IMAGES'] as const;
export type StreamView = (typeof streamViews)[number];

/** The stream of a table. */
export interface Stream {
  readonly view: StreamView;
  /** When it was made, which is a part of its ARN. */
  readonly label: string;
}

/** A table, as the database keeps it. */
export interface TableDefinition extends KeySchema {
  readonly name: string;
  readonly indexes: readonly Index[];
  /** In seconds since 1970. */
  readonly createdAt: number;
  readonly stream?: Stream;
  /** The attribute with the time after which an item expires, in seconds since 1970. */
  readonly expiry?: string;
}

/** The names of a list of a request; none if it is absent. */
const readTexts = (value: unknown, what: string): string[] => {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value;
  throw malformed(`${what} is no list of texts`);
};

const objects = (value: unknown, what: string): readonly Fields[] => readObjects(value ?? [], what);

const nameForm = /^[a-zA-Z0-9_.-]{3,255}$/;

/** @throws StoreError if it is no name of a table or an index */
export const requireName = (name: unknown): string => {
  if (typeof name !== 'string') throw invalid('TableName must be specified');
  if (nameForm.test(name)) return name;
  throw invalid(
    'Invalid table/index name.  Table/index names must be between 3 and 255 characters long, ' +
      "and may contain only the characters a-z, A-Z, 0-9, '_', '-', and '.'",
  );
};

const readKeyType = (name: string, type: unknown): KeyType => {
  if (type === 'S' || type === 'B') return type;
  throw unsupported(`the key ${name} of the type ${type}`);
};

/** DynamoDB's limit of the names of key attributes, and of those that an index has beside its keys. */
const maxKeyNameLength = 255;

/** @throws StoreError if no key attribute can have this name */
export const requireKeyName = (name: string): void => {
  if (name.length >= 1 && name.length <= maxKeyNameLength) return;
  throw invalid(
    'Names of key attributes and attributes projected into an index must be between 1 and 255 characters, inclusive',
  );
};

/** @throws StoreError with a message if a name is there twice */
const requireOnce = (names: readonly string[], message: string): void => {
  if (new Set(names).size < names.length) throw invalid(message);
};

const sameNames = 'Cannot have two attributes with the same name';

const readTypes = (definitions: unknown): ReadonlyMap<string, KeyType> => {
  const given = objects(definitions, 'AttributeDefinitions').map(({ AttributeName, AttributeType }) => {
    const name = String(AttributeName);
    requireKeyName(name);
    return [name, readKeyType(name, AttributeType)] as const;
  });
  if (given.length === 0) throw invalid('No Attribute Schema Defined');
  requireOnce(
    given.map(([name]) => name),
    sameNames,
  );
  return new Map(given);
};

/**
 * Reads the keys of a table or an index.
 *
 * @param undefinedKey the message for a key whose type is not defined
 */
const readKeys = (
  schema: unknown,
  types: ReadonlyMap<string, KeyType>,
  undefinedKey: (name: string, role: string) => string,
): KeySchema => {
  const keys = objects(schema, 'KeySchema').map(({ AttributeName, KeyType }) => ({
    name: String(AttributeName),
    role: KeyType,
  }));
  if (keys.length === 0)
    throw invalid(
      'No defined key schema.  A key schema containing at least a hash key must be defined for all tables',
    );
  if (keys.length > 2)
    throw invalid(
      'Key Schema too big.  Key Schema must at most consist of the hash and range key of a table',
    );
  for (const { name } of keys) requireKeyName(name);
  requireOnce(
    keys.map(({ name }) => name),
    'Two keys can not have the same name',
  );
  const [first, second] = keys;
  if (!keys.some(({ role }) => role === 'HASH'))
    throw invalid('No Hash Key specified in schema.  All Dynamo DB tables must have exactly one hash key');
  if (second?.role === 'HASH' && first?.role === 'HASH')
    throw invalid('Too many hash keys specified.  All Dynamo DB tables must have exactly one hash key');
  if (first?.role !== 'HASH' || (second && second.role !== 'RANGE'))
    throw invalid(
      'Invalid key order. Hash Key must be specified first in key schema, Range Key must be specifed second',
    );
  const getAttribute = (name: string, role: string): KeyAttribute => {
    const type = types.get(name);
    if (type === undefined) throw invalid(undefinedKey(name, role));
    return { name, type };
  };
  return {
    partition: getAttribute(first.name, 'Hash'),
    ...(second && { sort: getAttribute(second.name, 'Range') }),
  };
};

/** What an index has beside keys; undefined if it has all. */
const readProjected = (projection: unknown): readonly string[] | undefined => {
  if (!isObject(projection)) throw invalid('Indexes must have a projection specified');
  const { ProjectionType: type, NonKeyAttributes } = projection;
  if (type !== 'ALL' && type !== 'INCLUDE' && type !== 'KEYS_ONLY')
    throw invalid(`Unknown ProjectionType: ${type}`);
  const names = readTexts(NonKeyAttributes, 'NonKeyAttributes');
  if (type !== 'INCLUDE' && names.length > 0)
    throw invalid('No attributes should be specified to be projected unless projection type is INCLUDE');
  if (type === 'INCLUDE' && names.length === 0)
    throw invalid(
      'If Projection type INCLUDE is specified, some non-key attributes to include in the projection must be specified as well',
    );
  for (const name of names) requireKeyName(name);
  requireOnce(names, sameNames);
  return type === 'ALL' ? undefined : names;
};

const readIndex = (index: Fields, types: ReadonlyMap<string, KeyType>): Index => {
  const name = requireName(index.IndexName);
  const { partition, sort } = readKeys(
    index.KeySchema,
    types,
    (key) => `Attribute ${key} is not defined in AttributeDefinitions`,
  );
  if (!sort) throw unsupported(`the index ${name} without a sort key`);
  const projects = readProjected(index.Projection);
  return { name, partition, sort, ...(projects && { projects }) };
};

/**
 * DynamoDB's limits of the indexes of a table, and of what they have beside keys, together:
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-secondary-indexes
 */
const maxIndexes = 20;
const maxProjected = 100;

const readIndexes = (given: unknown, types: ReadonlyMap<string, KeyType>): Index[] => {
  if (given === undefined || given === null) return [];
  const indexes = objects(given, 'GlobalSecondaryIndexes').map((index) => readIndex(index, types));
  if (indexes.length === 0) throw invalid('GSI list is empty/invalid');
  if (indexes.length > maxIndexes) throw invalid('GlobalSecondaryIndex count exceeds the per-table limit');
  requireOnce(
    indexes.map(({ name }) => name),
    'Two global secondary indices have the same name',
  );
  const projected = indexes.reduce((sum, { projects = [] }) => sum + projects.length, 0);
  if (projected > maxProjected)
    throw invalid(`No more than ${maxProjected} attributes can be projected into the indexes of a table`);
  return indexes;
};

/** Reads `StreamSpecification`; undefined if it is absent or says that there is none. */
export const readStream = (specification: unknown, now: number): Stream | undefined => {
  if (!isObject(specification) || specification.StreamEnabled !== true) return undefined;
  if (!specification.StreamViewType)
    throw invalid('Invalid StreamViewType: Stream ViewType must not be null or empty when enabling streams.');
  const view = streamViews.find((one) => one === specification.StreamViewType);
  if (view === undefined) throw invalid(`Unknown StreamViewType: ${specification.StreamViewType}`);
  return { view, label: new Date(now).toISOString().replace('Z', '') };
};

/**
 * Reads the request for a new table.
 *
 * @param now in ms since 1970
 */
export const readTable = (request: Fields, now: number): TableDefinition => {
  const types = readTypes(request.AttributeDefinitions);
  const stream = readStream(request.StreamSpecification, now);
  if (request.BillingMode !== 'PAY_PER_REQUEST') throw unsupported('provisioned throughput (BillingMode)');
  const keys = readKeys(
    request.KeySchema,
    types,
    (_, role) => `${role} Key not specified in Attribute Definitions.  Type unknown.`,
  );
  const indexes = readIndexes(request.GlobalSecondaryIndexes, types);
  const used = new Set(
    [keys, ...indexes].flatMap(({ partition, sort }) => [partition.name, ...(sort ? [sort.name] : [])]),
  );
  if (used.size < types.size)
    throw invalid(
      'The number of attributes in key schema must match the number of attributes defined in attribute definitions.',
    );
  return {
    name: requireName(request.TableName),
    ...keys,
    indexes,
    createdAt: now / 1000,
    ...(stream && { stream }),
  };
};

const toArn = ({ name }: Pick<TableDefinition, 'name'>): string =>
  `arn:aws:dynamodb:local:000000000000:table/${name}`;

/** The ARN of a table's stream; undefined if it has none. */
export const toStreamArn = (table: TableDefinition): string | undefined =>
  table.stream && `${toArn(table)}/stream/${table.stream.label}`;

/** The keys as the API lists them. */
export const describeKeys = ({ partition, sort }: KeySchema) => [
  { AttributeName: partition.name, KeyType: 'HASH' },
  ...(sort ? [{ AttributeName: sort.name, KeyType: 'RANGE' }] : []),
];

/** A table as the API describes it. The number of its items and their size are not counted. */
export const describe = (table: TableDefinition) => {
  const keys = [table, ...table.indexes].flatMap(({ partition, sort }) =>
    sort ? [partition, sort] : [partition],
  );
  const types = new Map(keys.map(({ name, type }) => [name, type]));
  return {
    TableName: table.name,
    TableArn: toArn(table),
    TableStatus: 'ACTIVE',
    CreationDateTime: table.createdAt,
    BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' },
    AttributeDefinitions: [...types].map(([AttributeName, AttributeType]) => ({
      AttributeName,
      AttributeType,
    })),
    KeySchema: describeKeys(table),
    ...(table.indexes.length > 0 && {
      GlobalSecondaryIndexes: table.indexes.map((index) => ({
        IndexName: index.name,
        IndexArn: `${toArn(table)}/index/${index.name}`,
        IndexStatus: 'ACTIVE',
        KeySchema: describeKeys(index),
        Projection: index.projects
          ? {
              ProjectionType: index.projects.length > 0 ? 'INCLUDE' : 'KEYS_ONLY',
              ...(index.projects.length > 0 && { NonKeyAttributes: index.projects }),
            }
          : { ProjectionType: 'ALL' },
      })),
    }),
    ...(table.stream && {
      StreamSpecification: { StreamEnabled: true, StreamViewType: table.stream.view },
      LatestStreamLabel: table.stream.label,
      LatestStreamArn: toStreamArn(table),
    }),
  };
};

// Keys of items

/** DynamoDB's limits of key values, in bytes. */
const maxPartitionBytes = 2048;
export const maxSortBytes = 1024;

/** The key of an item or of a row, as bytes. Without a sort key there are none of it. */
export interface Key {
  readonly partition: Buffer;
  readonly sort: Buffer;
}

const none = Buffer.alloc(0);

const emptyKind = { S: 'string', B: 'binary' } as const;

/** The error of an attribute of a key that is empty. */
export const emptyKey = ({ name, type }: KeyAttribute): StoreError =>
  invalid(
    'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty ' +
      `${emptyKind[type]} value. Key: ${name}`,
  );

const keyValue = (key: KeyAttribute, value: Value): Buffer => {
  const bytes = keyBytes(value, key.type);
  if (!bytes) throw invalid('One or more parameter values were invalid: Type mismatch for key');
  if (bytes.length === 0) throw emptyKey(key);
  return bytes;
};

/**
 * The key of an item of a table.
 *
 * @throws StoreError if an attribute of it is missing, of another type, empty or too long
 */
export const getKey = ({ partition, sort }: KeySchema, item: Item): Key => {
  const p = attribute(item, partition.name);
  const s = sort && attribute(item, sort.name);
  if (!p || (sort && !s)) throw invalid('One of the required keys was not given a value');
  const key = { partition: keyValue(partition, p), sort: sort && s ? keyValue(sort, s) : none };
  if (key.partition.length > maxPartitionBytes || key.sort.length > maxSortBytes)
    throw invalid(
      'Hash primary key values must be under 2048 bytes, and range primary key values must be under 1024 bytes',
    );
  return key;
};

/**
 * The key of a request, which has to have the attributes of the table's key alone.
 *
 * @throws StoreError as {@link getKey}
 */
export const requestedKey = (table: KeySchema, item: Item): Key => {
  if (Object.keys(item).length !== (table.sort ? 2 : 1))
    throw invalid('The number of conditions on the keys is invalid');
  return getKey(table, item);
};

const indexKeyValue = (index: Index, { name, type }: KeyAttribute, value: Value, most: number): Buffer => {
  const bytes = keyBytes(value, type);
  if (!bytes) throw invalid('One or more parameter values were invalid: Type mismatch for Index Key');
  if (bytes.length === 0)
    throw invalid(
      'One or more parameter values are not valid. A value specified for a secondary index key is not supported. ' +
        `The AttributeValue for a key attribute cannot contain an empty ${emptyKind[type]} value. ` +
        `IndexName: ${index.name}, IndexKey: ${name}`,
    );
  if (bytes.length > most) throw invalid('One or more parameter values were invalid: Size limit exceeded');
  return bytes;
};

/**
 * The key of an item's row in an index; undefined if the item has no row there.
 *
 * @throws StoreError if an attribute of it is of another type, empty or too long
 */
export const getIndexKey = (index: Index, item: Item): Key | undefined => {
  const p = attribute(item, index.partition.name);
  const s = attribute(item, index.sort.name);
  const partition = p && indexKeyValue(index, index.partition, p, maxPartitionBytes);
  const sort = s && indexKeyValue(index, index.sort, s, maxSortBytes);
  return partition && sort && { partition, sort };
};

/** The attributes of an item's key, as an answer has them. */
export const keyAttributes = (item: Item, ...schemas: readonly KeySchema[]): Item => {
  const key: Record<string, Value> = {};
  for (const { partition, sort } of schemas)
    for (const part of [partition, sort]) {
      const value = part && attribute(item, part.name);
      if (part && value) key[part.name] = value;
    }
  return key;
};
