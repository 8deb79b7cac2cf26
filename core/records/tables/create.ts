import type { RequestBudget, Store } from '../../foundations/storage/index.ts';
import { checkDigest, type JsonObject, notFound, type ProjectId } from '../../foundations/wire/index.ts';
import { tableDigest } from '../../foundations/wire/weave-digest.ts';
import { putPack } from './packs.ts';
import { type Location, type Row, rowOf } from './row.ts';
import { findRows } from './row-index.ts';
import { putTable } from './table.ts';

/** What became of a table. */
export interface MadeTable {
  readonly digest: string;
  /** The digests of the rows that came, in their order. */
  readonly rowDigests: readonly string[];
}

/**
 * Stores the rows that the project does not have yet.
 *
 * @returns where each row lies, by its digest
 * @throws ServiceError 503 when storage does not take them in time
 */
export const storeRows = async (
  store: Store,
  projectId: ProjectId,
  rows: readonly Row[],
  budget: RequestBudget,
): Promise<Map<string, Location>> => {
  const unique = new Map(rows.map((row) => [row.digest, row]));
  const found = await findRows(store, projectId, unique.keys(), budget);
  const fresh = [...unique.values()].filter(({ digest }) => !found.has(digest));
  const placed = fresh.length > 0 ? await putPack(store, projectId, fresh, budget) : [];
  const places = new Map<string, Location>();
  for (const [digest, [place]] of found) if (place) places.set(digest, place);
  for (const [i, { digest }] of fresh.entries()) {
    const place = placed[i];
    if (place) places.set(digest, place);
  }
  return places;
};

/** The places of rows in their order. */
const inOrder = (digests: readonly string[], places: ReadonlyMap<string, Location>): Location[] =>
  digests.flatMap((digest) => places.get(digest) ?? []);

/**
 * Makes a table of rows.
 *
 * @param expected the digest that the client computed; null if it did not
 * @throws ServiceError 409 where the digest is another; 503 when storage does not take it in time
 */
export const createTable = async (
  store: Store,
  projectId: ProjectId,
  values: readonly JsonObject[],
  expected: string | null,
  budget: RequestBudget,
): Promise<MadeTable> => {
  const rows = values.map(rowOf);
  const rowDigests = rows.map((row) => row.digest);
  const digest = tableDigest(rowDigests);
  checkDigest({ of: 'these rows', digest, expected, within: ['table'] });
  const places = await storeRows(store, projectId, rows, budget);
  await putTable(store, projectId, digest, inOrder(rowDigests, places), budget);
  return { digest, rowDigests };
};

const maxNamed = 10;

/**
 * Makes a table of rows that the project has.
 *
 * @throws ServiceError 404 where a row is not there, 409 where the digest is another than expected,
 * 503 when storage does not take it in time
 */
export const createTableFromDigests = async (
  store: Store,
  projectId: ProjectId,
  rowDigests: readonly string[],
  expected: string | null,
  budget: RequestBudget,
): Promise<string> => {
  const digest = tableDigest(rowDigests);
  checkDigest({ of: 'these rows', digest, expected });
  const found = await findRows(store, projectId, new Set(rowDigests), budget);
  const missing = rowDigests.flatMap((row, i) => (found.has(row) ? [] : [`${i} (${row})`]));
  if (missing.length > 0) {
    const named = missing.slice(0, maxNamed).join(', ');
    throw notFound(
      ['body', 'row_digests'],
      `${missing.length} of these rows are not in ${projectId}: ${named}; send them to /table/create first`,
    );
  }
  const places = rowDigests.flatMap((row) => found.get(row)?.[0] ?? []);
  await putTable(store, projectId, digest, places, budget);
  return digest;
};
