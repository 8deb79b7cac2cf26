import { ownDigests } from '../../foundations/door.ts';
import { compareAndSwap, type RequestBudget, type Store } from '../../foundations/storage/index.ts';
import {
  asString,
  conflict,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  parseTableRef,
  refScheme,
} from '../../foundations/wire/index.ts';
import {
  createObject,
  findVersions,
  type ObjectName,
  readValues,
  type VersionHeader,
} from './objects/index.ts';
import { createTable, queryTable, updateTable } from './tables/index.ts';

/*
 * Datasets: objects of class `Dataset` whose rows are a table. A change is a new table and a new version.
 */

/** Somebody else has made a version meanwhile. */
class Overtaken extends Error {}

interface LatestVersion {
  readonly header: VersionHeader;
  readonly value: JsonObject;
  /** The digest of the table of its rows. */
  readonly table: string;
}

const notDataset = ({ projectId, objectId }: ObjectName): Error => {
  const msg = `should be another name: ${objectId} in ${projectId} is an object without rows, so no dataset`;
  return conflict({ loc: ['body', 'dataset'], msg, type: 'conflict' });
};

/** @throws ServiceError 409 if an object has the name that is no dataset */
const readLatest = async (
  store: Store,
  name: ObjectName,
  budget: RequestBudget,
): Promise<LatestVersion | undefined> => {
  const [found] = await findVersions(store, [{ ...name, version: 'latest' }], budget);
  if (!found) return undefined;
  const [text] = await readValues(store, [found], budget);
  const value = text === undefined ? null : (parseJson(text) as JsonValue);
  const rows = isJsonObject(value) ? asString(value.rows) : undefined;
  const table = rows === undefined ? undefined : parseTableRef(rows)?.digest;
  if (!isJsonObject(value) || table === undefined) throw notDataset(name);
  return { header: found.header, value, table };
};

/** The rows that a table does not have. */
const missingIn = async (
  store: Store,
  { projectId }: ObjectName,
  digest: string,
  rows: readonly JsonObject[],
  budget: RequestBudget,
): Promise<readonly JsonObject[]> => {
  const byDigest = new Map(rows.map((row) => [ownDigests.ofValue(row), row]));
  const query = { projectId, digest, rowDigests: [...byDigest.keys()], sort: [], offset: 0, limit: null };
  for await (const batch of queryTable(store, query, budget))
    for (const row of batch) byDigest.delete(row.digest);
  return [...byDigest.values()];
};

/**
 * Adds rows at the end of a dataset, which is made if there is none. Rows that it has are not added again,
 * so this may be repeated. What others add at the same moment stays.
 *
 * @returns how many rows were added, and the digest of the version that has them
 * @throws ServiceError 409 if an object has the name that is no dataset; 503 if others change it all the while
 */
export const addRows = (
  store: Store,
  name: ObjectName,
  rows: readonly JsonObject[],
  userId: string,
  budget: RequestBudget,
): Promise<{ readonly added: number; readonly digest: string }> =>
  compareAndSwap(budget, async () => {
    const latest = await readLatest(store, name, budget);
    const fresh = latest ? await missingIn(store, name, latest.table, rows, budget) : rows;
    if (latest && fresh.length === 0) return { value: { added: 0, digest: latest.header.digest } };
    const changes = fresh.map((row) => ({ kind: 'append', row }) as const);
    const table = latest
      ? await updateTable(store, name.projectId, latest.table, changes, budget)
      : await createTable(store, name.projectId, fresh, null, budget);
    const before = latest?.value ?? { _type: 'Dataset', name: name.objectId };
    const val = { ...before, rows: `${refScheme}${name.projectId}/table/${table.digest}` };
    try {
      const digest = await createObject(store, { ...name, val }, userId, budget, {
        authorize: async ({ covered }) => {
          if (covered?.digest !== latest?.header.digest) throw new Overtaken();
        },
      });
      return { value: { added: fresh.length, digest } };
    } catch (error) {
      if (error instanceof Overtaken) return undefined;
      throw error;
    }
  });
