import { callBatchBody } from '../../api/schemas/calls.ts';
import { callsQueryBody } from '../../api/schemas/query.ts';
import { writeCalls } from '../../core/calls/index.ts';
import type { CallsQuery } from '../../core/query/index.ts';
import { type RequestBudget, requestBudget, type Store } from '../../core/storage/index.ts';
import { parseBody } from '../../core/wire/schema.ts';
import { names } from './bench.ts';
import type { Call } from './calls.ts';

const batchBody = callBatchBody(names);

/** An hour, and nothing spent: more than anything here takes. */
export const patience = (): RequestBudget => requestBudget(3_600_000);

/** Stores what a request's body says, as the endpoint would: through its schema. */
export const sendText = async (store: Store, body: string): Promise<void> => {
  await writeCalls(store, parseBody(batchBody, body).batch, 'ada', patience());
};

/** Reports a batch as JSON. */
export const send = (store: Store, batch: readonly object[]): Promise<void> =>
  sendText(store, JSON.stringify({ batch }));

/** A call's start as an item of a batch. */
export const startOf = ({ start }: Call) => ({ mode: 'start', req: { start } });
/** A call's end as an item of a batch. */
export const endOf = ({ end }: Call) => ({ mode: 'end', req: { end } });

/** How many calls are reported at once, unless it is said. */
export const batchSize = 100;

/**
 * How starts and ends are reported: in one batch, in two, or each alone in a request of its own.
 */
export type Way = 'together' | 'apart' | 'alone';

const reportBatch = async (store: Store, calls: readonly Call[], way: Way): Promise<void> => {
  if (way === 'together')
    return send(
      store,
      calls.flatMap((call) => [startOf(call), endOf(call)]),
    );
  if (way === 'apart') {
    await send(store, calls.map(startOf));
    return send(store, calls.map(endOf));
  }
  for (const call of calls) {
    await send(store, [startOf(call)]);
    await send(store, [endOf(call)]);
  }
};

/** Reports calls in batches of so many. */
export const sendAll = async (
  store: Store,
  calls: Iterable<Call>,
  way: Way,
  size = batchSize,
): Promise<void> => {
  let batch: Call[] = [];
  for (const call of calls) {
    batch.push(call);
    if (batch.length < size) continue;
    await reportBatch(store, batch, way);
    batch = [];
  }
  if (batch.length > 0) await reportBatch(store, batch, way);
};

const queryBody = callsQueryBody(names);

/** A request's body as the endpoint would read it. */
export const toQuery = (body: object): CallsQuery => parseBody(queryBody, JSON.stringify(body));

/** The fields of a query that ask for the 100 with the highest values of a field. */
export const newestBy = (field: string): object => ({ limit: 100, sort_by: [{ field, direction: 'desc' }] });

/** The query for what has a value at a path. */
export const isOf = (path: string, value: unknown): object => ({
  $expr: { $eq: [{ $getField: path }, { $literal: value }] },
});
