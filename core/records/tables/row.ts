import type { JsonObject } from '../../foundations/wire/index.ts';
import { valueDigest } from '../../foundations/wire/weave-digest.ts';

/** A row as it came: compact JSON, its size in bytes, and its digest. */
export interface Row {
  readonly text: string;
  readonly bytes: number;
  readonly digest: string;
}

/** Makes a row of a value. */
export const rowOf = (value: JsonObject): Row => {
  const text = JSON.stringify(value);
  return { text, bytes: Buffer.byteLength(text), digest: valueDigest(value) };
};

/** Where a row lies: its pack, and its position there. */
export interface Location {
  /** The pack's id: 32 hex digits. */
  readonly pack: string;
  readonly position: number;
  /** Bytes of the row as compact JSON. */
  readonly bytes: number;
}

/** A row of a table: which, and where. */
export interface PlacedRow extends Location {
  readonly digest: string;
}

/** Rows of a table that follow each other in a pack. */
export interface Run {
  readonly pack: string;
  readonly from: number;
  readonly count: number;
}

/** Gathers rows into runs. */
export const runsOf = (rows: Iterable<Location>): Run[] => {
  const runs: { pack: string; from: number; count: number }[] = [];
  for (const { pack, position } of rows) {
    const last = runs.at(-1);
    if (last?.pack === pack && last.from + last.count === position) last.count++;
    else runs.push({ pack, from: position, count: 1 });
  }
  return runs;
};
