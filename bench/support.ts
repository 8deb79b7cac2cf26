import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { type CallStore, callBatchBody, writeCalls } from '../core/calls/index.ts';
import { type CallsQuery, callsQueryBody } from '../core/query/index.ts';
import type { Effort } from '../core/storage/index.ts';
import { formatTime, parseTime, wireNames } from '../core/wire/index.ts';
import { parseBody } from '../core/wire/schema.ts';
import { agentTraces } from '../examples/agent-traces.ts';
import { startDynamodb } from '../local/dynamodb.ts';
import { localCredentials, localRegion } from '../local/store.ts';
import { synthesize } from '../local/synthesize.ts';
import { createStores } from '../local/tables.ts';
import { readStack } from '../local/template/stack.ts';

/** A finished call as a client reports it. */
export interface Call {
  readonly start: Readonly<Record<string, unknown>>;
  readonly end: Readonly<Record<string, unknown>>;
}

const names = wireNames('svc');

/** The calls of a file, one `{"start": …, "end": …}` a line; without one, those that the example's generator makes. */
export const readCalls = (file: string | undefined): Call[] =>
  file
    ? readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Call)
    : [...agentTraces({ projectId: 'acme/shop', conversations: 100 })];

const dayMicros = 86_400_000_000;

/** The same id for the same round, another for another, in the form of the first. */
const idInRound = (id: unknown, round: number): unknown => {
  if (typeof id !== 'string' || round === 0) return id;
  const hex = createHash('sha256').update(`${round} ${id}`).digest('hex');
  return /^[0-9a-f-]{36}$/.test(id) ? `${id.slice(0, 24)}${hex.slice(0, 12)}` : `${id}-${round}`;
};

const timeInRound = (time: unknown, round: number): string =>
  formatTime((parseTime(String(time)) ?? 0) + round * dayMicros);

/** As many calls as are wanted: those given, and again with other ids, each round a day later. */
export function* repeated(calls: readonly Call[], count: number): Generator<Call> {
  for (let i = 0; i < count; i++) {
    const round = Math.floor(i / calls.length);
    const call = calls[i % calls.length];
    if (!call) return;
    const id = idInRound(call.start.id, round);
    const ids = Object.fromEntries(
      ['trace_id', 'parent_id', 'thread_id', 'turn_id'].map((name) => [
        name,
        idInRound(call.start[name], round),
      ]),
    );
    yield {
      start: { ...call.start, ...ids, id, started_at: timeInRound(call.start.started_at, round) },
      end: { ...call.end, id, ended_at: timeInRound(call.end.ended_at, round) },
    };
  }
}

/** Tables of the deployed schema on DynamoDB Local, until it is disposed of. */
export interface Bench extends AsyncDisposable {
  readonly client: DynamoDBClient;
  /** Makes a store of its own. */
  readonly newStore: () => Promise<CallStore>;
}

/** Starts DynamoDB Local and synthesizes the stack. */
export const openBench = async (): Promise<Bench> => {
  const cleanup = new AsyncDisposableStack();
  const dynamodb = await startDynamodb();
  cleanup.defer(() => dynamodb.stop());
  const client = new DynamoDBClient({
    region: localRegion,
    credentials: localCredentials,
    endpoint: dynamodb.endpoint,
  });
  cleanup.defer(() => client.destroy());
  const assembly = mkdtempSync(join(tmpdir(), 'pennytrace-bench-'));
  cleanup.defer(() => rmSync(assembly, { recursive: true }));
  await synthesize(assembly);
  // No segment of these traces is too big for an item, so that no bucket is ever asked.
  const s3 = new S3Client({ region: localRegion, credentials: localCredentials });
  let stacks = 0;
  const newStore = async (): Promise<CallStore> => {
    const { tables, outputs } = readStack(assembly, `bench-${stacks++}`);
    await createStores({ tables, buckets: [] }, client, s3);
    const { CallsTable: name = '' } = outputs;
    return { table: { client, name }, bucket: { client: s3, name: 'none' }, service: 'svc', shards: [4] };
  };
  return { client, newStore, [Symbol.asyncDispose]: () => cleanup.disposeAsync() };
};

const batchBody = callBatchBody(names);

/** Reports a batch as a client would. */
export const send = async (store: CallStore, batch: readonly object[], spent: Effort): Promise<void> => {
  await writeCalls(store, parseBody(batchBody, JSON.stringify({ batch })).batch, 'ada', spent);
};

const startOf = ({ start }: Call) => ({ mode: 'start', req: { start } });
const endOf = ({ end }: Call) => ({ mode: 'end', req: { end } });

/** How many calls are reported at once. */
export const batchSize = 100;

/** Starts and ends in one batch, or in two. */
export type Way = 'together' | 'apart';
export const ways: readonly Way[] = ['together', 'apart'];

/** Reports calls in batches of 100. */
export const sendAll = async (
  store: CallStore,
  calls: Iterable<Call>,
  way: Way,
  spent: Effort,
): Promise<void> => {
  const report = async (batch: readonly Call[]): Promise<void> => {
    if (way === 'together')
      return send(
        store,
        batch.flatMap((call) => [startOf(call), endOf(call)]),
        spent,
      );
    await send(store, batch.map(startOf), spent);
    await send(store, batch.map(endOf), spent);
  };
  let batch: Call[] = [];
  for (const call of calls) {
    batch.push(call);
    if (batch.length < batchSize) continue;
    await report(batch);
    batch = [];
  }
  if (batch.length > 0) await report(batch);
};

/** A request's body as the endpoint would read it. */
export const toQuery = (body: object): CallsQuery => parseBody(callsQueryBody(names), JSON.stringify(body));

/** Rounded to so many digits behind the point. */
export const round = (value: number, digits = 2): number => Number(value.toFixed(digits));

/** The middle one of some figures. */
export const median = (figures: readonly number[]): number =>
  figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN;
