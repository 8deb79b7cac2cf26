import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { localCredentials } from 'cdk-local-runner';
import type { BusEvent } from 'cdk-local-runner/streams';
import { getOutput, localRegion } from 'cdk-local-runner/template';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { compacted, fromParquet } from '../../core/workers/analytics/index.ts';
import { end, report, start } from '../support/endpoints/scenario.ts';
import { type FaultyService, startFaultyService } from '../support/faults/faulty-service.ts';
import { paced } from '../support/run/pace.ts';
import { deep, repeatWith, seed } from '../support/run/sampling.ts';
import { random } from '../support/values/random.ts';

/*
 * Clients report calls and feedback in every way, while requests to stores fail, the bus refuses
 * events and functions are killed. Each repeats what was not acknowledged, and some of what was.
 */

const calls = deep ? 600 : 30;
const project = 'acme/told';
const numbers = random(seed);

/** What functions ask of stores. The poller stands for Lambda, and setting up is no part of it. */
const ofFunctions =
  /^(?:BatchGetItem|BatchWriteItem|BatchExecuteStatement|Query|PutItem|GetObject|PutObject)$/;
let faults = 0;
let trouble = true;

const events: BusEvent[] = [];
let faulty: FaultyService;
beforeAll(async () => {
  faulty = await startFaultyService(
    ({ operation }) => {
      if (!trouble || !ofFunctions.test(operation) || !numbers.chance(0.05)) return 'none';
      faults++;
      return numbers.pick(['throttle', 'error', 'reset', 'down'] as const) ?? 'none';
    },
    undefined,
    {
      settings: { events: true, analytics: true },
      maxWindowMs: 100,
      // Each that is killed starts anew. Two of a function are enough to do things at once.
      ...(!deep && { concurrency: { maxWorkers: 2, maxWaiting: 100 } }),
      eventFate: (event) => {
        if (event.detail.id === 'refused') return 'MalformedDetail';
        return trouble && numbers.chance(0.1) ? 'ThrottlingException' : 'taken';
      },
    },
  );
  faulty.service.bus.subscribe((event) => events.push(event));
});
afterAll(() => faulty.stop());

/** Sends a request until it is acknowledged. */
const insist = async (path: string, body: object): Promise<void> => {
  for (;;) {
    const { status } = await faulty.sender.send({ path, body });
    if (status === 200) return;
    expect([429, 500, 502, 503, undefined]).toContain(status);
  }
};

const makeParts = (n: number) => {
  const id = `call-${n}`;
  const failed = n % 5 === 0;
  return {
    id,
    failed,
    first: start(project, id, { thread_id: 'th', turn_id: n % 3 === 0 ? id : 'other' }),
    last: end(project, id, { exception: failed ? 'it failed' : null, output: { n } }),
  };
};

/** Reports a call: together, apart, its end first, or both at once in two requests. */
const reportCall = async (n: number): Promise<void> => {
  const { first, last, id } = makeParts(n);
  const requests = [[[first, last]], [[first], [last]], [[last], [first]], [[first, last], [last]]][
    n % 4
  ] ?? [[first, last]];
  for (const items of requests) {
    const sent = report(...items);
    await insist(sent.path, sent.body);
  }
  if (numbers.chance(0.3)) {
    const sent = report(first, last);
    await insist(sent.path, sent.body);
  }
  if (n % 6 === 0) {
    const svc_ref = `svc:///${project}/call/${id}`;
    const record = { project_id: project, id: `note-${n}`, svc_ref, feedback_type: 'note', payload: { n } };
    await insist('/feedback/create', record);
  }
};

const expected = (): string[] =>
  Array.from({ length: calls }, (_, n) => {
    const { id, failed } = makeParts(n);
    return [
      `CallEnded ${id}`,
      ...(failed ? [`CallFailed ${id}`] : []),
      ...(n % 3 === 0 ? [`TurnEnded ${id}`] : []),
      ...(n % 6 === 0 ? [`FeedbackCreated note-${n}`] : []),
    ];
  })
    .flat()
    .toSorted();

/** What was told of so far, each id once. */
const sentIds = (): string[] =>
  [...new Map(events.map((event) => [event.detail.event_id, event])).values()]
    .map((event) => `${event['detail-type']} ${String(event.detail.id)}`)
    .toSorted();

/** What the files have as the latest state of each call: `<id> <status>`. */
const latestRows = async (): Promise<string[]> => {
  const bucket = getOutput(faulty.service.stack, 'AnalyticsBucket');
  const s3 = new S3Client({
    endpoint: inject('stores').s3,
    region: localRegion,
    credentials: localCredentials,
  });
  try {
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: 'calls/' }));
    const files = await Promise.all(
      Contents.map(async ({ Key }) => {
        const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key }));
        return fromParquet((await Body?.transformToByteArray()) ?? new Uint8Array());
      }),
    );
    return compacted(files.flat(), 0)
      .map(({ id, status }) => `${String(id)} ${String(status)}`)
      .toSorted();
  } finally {
    s3.destroy();
  }
};

const expectedRows = (): string[] =>
  Array.from({ length: calls }, (_, n) => makeParts(n))
    .map(({ id, failed }) => `${id} ${failed ? 'error' : 'success'}`)
    .toSorted();

describe('events and rows', () => {
  it(`come for everything acknowledged, under one id each (${repeatWith})`, {
    timeout: paced(900_000),
  }, async () => {
    const left = Array.from({ length: calls }, (_, n) => n);
    const client = async (): Promise<void> => {
      for (let n = left.shift(); n !== undefined; n = left.shift()) {
        await reportCall(n);
        if (n % 20 === 10) await faulty.service.killWorkers();
      }
    };
    await Promise.all(Array.from({ length: 4 }, client));
    expect(faults).toBeGreaterThan(0);
    trouble = false;
    await expect.poll(sentIds).toEqual(expected());
    await expect.poll(latestRows, { interval: 500 }).toEqual(expectedRows());
    expect(faulty.service.bus.letters).toEqual([]);
  });

  it('that the bus never takes lie in the queue, with what they are and why', async () => {
    const { service } = faulty;
    const first = start(project, 'refused', { thread_id: null, turn_id: null });
    const last = end(project, 'refused', {});
    const sent = report(first, last);
    await insist(sent.path, sent.body);
    await expect.poll(() => service.bus.letters.length).toBe(1);
    expect(JSON.parse(service.bus.letters[0] ?? '')).toMatchObject({
      reason: expect.stringContaining('MalformedDetail'),
      event: { kind: 'CallEnded', detail: { id: 'refused' } },
    });
    expect(events.filter(({ detail }) => detail.id === 'refused')).toEqual([]);
  });
});
