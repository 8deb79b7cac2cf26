import { beforeAll, describe, expect, it } from 'vitest';
import { agentTraces, type TracedCall } from '../../examples/agent-traces.ts';
import { runs } from '../support/run/sampling.ts';
import { type SharedService, sharedService } from '../support/service/service.ts';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

const lines = async (response: Response): Promise<Record<string, unknown>[]> =>
  (await response.text())
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const start = (fields: object = {}) => ({
  start: { project_id: 'acme/journey', op_name: 'op', started_at: '2026-10-01T00:00:00Z', ...fields },
});
const startItem = ({ start }: Pick<TracedCall, 'start'>) => ({ mode: 'start', req: { start } });
const endItem = ({ end }: Pick<TracedCall, 'end'>) => ({ mode: 'end', req: { end } });
const post = (path: string, body: unknown, init?: RequestInit) => service.post(path, body, init);

describe('traces of an agent', () => {
  const projects = {
    together: 'acme/together',
    apart: 'acme/apart',
    'ends first': 'acme/ends-first',
  } as const;

  it.each(Object.entries(projects))(
    'reported %s are read back equal, field by field',
    async (way, projectId) => {
      const calls = [...agentTraces({ projectId, conversations: runs(6, 12) })];
      for (let i = 0; i < calls.length; i += 100) {
        const batch = calls.slice(i, i + 100);
        const starts = batch.map(startItem);
        const ends = batch.map(endItem);
        const requests =
          way === 'together' ? [[...starts, ...ends]] : way === 'apart' ? [starts, ends] : [ends, starts];
        for (const request of requests) {
          const answer = await post('/call/upsert_batch', { batch: request });
          expect(answer.status).toBe(200);
          expect(((await answer.json()) as { res: unknown[] }).res).toHaveLength(request.length);
        }
      }
      const response = await post('/calls/stream_query', { project_id: projectId });
      expect(response.headers.get('content-type')).toBe('application/jsonl');
      const found = new Map((await lines(response)).map((call) => [call.id, call]));
      expect(found.size).toBe(calls.length);
      for (const { start, end } of calls) {
        expect(found.get(start.id)).toMatchObject({ ...start, ...end, svc_user_id: 'local' });
      }
    },
  );

  it('are answered one to one, in order', async () => {
    const batch = [
      { mode: 'start', req: start({ id: 'one', trace_id: 't' }) },
      { mode: 'end', req: { end: { project_id: 'acme/journey', id: 'two', ended_at: '2026-10-01' } } },
      { mode: 'start', req: start({ parent_id: 'one' }) },
    ];
    const { res } = (await (await post('/call/upsert_batch', { batch })).json()) as { res: unknown[] };
    expect(res).toEqual([
      { id: 'one', trace_id: 't' },
      {},
      { id: expect.stringMatching(/^[0-9a-f-]{36}$/), trace_id: 't' },
    ]);
  });
});

describe('one call', () => {
  it('is started, ended and read', async () => {
    const answer = (await (
      await post('/call/start', start({ inputs: { q: '日本 😀' }, svc_user_id: 'mallory' }))
    ).json()) as { id: string; trace_id: string };
    expect(answer).toEqual({ id: expect.any(String), trace_id: expect.any(String) });
    const end = {
      project_id: 'acme/journey',
      id: answer.id,
      ended_at: '2026-10-01T00:00:00.0015Z',
      output: [1e308, 2 ** 53 - 1],
    };
    expect(await (await post('/call/end', { end })).json()).toEqual({});
    const { call } = (await (
      await post('/call/read', { project_id: 'acme/journey', id: answer.id })
    ).json()) as { call: object };
    expect(call).toEqual({
      id: answer.id,
      project_id: 'acme/journey',
      op_name: 'op',
      display_name: null,
      trace_id: answer.trace_id,
      parent_id: null,
      thread_id: null,
      turn_id: null,
      started_at: '2026-10-01T00:00:00.000000Z',
      ended_at: '2026-10-01T00:00:00.001500Z',
      attributes: {},
      inputs: { q: '日本 😀' },
      output: [1e308, 2 ** 53 - 1],
      exception: null,
      summary: { svc: { status: 'success', latency_ms: 2, trace_name: 'op' } },
      svc_user_id: 'local',
      svc_run_id: null,
      svc_run_step: null,
      svc_run_step_end: null,
    });
  });
});

