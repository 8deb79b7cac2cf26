import { callBatch } from '../../../api/calls.ts';
import { getBodySchema } from '../../../api/endpoint.ts';
import {
  type CallsFilter,
  type CallsQuery,
  callsStreamQuery,
  everyCall,
  noIncludes,
} from '../../../api/queries.ts';
import { queryCalls, readCallJson } from '../../../core/questions/query/index.ts';
import { type CallReport, writeCalls } from '../../../core/records/calls/index.ts';
import { toPath } from '../../../foundations/expression/index.ts';
import { type RequestBudget, requestBudget, type Store } from '../../../foundations/storage/index.ts';
import type { JsonObject, ProjectId } from '../../../foundations/wire/index.ts';
import { parseBody } from '../../../foundations/wire/schema.ts';
import { createStores, getStore } from '../service/stores.ts';

/** The project of most tests. */
export const project = 'acme/shop' as ProjectId;
/** A call store of its own for one test file. */
export const createCallStore = async (changes: Partial<Store> = {}): Promise<Store> => {
  const stores = await createStores('calls');
  return { ...getStore(stores, stores.callsTable), ...changes };
};

/** A start as a client sends it. */
export const makeStart = (fields: object): { mode: 'start'; req: { start: object } } => ({
  mode: 'start',
  req: { start: { project_id: project, op_name: 'op', started_at: '2026-10-01T00:00:00Z', ...fields } },
});

/** An end as a client sends it. */
export const makeEnd = (fields: object): { mode: 'end'; req: { end: object } } => ({
  mode: 'end',
  req: { end: { project_id: project, ended_at: '2026-10-01T00:00:01Z', ...fields } },
});

const batchBody = callBatch();

/** What a client sends, as the endpoint would hand it to the core. */
export const parseBatch = (batch: readonly object[]): CallReport[] =>
  parseBody(batchBody, JSON.stringify({ batch })).batch;

/** Sends a batch, as JSON, through the schema of its endpoint, and says what it took. */
export const send = async (store: Store, batch: readonly object[]): Promise<RequestBudget> => {
  const spent = requestBudget(30_000);
  await writeCalls(store, parseBatch(batch), 'ada', spent);
  return spent;
};

/** Reads a call by id, as the endpoint answers it. */
export const read = async (store: Store, id: string, projectId = project): Promise<JsonObject | null> => {
  const text = await readCallJson(store, { projectId, id, includes: noIncludes }, requestBudget(30_000));
  return text === null ? null : (JSON.parse(text) as JsonObject);
};

/** What a query may leave out. */
export type PartialQuery = Partial<Omit<CallsQuery, 'filter'>> & { readonly filter?: Partial<CallsFilter> };

/** The default order backwards. */
export const newestFirst = [{ path: toPath('started_at'), descending: true }];

/** Makes a whole query of a part of one. */
export const makeQuery = (query: PartialQuery = {}): CallsQuery => ({
  projectId: project,
  limit: null,
  offset: 0,
  sort: [],
  where: null,
  includes: noIncludes,
  columns: null,
  expand: [],
  returnExpanded: true,
  ...query,
  filter: { ...everyCall, ...query.filter },
});

/** Answers a query in full, parsed. */
export const query = async (
  store: Store,
  asked: PartialQuery = {},
  spent = requestBudget(60_000),
): Promise<JsonObject[]> => {
  const batches = await Array.fromAsync(queryCalls(store, makeQuery(asked), spent).json());
  return batches.flat().map((text) => JSON.parse(text) as JsonObject);
};

const queryBody = getBodySchema(callsStreamQuery);

/** Answers a body of `/calls/stream_query`, as JSON, through the schema of its endpoint, parsed. */
export const ask = async (
  store: Store,
  body: object,
  spent = requestBudget(60_000),
): Promise<JsonObject[]> => {
  const asked = parseBody(queryBody, JSON.stringify(body));
  const batches = await Array.fromAsync(queryCalls(store, asked, spent).json());
  return batches.flat().map((text) => JSON.parse(text) as JsonObject);
};
