import { setTimeout as sleep } from 'node:timers/promises';
import { SQSClient } from '@aws-sdk/client-sqs';
import { marshall } from '@aws-sdk/util-dynamodb';
import { HttpResponse } from '@smithy/core/protocols';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { evaluator } from '../../api/evaluators.ts';
import { SecretKeys, secretsClient } from '../../core/doors/inference/index.ts';
import { endReport, startReport } from '../../core/doors/report.ts';
import { writeCalls } from '../../core/records/calls/index.ts';
import { computeCosts, type PriceInForce } from '../../core/records/costs/index.ts';
import { FeedbackJoin } from '../../core/records/feedback/index.ts';
import { createObject } from '../../core/records/objects/index.ts';
import { readSpent } from '../../core/records/spending.ts';
import {
  decide,
  Evaluators,
  fromMessage,
  type Judging,
  judgeCall,
  toMessage,
  type Watch,
} from '../../core/workers/evaluators/index.ts';
import type { StreamRecord } from '../../core/workers/streams.ts';
import { requestBudget, scanTable } from '../../foundations/storage/index.ts';
import { isJsonObject, type JsonObject, parseProjectId } from '../../foundations/wire/index.ts';
import { makeFaulty, type SdkClient } from '../support/faults/faulty-client.ts';
import { makeMortal, invocation as mortalInvocation } from '../support/faults/mortal.ts';
import { paced } from '../support/run/pace.ts';
import { deep, repeatWith, seed } from '../support/run/sampling.ts';
import { createStores, getStore, type Stores } from '../support/service/stores.ts';
import { completion, json, startUpstream, type TestUpstream } from '../support/service/upstream.ts';
import { checking, politeness } from '../support/values/evaluators.ts';
import { random } from '../support/values/random.ts';

/*
 * Calls end, and three evaluators judge them, while requests to stores fail, functions die at any of
 * their requests, and the upstream breaks off what it has charged for. Messages come again, some of
 * them although they were done.
 */

const calls = deep ? 2000 : 40;
const numbers = random(seed);
const projectId = parseProjectId('acme/judged') ?? ('' as never);

/** The prices of both judges, in dollars a token. */
const price: PriceInForce = {
  promptTokenCost: 1e-6,
  cacheReadTokenCost: 1e-6,
  cacheWriteTokenCost: 1e-6,
  completionTokenCost: 4e-6,
  promptTokenCostUnit: 'USD',
  completionTokenCostUnit: 'USD',
  effectiveDate: null,
  providerId: 'p',
  level: 'default',
  levelId: 'default',
  createdAt: null,
  createdBy: 'test',
};
const usage = { prompt_tokens: 700, completion_tokens: 50 };
/** What an answer costs, in billionths of a dollar. */
const answerNanos = 700 * 1000 + 50 * 4000;
/** What one of the judges may cost: enough for a third of the calls. */
const limitUsd = (calls * answerNanos) / 3e9;

let deaths = 0;

/** One invocation of a function: it may die, and its requests may fail. */
const invocation = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
  const { result, died } = await mortalInvocation(numbers, work);
  if (died) deaths++;
  return result;
};

let stores: Stores;
let upstream: TestUpstream;
/** How often the limited judge has charged. */
let charged = 0;
beforeAll(async () => {
  stores = await createStores();
  for (const client of [stores.dynamodb, stores.s3]) {
    makeFaulty(client as SdkClient);
    makeMortal(client as SdkClient);
  }
  const answer = json({ ...completion({ content: '{"value": true, "reason": "so"}' }), model: 'm', usage });
  upstream = await startUpstream((request, res) => {
    const fate = numbers.next();
    if (fate < 0.05) return json({ error: { message: 'busy' } }, 503)(request, res);
    if (request.body.model === 'limited') charged++;
    return fate < 0.1 ? res.destroy() : answer(request, res);
  });
});
afterAll(async () => {
  await upstream[Symbol.asyncDispose]();
});