describe('a batch', () => {
  it('of 1,000 calls is stored completely', async () => {
    // Model calls, with the whole conversation in each, would make more than a request may have.
    const calls = [...agentTraces({ projectId: 'acme/thousand', conversations: 90, seed: 3 })]
      .filter(({ start }) => !('messages' in start.inputs))
      .slice(0, 1000);
    const answer = await post('/call/upsert_batch', {
      batch: [...calls.map(startItem), ...calls.map(endItem)],
    });
    expect(answer.status).toBe(200);
    const found = await lines(
      await post('/calls/stream_query', { project_id: 'acme/thousand', columns: [] }),
    );
    expect(found).toHaveLength(1000);
  });

  it('is accepted up to the size of an event, and a 413 beyond', async () => {
    const sized = (bytes: number) =>
      start({ project_id: 'acme/limits', inputs: { text: 'x'.repeat(bytes) } });
    expect((await post('/call/start', sized(6_280_000))).status).toBe(200);
    for (const body of [
      sized(6_291_456),
      sized(12_000_000),
      start({ inputs: { text: '"'.repeat(1_600_000) } }),
    ]) {
      const answer = await post('/call/start', body);
      expect(answer.status).toBe(413);
      expect(answer.headers.get('x-request-id')).toBeTruthy();
      expect(await answer.json()).toMatchObject({ detail: [{ loc: ['body'], type: 'too_large' }] });
    }
    expect(
      await lines(await post('/calls/stream_query', { project_id: 'acme/limits', columns: [] })),
    ).toHaveLength(1);
  });

  it('is answered completely, however long the answer', async () => {
    const child = { project_id: 'acme/answers', op_name: 'o', started_at: '2026-01-01', parent_id: 'p' };
    const batch = [
      { mode: 'start', req: start({ project_id: 'acme/answers', id: 'p', trace_id: '😀'.repeat(256) }) },
      ...Array.from({ length: 6000 }, () => ({ mode: 'start', req: { start: child } })),
    ];
    const answer = await post('/call/upsert_batch', { batch });
    expect(answer.status).toBe(200);
    expect(((await answer.json()) as { res: unknown[] }).res).toHaveLength(6001);
  });

  it('writes nothing if one item is wrong', async () => {
    const batch = [
      { mode: 'start', req: start({ project_id: 'acme/whole' }) },
      { mode: 'start', req: start({ project_id: 'acme/whole', op_name: 7 }) },
    ];
    const answer = await post('/call/upsert_batch', { batch });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toEqual({
      detail: [
        {
          loc: ['body', 'batch', '1', 'req', 'start', 'op_name'],
          msg: 'should be a string',
          type: 'string_type',
        },
      ],
    });
    expect(await lines(await post('/calls/stream_query', { project_id: 'acme/whole' }))).toEqual([]);
  });
});

describe('a stream', () => {
  it('is compressed for clients that accept it', async () => {
    const calls = [...agentTraces({ projectId: 'acme/packed', conversations: 5 })];
    await post('/call/upsert_batch', { batch: [...calls.map(startItem), ...calls.map(endItem)] });
    const body = JSON.stringify({ project_id: 'acme/packed' });
    const [plain, packed] = await Promise.all(
      ['identity', 'gzip'].map((encoding) =>
        fetch(`${service.url}/calls/stream_query`, {
          method: 'POST',
          body,
          headers: { ...headers(), 'accept-encoding': encoding },
        }),
      ),
    );
    expect(plain?.headers.get('content-encoding')).toBeNull();
    expect(packed?.headers.get('content-encoding')).toBe('gzip');
    const text = await packed?.text();
    expect(text).toBe(await plain?.text());
    expect(text?.split('\n')).toHaveLength(calls.length + 1);
  });
});

const headers = (target = service) => ({
  authorization: `Basic ${Buffer.from(`api:${target.key}`).toString('base64')}`,
  'content-type': 'application/json',
});
