import {
  asBytes,
  type Item,
  putItems,
  type RequestBudget,
  readRange,
  type Table,
} from '../../foundations/storage/index.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import { dayOf, expiryOf, type Hour, hoursOfDay, rollupKey, rollupRange } from '../../records/rollups.ts';
import { packRollups, type Rollup, unpackRollups } from './codec.ts';

/** Rollups of hours lie together in pages, one a day; those of days lie by themselves. */
export type StoredKind = 'pages' | 'days';

/** The largest item that is stored, in bytes. What is larger is not stored, and scanned instead. */
const maxItemBytes = 300_000;
/** Rollups are forgotten some days after they cease to count, and long before their marks. */
const graceDays = 1;

/**
 * Reads the rollups that are stored of days, from one to another, inclusive. They may be some
 * milliseconds old: whether one counts, its mark says.
 *
 * @throws ServiceError 503 when storage does not give them in time; Error if one is damaged
 */
export const readRollups = async (
  table: Table,
  kind: StoredKind,
  projectId: ProjectId,
  [from, to]: readonly [number, number],
  budget: RequestBudget,
): Promise<ReadonlyMap<Hour, Rollup>> => {
  if (from > to) return new Map();
  const toRow = ({ h }: Item) => asBytes(h) ?? new Uint8Array();
  const found: Uint8Array[] = [];
  for await (const page of readRange(table, rollupRange(kind, projectId, from, to), { toRow }, budget))
    found.push(...page);
  const rollups = await Promise.all(found.map(unpackRollups));
  return new Map(rollups.flat().map((rollup) => [rollup.number, rollup]));
};

/**
 * Stores rollups, which replace those of the same days.
 *
 * @param rollups of hours, or of days
 * @throws ServiceError 503 when some could not be stored in time
 */
export const storeRollups = async (
  table: Table,
  kind: StoredKind,
  projectId: ProjectId,
  rollups: readonly Rollup[],
  retentionDays: number | undefined,
  budget: RequestBudget,
): Promise<void> => {
  const byDay = Map.groupBy(rollups, ({ number }) => (kind === 'days' ? number : dayOf(number)));
  const items = await Promise.all(
    [...byDay].map(
      async ([day, ofDay]): Promise<Item> => ({
        ...rollupKey(kind, projectId, day),
        h: await packRollups(ofDay),
        ...expiryOf(day * hoursOfDay, retentionDays, graceDays),
      }),
    ),
  );
  const small = items.filter(({ h }) => (asBytes(h)?.length ?? 0) <= maxItemBytes);
  await putItems(table, small, budget);
};
