import type { Client } from '../../api/client.ts';
import type { ObjectVersion, Request } from '../../api/contract.ts';
import { isObject } from '../../data/values.ts';
import type { StoredRow } from './rows.ts';

/** The digest of the table that has the rows of a version. Throws an Error if it names none. */
export const getTableDigest = ({ val, object_id }: ObjectVersion): string => {
  const rows = isObject(val) && typeof val.rows === 'string' ? val.rows : '';
  const digest = /\/table\/([0-9a-f]{64})$/.exec(rows)?.[1];
  if (digest === undefined) throw new Error(`${object_id} has no rows, so it is not a dataset.`);
  return digest;
};

/** Some rows of a table. Throws as the client does. */
export const readPage = async (
  client: Client,
  request: Request<'/table/query'>,
  signal?: AbortSignal,
): Promise<StoredRow[]> => (await client.ask('/table/query', request, signal)).rows as StoredRow[];

/** How many rows are read at once for files and comparisons. */
const fileRows = 2000;

/** Who is told of long work, and who stops it. */
export interface Reported {
  /** Is told how many rows are done. */
  readonly onProgress?: (rows: number) => void;
  readonly signal?: AbortSignal;
}

/** All rows of a table. Throws as the client does. */
export const readTable = async (
  client: Client,
  project: string,
  digest: string,
  { onProgress, signal }: Reported = {},
): Promise<StoredRow[]> => {
  const rows: StoredRow[] = [];
  for (;;) {
    const page = await readPage(
      client,
      { project_id: project, digest, offset: rows.length, limit: fileRows },
      signal,
    );
    rows.push(...page);
    onProgress?.(rows.length);
    if (page.length < fileRows) return rows;
  }
};