/** A queue in memory, whose client fails now and then after it has taken messages. */
const queue = () => {
  const messages: { readonly body: string; at: number; receives: number }[] = [];
  const handle = async (request: { headers: Record<string, string>; body?: unknown }) => {
    const target = request.headers['x-amz-target'] ?? '';
    const respond = (statusCode: number, body: object) => ({
      response: new HttpResponse({
        statusCode,
        headers: { 'content-type': 'application/x-amz-json-1.0' },
        body: new Blob([JSON.stringify(body)]).stream(),
      }),
    });
    if (target.endsWith('GetQueueAttributes')) return respond(200, { Attributes: { CreatedTimestamp: '0' } });
    const { Entries } = JSON.parse(String(request.body)) as {
      Entries: { Id: string; MessageBody: string }[];
    };
    // A job each: one that dies leaves the others as they are.
    for (const job of Entries.flatMap(({ MessageBody }) => fromMessage(MessageBody).jobs))
      messages.push({ body: toMessage(job.projectId, [job]), at: 0, receives: 0 });
    return numbers.chance(0.1)
      ? respond(500, { __type: 'InternalError' })
      : respond(200, { Successful: Entries.map(({ Id }) => ({ Id })), Failed: [] });
  };
  const requestHandler = { handle, metadata: { handlerProtocol: 'http/1.1' } } as never;
  const client = new SQSClient({
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 's' },
    maxAttempts: 1,
    endpoint: 'http://127.0.0.1',
    md5: false as const,
    requestHandler,
  });
  return { messages, jobs: { url: 'http://127.0.0.1/0/jobs', client: async () => client } };
};

/** The records of the stream of calls. */
const readStream = async (table: string): Promise<StreamRecord[]> => {
  const pages = await Array.fromAsync(scanTable({ client: stores.dynamodb, name: table }));
  const base64 = (image: object) =>
    JSON.parse(
      JSON.stringify(marshall(image), (_, value: unknown) =>
        value instanceof Uint8Array || (isJsonObject(value) && value.type === 'Buffer')
          ? Buffer.from((value as { data?: number[] }).data ?? (value as Uint8Array)).toString('base64')
          : value,
      ),
    ) as object;
  return pages
    .flat()
    .filter(({ p }) => p === 'S' || p === 'E')
    .map(({ k = null, p = null, ...rest }, i) => ({
      eventSourceARN: `arn:aws:dynamodb:us-east-1:0:table/${table}/stream/test`,
      dynamodb: {
        Keys: base64({ k, p }),
        NewImage: base64({ k, p, ...rest }),
        SequenceNumber: String(1000 + i),
        ApproximateCreationDateTime: 1_790_000_000,
      },
    }));
};

