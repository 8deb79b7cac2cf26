import { type Bound, type Range, type Row, type Start, type StoredTable, toSegment } from './database.ts';
import { invalid, malformed, type StoreError, unsupported } from './errors.ts';
import {
  type Comparison,
  type Condition,
  holds,
  namesIn,
  Placeholders,
  readCondition,
  readKeyCondition,
  readProjection,
} from './expressions.ts';
import {
  emptyKey,
  getIndexKey,
  getKey,
  type Index,
  type Key,
  type KeyAttribute,
  keyAttributes,
  maxSortBytes,
  requestedKey,
} from './tables.ts';
import { attribute, type Fields, type Item, keyBytes, toItem, type Value } from './values.ts';

/** A page ends with the item that brings it to a megabyte. */
const maxPageBytes = 1024 * 1024;
/** DynamoDB's limit of the items of one BatchGetItem, in bytes. */
export const maxBatchBytes = 16 * 1024 * 1024;

/**
 * The read units of so many bytes, by the Developer Guide's "Capacity unit consumption for read
 * operations". What finds nothing takes as much as the smallest item.
 */
export const readUnits = (bytes: number, consistent: boolean): number =>
  Math.max(1, Math.ceil(bytes / 4096)) * (consistent ? 1 : 0.5);

/**
 * Cuts attributes that are bytes out of an item's JSON, which parsing and writing it again takes several
 * times as long. What looks like an attribute's name and type is one: in a text, quotes are escaped.
 *
 * @param starts of the attributes, as {@link projector} has them
 * @returns undefined if one of them is no bytes, or the item holds maps, whose fields look like attributes
 */
const cutBytes = (text: string, starts: readonly ProjectedName[]): string | undefined => {
  if (text.includes('"M":{')) return undefined;
  let kept = '';
  for (const { any, bytes } of starts) {
    const from = text.indexOf(any);
    if (from < 0) continue;
    if (!text.startsWith(bytes, from)) return undefined;
    const attribute = text.slice(from, text.indexOf('"}', from + bytes.length) + 2);
    kept += kept === '' ? attribute : `,${attribute}`;
  }
  return `{${kept}}`;
};

/** How an attribute begins in an item's JSON: of any type, and of bytes. */
interface ProjectedName {
  readonly any: string;
  readonly bytes: string;
}

/** Makes what gives the JSON of an item with the attributes of a projection. */
export const projector = (names: readonly string[] | undefined): ((text: string) => string) => {
  if (!names) return (text) => text;
  const starts = [...new Set(names)].map((name): ProjectedName => {
    const any = `${JSON.stringify(name)}:{`;
    return { any, bytes: `${any}"B":"` };
  });
  return (text) => {
    const cut = cutBytes(text, starts);
    if (cut !== undefined) return cut;
    const item: Item = JSON.parse(text);
    const kept: Record<string, Value> = {};
    for (const name of names) {
      const value = attribute(item, name);
      if (value) kept[name] = value;
    }
    return JSON.stringify(kept);
  };
};

/** A page of a query or a scan. */
export interface PageOfRows {
  /** The JSON of the items that the filter lets through. */
  readonly items: readonly string[];
  /** The number of items that were read. */
  readonly scanned: number;
  /** Their size in bytes. */
  readonly bytes: number;
  /** The last item that was read, if there may be more. */
  readonly last?: Item;
}

interface PageRequest {
  readonly limit: number;
  readonly filter: Condition | undefined;
  readonly projection: readonly string[] | undefined;
}

const takePage = (rows: Generator<Row>, { limit, filter, projection }: PageRequest): PageOfRows => {
  const items: string[] = [];
  let scanned = 0;
  let bytes = 0;
  let last: Row | undefined;
  let more = false;
  const project = projector(projection);
  for (const row of rows) {
    if (bytes >= maxPageBytes) {
      more = true;
      break;
    }
    scanned++;
    bytes += row.size;
    last = row;
    if (!filter || holds(filter, JSON.parse(row.text))) items.push(project(row.text));
    if (scanned === limit) {
      more = true;
      break;
    }
  }
  return { items, scanned, bytes, ...(more && last && { last: JSON.parse(last.text) }) };
};

