import { useQueries } from '@tanstack/react-query';
import type { Request } from '../../api/contract.ts';
import { isObject } from '../../data/values.ts';
import { useRead, useSession } from '../../session/session.tsx';
import { byObject, ofClass, readObjects, useStoreObject, versionsRequest } from '../../session/stored.ts';
import { useSettled } from '../../ui/settled.ts';
import { type Row, toPortions } from './rows.ts';
import { getTableDigest, type Reported, readPage } from './table.ts';

/** The most rows of two versions that are compared. */
export const maxCompared = 10_000;

/** The latest versions of all datasets of a project, by name. */
export const useDatasets = (project: string) =>
  useRead(['datasets', project], (reading) =>
    readObjects(reading, project, { ...ofClass('Dataset'), ...byObject }),
  );

/** The versions of a dataset, the newest first. */
export const useVersions = (project: string, name: string | undefined) =>
  useRead(
    ['dataset versions', project, name],
    (reading) => readObjects(reading, project, versionsRequest(name ?? '')),
    { enabled: name !== undefined },
  );

/** The number of rows of a table. */
export const useCount = (project: string, digest: string, enabled = true) =>
  useRead(
    ['table count', project, digest],
    async ({ client, signal }) =>
      (await client.ask('/table/query_stats', { project_id: project, digest }, signal)).count,
    { staleTime: Number.POSITIVE_INFINITY, enabled },
  );

/** How many rows are read at once for the screen. */
const pageRows = 100;

/** What is in sight for less than this many ms is passed by. */
const passingMs = 80;

/** The rows of a table that are in sight, by their places. A table never changes, so each is read once. */
export const useRows = (
  project: string,
  digest: string,
  first: number,
  last: number,
): { readonly rowAt: (place: number) => Row | undefined; readonly error: Error | null } => {
  const { client, me } = useSession();
  const from = Math.floor(first / pageRows);
  const settled = useSettled(`${from} ${Math.floor(last / pageRows)}`, passingMs);
  const [begin = 0, end = -1] = settled.split(' ').map(Number);
  const pages = last < 0 ? [] : Array.from({ length: end - begin + 1 }, (_, at) => begin + at);
  const results = useQueries({
    queries: pages.map((page) => ({
      queryKey: ['table page', me.key_id, project, digest, page],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        readPage(client, { project_id: project, digest, offset: page * pageRows, limit: pageRows }, signal),
      staleTime: Number.POSITIVE_INFINITY,
    })),
  });
  return {
    rowAt: (place) => results[Math.floor(place / pageRows) - begin]?.data?.[place % pageRows]?.val,
    error: results.find(({ error }) => error)?.error ?? null,
  };
};

/** A change of the rows of a table. */
type Update = Request<'/table/update'>['updates'][number];

/** What becomes of a dataset, in a new version. */
export type Change =
  /** Rows after those that are there. */
  | { readonly kind: 'append'; readonly rows: readonly Row[] }
  /** Rows in the place of those that are there. */
  | { readonly kind: 'replace'; readonly rows: readonly Row[] }
  /** Single rows of the version with this digest; another one is not changed. */
  | { readonly kind: 'edit'; readonly version: string; readonly updates: readonly Update[] };

/** Changes datasets: each change is a new version. The dataset is made if there is none. */
export const useSaveDataset = (project: string) => {
  const { client } = useSession();
  const { save } = useStoreObject(project, ['datasets', 'dataset versions']);
  /** The digest of a table of these rows after those of another one. */
  const tableWith = async (
    base: string | undefined,
    rows: readonly Row[],
    { onProgress, signal }: Reported,
  ) => {
    let digest = base;
    let done = 0;
    const portions = toPortions(rows);
    // Only a table that is made may have no rows.
    for (const portion of portions.length === 0 && base === undefined ? [[]] : portions) {
      const added =
        digest === undefined
          ? client.ask('/table/create', { table: { project_id: project, rows: portion } }, signal)
          : client.ask(
              '/table/update',
              {
                project_id: project,
                base_digest: digest,
                updates: portion.map((row) => ({ append: { row } })),
              },
              signal,
            );
      ({ digest } = await added);
      done += portion.length;
      onProgress?.(done);
    }
    return digest;
  };
  /** @throws RequestFailed or Error in words for people */
  return async (name: string, change: Change, reported: Reported = {}): Promise<void> => {
    const latestOnly = { ...versionsRequest(name), limit: 1 };
    const [latest] = await readObjects({ client, ...reported }, project, latestOnly);
    const base = latest && getTableDigest(latest);
    let digest: string | undefined;
    if (change.kind === 'edit') {
      if (latest?.digest !== change.version || base === undefined)
        throw new Error('Somebody saved a newer version. Look at it first.');
      const request = { project_id: project, base_digest: base, updates: [...change.updates] };
      ({ digest } = await client.ask('/table/update', request, reported.signal));
    } else digest = await tableWith(change.kind === 'append' ? base : undefined, change.rows, reported);
    const before = isObject(latest?.val) ? latest.val : { _type: 'Dataset', name };
    const rows = `svc:///${project}/table/${digest}`;
    await save.mutateAsync({ id: name, value: { ...before, rows } });
  };
};
