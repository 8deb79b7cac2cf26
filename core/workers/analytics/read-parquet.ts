import { parquetReadObjects } from 'hyparquet';
import type { Cell } from './rows.ts';

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
