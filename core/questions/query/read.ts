import type { RequestBudget, Store } from '../../foundations/storage/index.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import { readCall } from '../../records/calls/index.ts';
import { jsonEncoder, projectionOf } from './columns.ts';
import { Enricher, type Lookups, noLookups } from './enrich.ts';
import { requirementsOf } from './fields.ts';
import { everyCall, type Includes } from './request.ts';
import { CallRow } from './row.ts';

/** Which call is to be read, and what more of it. */
export interface CallRead {
  readonly projectId: ProjectId;
  readonly id: string;
  readonly includes: Includes;
}

/**
 * Reads one whole call by its id, strongly consistent, as JSON text.
 *
 * @returns null if there is no call, or no start of it yet
 * @throws ServiceError 503 when storage does not give it in time
 */
export const readCallJson = async (
  store: Store,
  { projectId, id, includes }: CallRead,
  budget: RequestBudget,
  lookups: Lookups = noLookups,
): Promise<string | null> => {
  const call = await readCall(store, projectId, id, budget);
  if (call === null) return null;
  const { names } = store;
  const query = {
    ...{ projectId, filter: everyCall, where: null, limit: null, offset: 0, sort: [] },
    ...{ includes, columns: null, expand: [], returnExpanded: false },
  };
  const required = projectionOf(names, query).flatMap(({ paths }) =>
    paths.flatMap((path) => requirementsOf(names, [], includes, path)),
  );
  const enricher = new Enricher(names, store, query, lookups, budget);
  const [row] = await enricher.enrich([new CallRow(names, call.header, call.payload)], required);
  return row ? jsonEncoder(names, query)(row) : null;
};
