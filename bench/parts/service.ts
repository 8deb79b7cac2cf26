/**
 * The throughput of the local service with several clients, through HTTP, gateway, authorizer,
 * handler and storage. It is relative to this machine: Lambda runs as many handlers as there are
 * requests.
 */
import { startLocalService } from '../../local/service.ts';
import { type Call, repeatCalls } from '../harness/calls.ts';
import { type Figure, measured } from '../harness/figures.ts';
import type { BenchContext, BenchPart } from '../harness/part.ts';
import { endOf, startOf } from '../harness/reporting.ts';
import { secondsOf } from './speed.ts';

const rounds = 5;
const requestsPerRound = 16;
const clients = 4;
const callsPerRequest = 50;
const readsPerBatch = 10;

/** Works through a list with several concurrent clients. */
const concurrently = async <T>(list: readonly T[], task: (item: T) => Promise<unknown>): Promise<void> => {
  const left = list.values();
  const client = async () => {
    for (const item of left) await task(item);
  };
  await Promise.all(Array.from({ length: clients }, client));
};

const measure = async ({ calls }: BenchContext): Promise<Figure[]> => {
  const service = await startLocalService({});
  try {
    const authorization = `Basic ${Buffer.from(`api:${service.key}`).toString('base64')}`;
    const post = async (path: string, body: object): Promise<void> => {
      const headers = { authorization, 'content-type': 'application/json' };
      const answer = await fetch(service.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
      await answer.arrayBuffer();
      if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
    };
    return await measureRounds(calls, post);
  } finally {
    await service.stop();
  }
};

const measureRounds = async (
  calls: readonly Call[],
  post: (path: string, body: object) => Promise<void>,
): Promise<Figure[]> => {
  const fresh = repeatCalls(calls, (rounds + 1) * requestsPerRound * callsPerRequest);
  const report = async (batch: readonly Call[]) =>
    post('/call/upsert_batch', { batch: batch.flatMap((call) => [startOf(call), endOf(call)]) });
  const read = async ({ start: { project_id, id } }: Call) => post('/call/read', { project_id, id });
  const [written, readBack]: [number[], number[]] = [[], []];
  for (let round = 0; round <= rounds; round++) {
    const batches = Array.from({ length: requestsPerRound }, () => takeBatch(fresh));
    const sample = batches.flatMap((batch) => batch.slice(0, readsPerBatch));
    const seconds = await secondsOf(() => concurrently(batches, report));
    const readSeconds = await secondsOf(() => concurrently(sample, read));
    // The first round starts the functions.
    if (round === 0) continue;
    written.push((requestsPerRound * callsPerRequest) / seconds);
    readBack.push(sample.length / readSeconds);
  }
  return [
    measured(`reported in batches of ${callsPerRequest}`, 'calls a second', written),
    measured('read one by one', 'calls a second', readBack),
  ];
};

/** The calls of one request. */
const takeBatch = (calls: Iterator<Call>): Call[] => {
  const taken: Call[] = [];
  while (taken.length < callsPerRequest) {
    const { value, done } = calls.next();
    if (done) break;
    taken.push(value);
  }
  return taken;
};

/** Throughput of the local service. */
export const service: BenchPart = {
  name: 'service',
  title: `The local service end to end, ${clients} clients at once`,
  run: measure,
};