it(`each evaluator gives each call one verdict, and no judge passes its limit (${repeatWith})`, {
  timeout: paced(900_000),
}, async () => {
  const table = (name: string) => getStore(stores, name);
  const callStore = {
    ...table(stores.callsTable),
    bookkeeping: { client: stores.dynamodb, name: stores.rollupsTable },
  };
  const objects = table(stores.objectsTable);
  const feedback = table(stores.feedbackTable);
  const spending = { client: stores.dynamodb, name: stores.rollupsTable };
  const budget = () => requestBudget(60_000);
  const judge = (model: string) => ({
    ...politeness().judge,
    model,
    parameters: { max_completion_tokens: 60 },
  });
  const values = {
    free: politeness({ judge: judge('free'), max_usd_per_day: 1000, name: 'free' }),
    limited: politeness({ judge: judge('limited'), max_usd_per_day: limitUsd, name: 'limited' }),
    check: checking({ contains: 'Hello' }, { name: 'check' }),
  };
  for (const [objectId, val] of Object.entries(values) as [string, JsonObject][])
    await createObject(objects, { projectId, objectId, val }, 'ada', budget());
  const ids = Array.from({ length: calls }, (_, n) => `call-${n}`);
  const at = 1_790_000_000_000_000;
  const reports = ids.flatMap((id) => [
    startReport({
      projectId,
      id,
      opName: 'chat',
      traceId: id,
      parentId: null,
      threadId: null,
      turnId: null,
      startedAt: at,
      attributes: {},
      inputs: {},
    }),
    endReport({ projectId, id, endedAt: at + 1, output: 'Hello', summary: {}, exception: null }),
  ]);
  await writeCalls(callStore, reports, 'ada', budget());

  const schema = evaluator();
  const evaluators = new Evaluators({ objects, rememberedMs: 50, parse: (value) => schema.parse(value) });
  const { messages, jobs } = queue();
  const deadLetters = { url: 'none', client: () => Promise.reject(new Error('no dead letter is expected')) };
  const watch: Watch = { calls: callStore, evaluators, queue: jobs, deadLetters };
  const records = await readStream(stores.callsTable);
  // A batch comes again until it is done, and some come again although they were.
  for (let from = 0; from < records.length; from += 100) {
    const batch = records.slice(from, from + 100);
    for (let isDone = false; !isDone || numbers.chance(0.3); )
      isDone = (await invocation(() => decide(watch, batch, requestBudget(5000)))) !== undefined || isDone;
  }
  expect(messages.length).toBeGreaterThanOrEqual(3 * calls);

  const costsOfAll = (used: Parameters<typeof computeCosts>[0]) => computeCosts(used, 0, () => price);
  const judging: Judging = {
    calls: callStore,
    feedback,
    evaluators,
    spending,
    costs: async () => costsOfAll,
    prices: async () => () => price,
    inference: {
      upstreams: [
        {
          name: 'u',
          place: { speaks: 'openai', baseUrl: upstream.baseUrl },
          models: [{ match: '*' }],
          credentials: { kind: 'none' },
          firstByteMs: undefined,
        },
      ],
      keys: new SecretKeys(secretsClient),
    },
    askMs: 2000,
  };
  const leaseMs = 700;
  const lambda = async (): Promise<void> => {
    for (;;) {
      const message = messages.find(({ at }) => at <= Date.now());
      if (!message && messages.length === 0) return;
      if (!message) {
        await sleep(10);
        continue;
      }
      message.at = Date.now() + leaseMs + 50;
      message.receives++;
      const outcome = await invocation(async () => {
        const [job] = fromMessage(message.body).jobs;
        return job && judgeCall(judging, job, message.receives >= 20, requestBudget(leaseMs));
      });
      // A message that was done may come again, too.
      if (outcome && !numbers.chance(0.05)) messages.splice(messages.indexOf(message), 1);
    }
  };
  await Promise.all(Array.from({ length: 12 }, lambda));

  const found = await new FeedbackJoin(feedback, projectId, budget()).on(ids);
  const verdicts = ids.flatMap((id) => (found.get(id) ?? []).filter(isJsonObject));
  const counted = Object.groupBy(verdicts, ({ feedback_type }) => String(feedback_type));
  const counts = Object.fromEntries(Object.entries(counted).map(([type, list]) => [type, list?.length]));
  expect(counts).toEqual({
    'evaluation.free': calls,
    'evaluation.limited': calls,
    'evaluation.check': calls,
  });
  const values_ = (type: string) => (counted[type] ?? []).map(({ payload }) => (payload as JsonObject).value);
  expect(new Set(values_('evaluation.check'))).toEqual(new Set([true]));
  expect(values_('evaluation.free').filter((value) => value === true).length).toBe(calls);
  const bought = values_('evaluation.limited').filter((value) => value === true).length;
  expect(bought).toBeGreaterThan(0);
  expect(bought).toBeLessThan(calls);

  const limit = { of: 'evaluator', name: 'limited', projectId, period: 'day', usd: limitUsd } as const;
  const [sum] = await readSpent(spending, [limit], Date.now(), budget());
  expect(charged * answerNanos).toBeLessThanOrEqual(sum?.spent ?? 0);
  expect(sum?.spent).toBeLessThanOrEqual(limitUsd * 1e9);
  expect(deaths).toBeGreaterThan(calls / 4);
});
