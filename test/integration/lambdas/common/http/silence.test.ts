import { beforeAll, describe, expect, it } from 'vitest';
import { faultPlan } from '../../../../support/faults/faulty-client.ts';
import { type Answer, type InProcess, startInProcess } from '../../../../support/service/in-process.ts';

/* What requests send while storage keeps them waiting, and how much they may answer. */

const project_id = 'acme/silence';
const count = 1500;

let service: InProcess;
beforeAll(async () => {
  service = await startInProcess({}, { silenceMs: 5, answerBytes: 200_000 });
  const batch = Array.from({ length: count }, (_, i) => [
    {
      mode: 'start',
      req: {
        start: {
          project_id,
          id: `c${i}`,
          op_name: 'o'.repeat(60),
          started_at: `2026-10-01T00:00:${10 + (i % 50)}Z`,
          inputs: { i },
        },
      },
    },
  ]).flat();
  expect((await service.send({ path: '/call/upsert_batch', body: { batch } })).status).toBe(200);
});

/** Storage that does not answer the first requests. */
const slow = () => ({ plan: faultPlan((number) => (number < 3 ? 'hang' : 'none')) });
/** Storage that never answers, and a function that soon gives up. */
const dead = () => ({ plan: faultPlan(() => 'hang'), timeMs: 1500 });

const query = {
  project_id,
  limit: 100,
  columns: ['id'],
  sort_by: [{ field: 'inputs.i', direction: 'desc' }],
};
const silentRequests = [
  ['a sorted query', '/calls/stream_query', query],
  [
    'a count',
    '/calls/query_stats',
    { project_id, query: { $expr: { $gte: [{ $getField: 'inputs.i' }, { $literal: 0 }] } } },
  ],
  ['threads', '/threads/stream_query', { project_id }],
  ['a deletion', '/calls/delete', { project_id, call_ids: ['nothing'] }],
] as const;

describe.each(silentRequests)('%s', (_, path, body) => {
  it('sends empty lines while it works, and answers as ever', async () => {
    const [quick, waiting] = await Promise.all([
      service.send({ path, body }),
      service.send({ path, body }, slow()),
    ]);
    expect(waiting).toMatchObject({ status: 200, complete: true });
    expect(waiting.text).toMatch(/^\n/);
    expect(waiting.text.trimStart()).toBe(quick.text.trimStart());
  });

  it('is broken off if it fails after them, and says why', async () => {
    const answer = await service.send({ path, body }, dead());
    expect(answer).toMatchObject({ status: 200, complete: false });
    expect(JSON.parse(answer.text)).toMatchObject({ detail: [{ type: 'storage_unavailable' }] });
  });
});

it.each(['application/jsonl', 'application/json', 'text/csv'])(
  'a reader of %s takes nothing for a record but records',
  async (accept) => {
    const sent = { path: '/calls/stream_query', body: query, headers: { accept } };
    const { text, headers } = await service.send(sent, slow());
    expect(headers['content-type']).toBe(accept);
    if (accept === 'application/json') expect(JSON.parse(text)).toHaveLength(100);
    else expect(text.split(/\r?\n/).filter(Boolean)).toHaveLength(accept === 'text/csv' ? 101 : 100);
  },
);

/** Where a message says to go on; undefined without one. */
const nextOffset = ({ text }: Answer): number | undefined => {
  const [, offset] = /continue with \\"offset\\": (\d+)/.exec(text) ?? [];
  return offset === undefined ? undefined : Number(offset);
};

describe('an export that is too long', () => {
  it.each([
    ['application/jsonl', {}],
    ['application/json', {}],
    ['text/csv', {}],
    ['application/jsonl', { sort_by: [{ field: 'started_at', direction: 'desc' }] }],
  ])('as %s goes on where its error says, until it is whole: %j', async (accept, more) => {
    const ids: string[] = [];
    const answers: Answer[] = [];
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const body = { project_id, columns: ['id'], ...more, offset };
      const answer = await service.send({ path: '/calls/stream_query', body, headers: { accept } });
      const form = accept === 'text/csv' ? /^(c\d+),/gm : /"id":"(c\d+)"/g;
      ids.push(...[...answer.text.matchAll(form)].map(([, id]) => id ?? ''));
      answers.push(answer);
      const next = nextOffset(answer);
      expect(next ?? Number.POSITIVE_INFINITY).toBeGreaterThan(offset);
      offset = next;
      expect(answer.complete).toBe(offset === undefined);
      expect(answer.text.length).toBeLessThan(201_000);
    }
    expect(answers.length).toBeGreaterThan(1);
    expect(ids).toHaveLength(count);
    expect(new Set(ids).size).toBe(count);
  });
});
