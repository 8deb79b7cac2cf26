/**
 * The clients of `npm run load`. They run in a process of their own, so that the service's memory
 * is measured without theirs. Each sends one request after the other until the time is up.
 */
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';

/** The settings of the clients, from the environment. */
const { URL: base = '', KEY: key = '', SECONDS: seconds = '60', CLIENTS: clients = '8' } = process.env;

/** The outcome of the requests to one route. */
export interface RouteReport {
  readonly path: string;
  readonly requests: number;
  /** Answers without status 200 or with a broken body. */
  readonly failed: number;
  /** Milliseconds to the end of the answer. */
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

const agent = new Agent({ keepAlive: true, maxSockets: Number(clients) });
const authorization = `Basic ${Buffer.from(`api:${key}`).toString('base64')}`;
const headers = { authorization, 'content-type': 'application/json' };

/**
 * POSTs a body.
 *
 * @returns whether the answer has status 200 and is complete
 */
const post = (path: string, body: object): Promise<boolean> =>
  new Promise((resolve) => {
    const sent = request(`${base}${path}`, { method: 'POST', agent, headers }, (answer) => {
      text(answer).then(
        () => resolve(answer.statusCode === 200),
        () => resolve(false),
      );
    });
    sent.once('error', () => resolve(false)).end(JSON.stringify(body));
  });

const project = 'acme/load';

/**
 * One round of a client: a batch, a start and an end, reads of what it wrote, queries and feedback.
 */
function* round(client: number, number: number): Generator<[path: string, body: object]> {
  const id = (i: number) => `${client}-${number}-${i}`;
  const thread = { thread_id: `thread ${client}-${number % 50}`, trace_id: id(0) };
  const start = (i: number) => ({
    ...{ project_id: project, id: id(i), op_name: 'answer', started_at: '2026-10-01T00:00:00Z' },
    ...{ ...thread, turn_id: id(i), inputs: { question: `what is ${id(i)}? `.repeat(40) } },
  });
  const end = (i: number) => ({
    project_id: project,
    id: id(i),
    ended_at: '2026-10-01T00:00:01Z',
    output: id(i),
  });
  const batch = Array.from({ length: 10 }, (_, i) => [
    { mode: 'start', req: { start: start(i) } },
    { mode: 'end', req: { end: end(i) } },
  ]).flat();
  yield ['/call/upsert_batch', { batch }];
  yield ['/call/start', { start: start(10) }];
  yield ['/call/end', { end: end(10) }];
  yield ['/call/read', { project_id: project, id: id(10) }];
  yield ['/calls/stream_query', { project_id: project, filter: { trace_ids: [id(0)] } }];
  yield ['/calls/stream_query', { project_id: project, limit: 100 }];
  const svc_ref = `svc:///${project}/call/${id(10)}`;
  yield ['/feedback/create', { project_id: project, svc_ref, feedback_type: 'score', payload: { score: 1 } }];
}

const latencies = new Map<string, number[]>();
const failures = new Map<string, number>();

const run = async (client: number, until: number): Promise<void> => {
  for (let number = 0; performance.now() < until; number++) {
    for (const [path, body] of round(client, number)) {
      const startedAt = performance.now();
      const succeeded = await post(path, body);
      const pathLatencies = latencies.get(path) ?? [];
      pathLatencies.push(performance.now() - startedAt);
      latencies.set(path, pathLatencies);
      if (!succeeded) failures.set(path, (failures.get(path) ?? 0) + 1);
    }
  }
};

const report = ([path, all]: [string, number[]]): RouteReport => {
  const sorted = all.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
  const failed = failures.get(path) ?? 0;
  return { path, requests: all.length, failed, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
};

const until = performance.now() + Number(seconds) * 1000;
await Promise.all(Array.from({ length: Number(clients) }, (_, client) => run(client, until)));
agent.destroy();
process.send?.([...latencies].map(report));
process.disconnect?.();
