import { callBatch } from '../../api/calls.ts';
import { getBodySchema } from '../../api/endpoint.ts';
import type { CallsQuery } from '../../api/queries.ts';
import { callsStreamQuery } from '../../api/queries.ts';
import { answerToWeave, readRequest } from '../../core/doors/weave/index.ts';
import { writeCalls } from '../../core/records/calls/index.ts';
import { type RequestBudget, requestBudget, type Store } from '../../foundations/storage/index.ts';
import { storedRefs } from '../../foundations/wire/index.ts';
import { parseBody, parseBodyJson, parseTolerantly } from '../../foundations/wire/schema.ts';
import type { Call } from './calls.ts';

const batchBody = callBatch();

/** A budget of an hour, more than anything here needs. */
export const benchBudget = (): RequestBudget => requestBudget(3_600_000);

/** Stores a request's body through the endpoint's schema. */
export const sendText = async (store: Store, body: string): Promise<void> => {
  await writeCalls(store, parseBody(batchBody, storedRefs(body)).batch, 'ada', benchBudget());
};

/** Reports a batch as JSON. */
export const send = (store: Store, batch: readonly object[]): Promise<void> =>
  sendText(store, JSON.stringify({ batch }));

/** Reports calls that are over in one, as Weave's SDKs do. */
const sendComplete = async (store: Store, calls: readonly Call[]): Promise<void> => {
  const [entity, project] = String(calls[0]?.start.project_id).split('/');
  const body = JSON.stringify({
    entity,
    project,
    batch: calls.map(({ start, end }) => answerToWeave({ ...start, ...end })),
  });
  const parse = (fields: unknown) => parseTolerantly(batchBody, fields).value;
  const { batch } = readRequest(
    '/v2/{entity}/{project}/calls/complete',
    parseBodyJson(storedRefs(body)),
    parse,
  );
  await writeCalls(store, batch, 'ada', benchBudget());
};

/** A call's start as an item of a batch. */
export const toStartItem = ({ start }: Call) => ({ mode: 'start', req: { start } });
/** A call's end as an item of a batch. */
export const toEndItem = ({ end }: Call) => ({ mode: 'end', req: { end } });

/** The default number of calls per batch. */
export const batchSize = 100;

/**
 * How starts and ends are reported: in one batch, as one record each in a batch, in two batches, or
 * in requests of their own.
 */
export type ReportMode = 'together' | 'whole' | 'apart' | 'alone';

const reportBatch = async (store: Store, calls: readonly Call[], mode: ReportMode): Promise<void> => {
  if (mode === 'together')
    return send(
      store,
      calls.flatMap((call) => [toStartItem(call), toEndItem(call)]),
    );
  if (mode === 'whole') return sendComplete(store, calls);
  if (mode === 'apart') {
    await send(store, calls.map(toStartItem));
    return send(store, calls.map(toEndItem));
  }
  for (const call of calls) {
    await send(store, [toStartItem(call)]);
    await send(store, [toEndItem(call)]);
  }
};

/** Reports calls in batches of `size`. */
export const sendAll = async (
  store: Store,
  calls: Iterable<Call>,
  mode: ReportMode,
  size = batchSize,
): Promise<void> => {
  let batch: Call[] = [];
  for (const call of calls) {
    batch.push(call);
    if (batch.length < size) continue;
    await reportBatch(store, batch, mode);
    batch = [];
  }
  if (batch.length > 0) await reportBatch(store, batch, mode);
};

const queryBody = getBodySchema(callsStreamQuery);

/** Parses a query's body through the endpoint's schema. */
export const toQuery = (body: object): CallsQuery => parseBody(queryBody, JSON.stringify(body));

/** Query fields for the 100 calls with the highest values of a field. */
export const newestBy = (field: string): object => ({ limit: 100, sort_by: [{ field, direction: 'desc' }] });

/** A query for records with a value at a path. */
export const equalsQuery = (path: string, value: unknown): object => ({
  $expr: { $eq: [{ $getField: path }, { $literal: value }] },
});