const readLimit = (limit: unknown): number => {
  if (limit === undefined || limit === null) return Number.POSITIVE_INFINITY;
  if (typeof limit !== 'number' || !Number.isInteger(limit)) throw malformed('Limit is no whole number');
  if (limit < 1) throw invalid('Limit must be greater than or equal to 1');
  return limit;
};

/** A flag of a request. */
export const readFlag = (request: Fields, name: string, absent = false): boolean => {
  const value = request[name] ?? absent;
  if (typeof value === 'boolean') return value;
  throw malformed(`${name} is no boolean`);
};

const pageRequest = (request: Fields, placeholders: Placeholders): PageRequest => ({
  limit: readLimit(request.Limit),
  filter:
    request.FilterExpression === undefined
      ? undefined
      : readCondition('FilterExpression', request.FilterExpression, placeholders),
  projection:
    request.ProjectionExpression === undefined
      ? undefined
      : readProjection(request.ProjectionExpression, placeholders),
});

/** The placeholders of a request. */
export const readPlaceholders = (request: Fields): Placeholders =>
  new Placeholders(request.ExpressionAttributeNames, request.ExpressionAttributeValues);

const keyValue = (key: KeyAttribute, value: Value): Buffer => {
  const bytes = keyBytes(value, key.type);
  if (!bytes)
    throw invalid(
      'One or more parameter values were invalid: Condition parameter type does not match schema type',
    );
  if (bytes.length === 0) throw emptyKey(key);
  return bytes;
};

const sortValue = (key: KeyAttribute, value: Value): Buffer => {
  const bytes = keyValue(key, value);
  if (bytes.length <= maxSortBytes) return bytes;
  throw invalid(
    'One or more parameter values were invalid: ' +
      `Aggregated size of all range keys has exceeded the size limit of ${maxSortBytes} bytes`,
  );
};

/** The first bytes that no text or bytes with this beginning reach; undefined if there are none. */
const after = (prefix: Buffer): Buffer | undefined => {
  const end = prefix.findLastIndex((byte) => byte < 0xff);
  if (end < 0) return undefined;
  const next = Buffer.from(prefix.subarray(0, end + 1));
  next[end] = (next[end] ?? 0) + 1;
  return next;
};

/** The bounds that a comparison puts on a sort key. */
const toBounds = (key: KeyAttribute, comparison: Comparison): { from?: Bound; to?: Bound } => {
  const bytes = sortValue(key, comparison.value);
  const at = { bytes, inclusive: true };
  const beyond = { bytes, inclusive: false };
  switch (comparison.kind) {
    case '=':
      return { from: at, to: at };
    case '<':
      return { to: beyond };
    case '<=':
      return { to: at };
    case '>':
      return { from: beyond };
    case '>=':
      return { from: at };
    case 'between':
      return { from: at, to: { bytes: sortValue(key, comparison.to), inclusive: true } };
    case 'begins': {
      const end = after(bytes);
      return { from: at, ...(end && { to: { bytes: end, inclusive: false } }) };
    }
    case '<>':
      throw invalid('Unsupported operator on KeyCondition: NE');
  }
};

/** The range of a table or an index that a query's condition describes. */
const toRange = (
  { partition, sort }: { readonly partition: KeyAttribute; readonly sort?: KeyAttribute },
  comparisons: readonly Comparison[],
): Omit<Range, 'descending'> => {
  const names = comparisons.map(({ name }) => name);
  if (new Set(names).size < names.length)
    throw invalid('KeyConditionExpressions must only contain one condition per key');
  const ofPartition = comparisons.find(({ name }) => name === partition.name);
  const ofSort = comparisons.find(({ name }) => name === sort?.name);
  if (!ofPartition || comparisons.length > (ofSort ? 2 : 1))
    throw invalid('Query condition missed key schema element');
  if (ofPartition.kind !== '=') throw invalid('Query key condition not supported');
  return {
    partition: keyValue(partition, ofPartition.value),
    ...(sort && ofSort && toBounds(sort, ofSort)),
  };
};

