import { afterAll, beforeAll, expect, it } from 'vitest';
import { isKeyed } from '../../api/endpoint.ts';
import { routes } from '../../api/routes.ts';
import { paced } from '../support/run/pace.ts';
import { deep, seed } from '../support/run/sampling.ts';
import { type InProcessWithModel, startInProcessWithModel } from '../support/service/in-process.ts';
import { type Random, random } from '../support/values/random.ts';
import { type CallsModel, callsModel, parseLines } from './soak/calls.ts';
import { type Client, newClient, newTally, type Tally } from './soak/client.ts';
import { costsModel, feedbackModel, objectsModel, type RecordsModel, tablesModel } from './soak/records.ts';

/*
 * Clients that send what comes to mind to all routes at once, while 5 % of the storage requests
 * behind them fail. Each knows what was acknowledged, and compares it with what it reads, at any
 * time and at the end.
 */

/** How many requests: `npm run soak` and deep runs make more of them, until each route has answered. */
const wanted = Number(process.env.SOAK_REQUESTS ?? (deep ? 3_000 : 160));
const clients = 8;
const project = 'acme/soak';

let service: InProcessWithModel;
beforeAll(async () => {
  service = await startInProcessWithModel();
});
afterAll(() => service.stop());

/** Passes a request on, which is recorded where nobody looks: a record may be lost. */
const infer = async (client: Client, numbers: Random): Promise<void> => {
  const path = '/inference/v1/chat/completions';
  const body = { model: 'any', messages: [{ role: 'user', content: `${numbers.next()}` }] };
  await client.send({ path, body, headers: { 'openai-project': 'acme/recorded' } });
};

interface Worker {
  readonly calls: CallsModel;
  readonly records: readonly RecordsModel[];
  act(): Promise<void>;
}

const newWorker = (number: number, tally: Tally): Worker => {
  const numbers = random(seed * 100 + number);
  const client = newClient(service, numbers, tally);
  const calls = callsModel(client, numbers, project, `c${number}`);
  const records = [feedbackModel, objectsModel, costsModel, tablesModel].map((make) =>
    make(client, numbers, `${project}-${number}`),
  );
  const act = async (): Promise<void> => {
    if (numbers.chance(0.05)) return infer(client, numbers);
    const other = numbers.chance(0.4) ? numbers.pick(records) : undefined;
    return (other ?? calls).act();
  };
  return { calls, records, act };
};

/** Looks at all calls of all clients in one query, through the index. */
const checkCalls = async (client: Client, workers: readonly Worker[]): Promise<number> => {
  const answer = await client.insist({ path: '/calls/stream_query', body: { project_id: project } });
  const found = parseLines(answer);
  const byId = new Map(found.map((call) => [String(call.id), call]));
  expect(byId.size, 'calls are there twice').toBe(found.length);
  const known = new Set(workers.flatMap(({ calls }) => calls.ids()));
  for (const { calls } of workers) for (const id of calls.ids()) calls.see(id, byId.get(id) ?? null);
  expect([...byId.keys()].filter((id) => !known.has(id))).toEqual([]);
  return found.length;
};

/** The routes that are to be tried, as requests name them. */
const triedPaths = new Set(
  routes.filter(isKeyed).map(({ path }) => path.replace('{path+}', 'chat/completions')),
);

/** The paths that gave at least one answer. */
const answeredPaths = ({ answers }: Tally): Set<string> =>
  new Set(
    [...answers.keys()].filter((outcome) => outcome.endsWith(' 200')).map((outcome) => outcome.slice(0, -4)),
  );

/**
 * The most requests: they end a run with a route that cannot answer. Clients choose at random, and
 * each of the rarest routes with one request in a hundred. So 480 requests were too few: up to a
 * tenth of the runs left some route out.
 */
const most = Math.max(4 * wanted, 3_000);

/** Whether to go on: up to the number of requests, or longer until each route has answered. */
const goesOn = (tally: Tally): boolean =>
  tally.requests < wanted || (deep && tally.requests < most && answeredPaths(tally).size < triedPaths.size);

/** Has all workers do something at once: most of the time they wait until they try again. */
const together = async (workers: readonly Worker[], work: (worker: Worker) => Promise<void>): Promise<void> =>
  void (await Promise.all(workers.map(work)));

const check = async (tally: Tally, workers: readonly Worker[]): Promise<number> => {
  await together(workers, async ({ records }) => {
    for (const model of records) await model.check();
  });
  return checkCalls(newClient(service, random(seed), tally), workers);
};

it(`keeps what was acknowledged, and shows nothing half (seed ${seed})`, {
  timeout: paced(3_600_000),
}, async () => {
  const tally = newTally();
  const workers = Array.from({ length: clients }, (_, number) => newWorker(number, tally));
  const begun = performance.now();
  await together(workers, async ({ act }) => {
    while (goesOn(tally)) await act();
  });
  const found = await check(tally, workers);
  expect(found).toBeGreaterThan(0);
  expect(tally.faults).toBeGreaterThan(0);
  const seconds = (performance.now() - begun) / 1000;
  if (process.env.SOAK_REQUESTS)
    console.log(
      JSON.stringify({ seed, seconds, found, ...tally, answers: Object.fromEntries(tally.answers) }, null, 2),
    );
  await together(workers, async ({ calls, records }) => {
    for (const model of records) await model.clear();
    await calls.clear();
  });
  expect(await check(tally, workers)).toBe(0);
  if (deep) expect(answeredPaths(tally)).toEqual(triedPaths);
});
