import { parquetReadObjects, type SchemaElement } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import {
  type Bucket,
  mapConcurrent,
  putObject,
  type RequestBudget,
} from '../../../foundations/storage/index.ts';
import type { Micros } from '../../../foundations/wire/index.ts';
import {
  type Cell,
  type Column,
  type ColumnKind,
  type Dataset,
  datasets,
  moneyPrecision,
  moneyScale,
  type Row,
  usageFields,
} from './columns.ts';

/*
 * Rows as Parquet: https://github.com/apache/parquet-format/blob/master/LogicalTypes.md. Times are
 * microseconds in UTC, money is a decimal in 64 bits, maps have the three levels that readers know.
 */

type Element = Omit<SchemaElement, 'name'>;

const optional = { repetition_type: 'OPTIONAL' } as const;
const text: Element = { ...optional, type: 'BYTE_ARRAY', converted_type: 'UTF8' };
const integer: Element = { ...optional, type: 'INT64' };
const number: Element = { ...optional, type: 'DOUBLE' };
const money: Element = {
  ...optional,
  type: 'INT64',
  converted_type: 'DECIMAL',
  scale: moneyScale,
  precision: moneyPrecision,
};

const mapElement = (name: string, value: readonly SchemaElement[]): SchemaElement[] => [
  { name, ...optional, converted_type: 'MAP', num_children: 1 },
  { name: 'key_value', repetition_type: 'REPEATED', num_children: 2 },
  { name: 'key', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
  ...value,
];

const elements: Readonly<Record<ColumnKind, (name: string) => SchemaElement[]>> = {
  text: (name) => [{ name, ...text }],
  timestamp: (name) => [{ name, ...integer, converted_type: 'TIMESTAMP_MICROS' }],
  integer: (name) => [{ name, ...integer }],
  number: (name) => [{ name, ...number }],
  flag: (name) => [{ name, ...optional, type: 'BOOLEAN' }],
  money: (name) => [{ name, ...money }],
  moneyByModel: (name) => mapElement(name, [{ name: 'value', ...money }]),
  usageByModel: (name) =>
    mapElement(name, [
      { name: 'value', ...optional, num_children: usageFields.length },
      ...usageFields.map((field) => ({ name: field, ...integer })),
    ]),
  numberByName: (name) => mapElement(name, [{ name: 'value', ...number }]),
};

const toSchema = (columns: readonly Column[]): SchemaElement[] => [
  { name: 'root', num_children: columns.length },
  ...columns.flatMap(({ name, kind }) => elements[kind](name)),
];

/** 64 bits hold a whole number that is not too big; what is bigger is as big as can be. */
const toInteger = (value: number): bigint =>
  BigInt.asIntN(64, BigInt(Math.round(Math.max(-maxWhole, Math.min(maxWhole, value)))));
const maxWhole = Number.MAX_SAFE_INTEGER;

/** The most money that the decimal's digits hold. Prices may be anything that a double is. */
const maxMoney = 10 ** (moneyPrecision - moneyScale) - 1;
const toMoney = (value: number): bigint => {
  const bounded = Math.max(-maxMoney, Math.min(maxMoney, value));
  const whole = Math.trunc(bounded);
  const rest = Math.round((bounded - whole) * 10 ** moneyScale);
  return BigInt(whole) * BigInt(10 ** moneyScale) + BigInt(rest);
};

const mapValues = <T, R>(map: Readonly<Record<string, T>>, convert: (value: T) => R): Map<string, R> =>
  new Map(Object.entries(map).map(([key, value]) => [key, convert(value)]));

/** A cell as the writer takes it. */
const toCell = (kind: ColumnKind, cell: Cell | undefined): unknown => {
  if (cell === null || cell === undefined) return null;
  if (kind === 'timestamp' || kind === 'integer') return toInteger(Number(cell));
  if (kind === 'money') return toMoney(Number(cell));
  if (kind === 'moneyByModel') return mapValues(cell as Record<string, number>, toMoney);
  if (kind === 'numberByName') return mapValues(cell as Record<string, number>, Number);
  if (kind === 'usageByModel')
    return mapValues(cell as Record<string, Record<string, number>>, (counts) =>
      Object.fromEntries(usageFields.map((field) => [field, toInteger(counts[field] ?? 0)])),
    );
  return cell;
};

/** Writes rows of one dataset as a Parquet file, compressed with Snappy. */
export const toParquet = (dataset: Dataset, rows: readonly Pick<Row, 'cells'>[]): Uint8Array => {
  const columns = datasets[dataset];
  const columnData = columns.map(({ name, kind }) => ({
    name,
    data: rows.map(({ cells }) => toCell(kind, cells[name])),
  }));
  return new Uint8Array(parquetWriteBuffer({ columnData, schema: toSchema(columns) }));
};

/** What a row of a file has: cells by the names of its columns. */
export type ReadCells = Readonly<Record<string, Cell>>;

/** Numbers of 64 bits, at any depth, as doubles: what files have fits one. */
const plain = (value: unknown): Cell => {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'object' || value === null) return (value ?? null) as Cell;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)])) as Cell;
};

/** Reads a file that {@link toParquet} has written. Times are microseconds. */
export const fromParquet = async (bytes: Uint8Array): Promise<ReadCells[]> => {
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
  const rows = await parquetReadObjects({
    file,
    // A Date would lose microseconds.
    parsers: { timestampFromMicroseconds: (micros: bigint) => Number(micros) as unknown as Date },
  });
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)])),
  );
};

/** Whether a row is a later state than another of the same id, by the order of the view. */
const isLater = (one: ReadCells, other: ReadCells): boolean => {
  const a = String(one.version);
  const b = String(other.version);
  return a === b ? Number(one.written_at) >= Number(other.written_at) : a > b;
};

/**
 * What is left of the rows of a dataset, a project and a day: the last state of each id. Of what
 * was deleted the row that says so stays for a while, in case an older row is still under way.
 *
 * @param forgetBefore rows of deletions that were written before go as well
 */
export const compacted = (rows: readonly ReadCells[], forgetBefore: Micros): ReadCells[] => {
  const last = new Map<string, ReadCells>();
  for (const row of rows) {
    const id = String(row.id);
    const known = last.get(id);
    if (!known || isLater(row, known)) last.set(id, row);
  }
  return [...last.values()].filter((row) => row.deleted !== true || Number(row.written_at) >= forgetBefore);
};

/** Files that are stored at once. */
const concurrency = 16;

const contentType = 'application/vnd.apache.parquet';

/**
 * Stores rows as files: one for each dataset, project and day, in the folder that the tables expect.
 *
 * @param name without an ending. The same batch has the same, so that it replaces what it wrote
 */
export const storeRows = async (
  bucket: Bucket,
  rows: readonly Row[],
  name: string,
  budget: RequestBudget,
): Promise<void> => {
  const files = Map.groupBy(
    rows,
    ({ dataset, day, cells }) => `${dataset}/project=${cells.project_id}/day=${day}/${name}.parquet`,
  );
  await mapConcurrent([...files], concurrency, async ([key, some]) => {
    const [first] = some;
    if (first) await putObject(bucket, key, toParquet(first.dataset, some), budget, contentType);
  });
};