/** Whether a sort key lies within a range's bounds. */
const isWithin = (sort: Buffer, { from, to }: Pick<Range, 'from' | 'to'>): boolean => {
  const above = from ? Buffer.compare(sort, from.bytes) : 1;
  const below = to ? Buffer.compare(to.bytes, sort) : 1;
  return (above > 0 || (above === 0 && !!from?.inclusive)) && (below > 0 || (below === 0 && !!to?.inclusive));
};

const startOfOtherSize = (): StoreError =>
  invalid("Exclusive Start Key must have same size as table's key schema");

/** Where a query goes on. */
const findStart = (
  { definition }: StoredTable,
  index: Index | undefined,
  range: Omit<Range, 'descending'>,
  fields: unknown,
): Start | undefined => {
  if (fields === undefined || fields === null) return undefined;
  const { item } = toItem(fields);
  const names = new Set(
    [definition, ...(index ? [index] : [])].flatMap(({ partition, sort }) => [partition.name, sort?.name]),
  );
  names.delete(undefined);
  if (Object.keys(item).length !== names.size || !Object.keys(item).every((name) => names.has(name)))
    throw index ? invalid('The provided starting key is invalid') : startOfOtherSize();
  const own = getKey(definition, item);
  const key = index ? getIndexKey(index, item) : own;
  if (!key?.partition.equals(range.partition) || !isWithin(key.sort, range))
    throw invalid('The provided starting key does not match the range key predicate');
  return index ? { key, item: own } : { key };
};

/** @throws StoreError if a filter looks at a key attribute */
const requireNoKeys = (filter: Condition | undefined, keys: readonly (KeyAttribute | undefined)[]): void => {
  const key = filter && namesIn(filter).find((name) => keys.some((one) => one?.name === name));
  if (key !== undefined)
    throw invalid(
      `Filter Expression can only contain non-primary key attributes: Primary key attribute: ${key}`,
    );
};

/** @throws StoreError if an index does not have an attribute that is asked for */
const requireProjected = (
  { definition }: StoredTable,
  index: Index,
  names: readonly string[] | undefined,
): void => {
  if (!index.projects || !names) return;
  const keys = [definition, index].flatMap(({ partition, sort }) => [partition.name, sort?.name]);
  const missing = names.filter((name) => !keys.includes(name) && !index.projects?.includes(name));
  if (missing.length > 0)
    throw invalid(
      `One or more parameter values were invalid: Global secondary index ${index.name} ` +
        `does not project [${missing.join(', ')}]`,
    );
};

/** What was read, and of which index. */
export interface ReadPage extends PageOfRows {
  readonly index?: Index;
  readonly consistent: boolean;
  /** Where the next page goes on; absent if there is none. */
  readonly next?: Item;
}

const findIndex = ({ definition }: StoredTable, name: unknown): number | undefined => {
  if (name === undefined || name === null) return undefined;
  const at = definition.indexes.findIndex((index) => index.name === name);
  if (at < 0) throw invalid(`The table does not have the specified index: ${name}`);
  return at;
};

/** Reads a page of a query. */
export const query = (table: StoredTable, request: Fields): ReadPage => {
  const placeholders = readPlaceholders(request);
  if (request.KeyConditionExpression === undefined)
    throw invalid(
      'Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.',
    );
  const comparisons = readKeyCondition(request.KeyConditionExpression, placeholders);
  const page = pageRequest(request, placeholders);
  placeholders.requireUsed(true);
  const at = findIndex(table, request.IndexName);
  const index = at === undefined ? undefined : table.definition.indexes[at];
  const consistent = readFlag(request, 'ConsistentRead');
  if (index && consistent) throw invalid('Consistent reads are not supported on global secondary indexes');
  if (index)
    requireProjected(table, index, [
      ...(page.projection ?? []),
      ...(page.filter ? namesIn(page.filter) : []),
    ]);
  const schema = index ?? table.definition;
  requireNoKeys(page.filter, [schema.partition, schema.sort]);
  const range = toRange(schema, comparisons);
  const start = findStart(table, index, range, request.ExclusiveStartKey);
  const descending = !readFlag(request, 'ScanIndexForward', true);
  const read = takePage(table.range({ ...range, descending, ...(start && { start }) }, at), page);
  return {
    ...read,
    consistent,
    ...(index && { index }),
    ...(read.last && { next: keyAttributes(read.last, table.definition, ...(index ? [index] : [])) }),
  };
};

/** DynamoDB's limit of the segments of a scan. */
const maxSegments = 1_000_000;

const readSegment = ({ Segment, TotalSegments }: Fields): readonly [number, number] => {
  if (Segment === undefined && TotalSegments === undefined) return [0, 1];
  if (TotalSegments === undefined)
    throw invalid('If segment is specified, total segment must also be specified');
  if (Segment === undefined)
    throw invalid(
      'If total segments is specified, a particular segment must also be specified for this request',
    );
  if (!Number.isInteger(Segment) || !Number.isInteger(TotalSegments))
    throw malformed('Segment and TotalSegments are whole numbers');
  const segment = Number(Segment);
  const segments = Number(TotalSegments);
  const beyond = (value: number, name: string, most: number) =>
    invalid(
      `1 validation error detected: Value '${value}' at '${name}' failed to satisfy constraint: ` +
        `Member must have value less than or equal to ${most}`,
    );
  if (segments > maxSegments) throw beyond(segments, 'totalSegments', maxSegments);
  if (segment < 0 || segment >= segments) throw beyond(segment, 'segment', segments - 1);
  return [segment, segments];
};

/** Where a scan goes on: behind a key of its segment. */
const scanStart = ({ definition }: StoredTable, from: unknown, segment: number, segments: number): Key => {
  const { item } = toItem(from);
  if (Object.keys(item).length !== (definition.sort ? 2 : 1)) throw startOfOtherSize();
  const key = getKey(definition, item);
  if (toSegment(key.partition, segments) !== segment)
    throw invalid('Exclusive start key must lie within the segment');
  return key;
};

/** Reads a page of a scan. */
export const scan = (table: StoredTable, request: Fields): ReadPage => {
  const placeholders = readPlaceholders(request);
  const page = pageRequest(request, placeholders);
  placeholders.requireUsed(page.filter !== undefined || page.projection !== undefined);
  const [segment, segments] = readSegment(request);
  const { ExclusiveStartKey: from } = request;
  const start: Key | undefined =
    from === undefined || from === null ? undefined : scanStart(table, from, segment, segments);
  const read = takePage(table.scan(start, segment, segments), page);
  return {
    ...read,
    consistent: readFlag(request, 'ConsistentRead'),
    ...(read.last && { next: keyAttributes(read.last, table.definition) }),
  };
};

/** What was read by keys. */
export interface Found {
  /** The JSON of the items that are there. */
  readonly items: readonly string[];
  readonly units: number;
  readonly bytes: number;
  /** The keys that are left, because the answer would be too large. */
  readonly left: readonly unknown[];
}

/**
 * Reads items by their keys.
 *
 * @param keys as in the request, each once
 * @param room the bytes that the answer has left
 */
export const readKeys = (
  table: StoredTable,
  keys: readonly unknown[],
  request: Fields,
  room: number,
): Found => {
  const placeholders = readPlaceholders(request);
  const { ProjectionExpression: source } = request;
  const projection = source === undefined ? undefined : readProjection(source, placeholders);
  placeholders.requireUsed(projection !== undefined);
  const consistent = readFlag(request, 'ConsistentRead');
  const wanted = keys.map((key) => ({ asked: key, key: requestedKey(table.definition, toItem(key).item) }));
  const items: string[] = [];
  const project = projector(projection);
  const left: unknown[] = [];
  let units = 0;
  let bytes = 0;
  for (const { asked, key } of wanted) {
    const row = left.length === 0 ? table.get(key) : undefined;
    if (left.length > 0 || (row && bytes + row.size > room)) {
      left.push(asked);
      continue;
    }
    units += readUnits(row?.size ?? 0, consistent);
    if (!row) continue;
    bytes += row.size;
    items.push(project(row.text));
  }
  return { items, units, bytes, left };
};

/** @throws StoreError if a request has a field that the service does not use */
export const requireKnown = (operation: string, request: Fields, known: ReadonlySet<string>): void => {
  const field = Object.keys(request).find((name) => !known.has(name));
  if (field !== undefined) throw unsupported(`${field} in ${operation}`);
};
