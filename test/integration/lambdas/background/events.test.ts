import type { BusEvent } from 'cdk-local-runner/streams';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventDetails } from '../../../../api/openapi/events.ts';
import { startService, type TestService } from '../../../support/service/service.ts';

let service: TestService;
const events: BusEvent[] = [];
beforeAll(async () => {
  events.length = 0;
  service = await startService({ settings: { events: true, analytics: true }, maxWindowMs: 50 });
  service.bus.subscribe((event) => events.push(event));
});
afterAll(() => service.stop());

const schemas = eventDetails();

/** The events about a call or a record, by their kinds, as they have come so far. */
const eventsAbout = (id: string) => events.filter(({ detail }) => detail.id === id);
const getKinds = (id: string) =>
  eventsAbout(id)
    .map((event) => event['detail-type'])
    .toSorted();
const eventually = (id: string, kinds: readonly string[]) => expect.poll(() => getKinds(id)).toEqual(kinds);

const project_id = 'acme/events';
const started_at = '2026-10-01T00:00:00.000000Z';
const makeStart = (id: string, fields: object = {}) => ({
  start: {
    project_id,
    id,
    trace_id: `t-${id}`,
    op_name: 'chat',
    started_at,
    inputs: { secret: 'in' },
    ...fields,
  },
});
const makeEnd = (id: string, fields: object = {}) => ({
  end: {
    project_id,
    id,
    ended_at: '2026-10-01T00:00:01.500000Z',
    output: { secret: 'out' },
    summary: { usage: { 'gpt-4o': { prompt_tokens: 1000, completion_tokens: 100 } } },
    ...fields,
  },
});
const batch = (...parts: readonly object[]) =>
  service.post('/call/upsert_batch', {
    batch: parts.map((req) => ({ mode: 'start' in req ? 'start' : 'end', req })),
  });

/** Reports a call after which nothing that came before can be under way any more. */
const barrier = async (): Promise<void> => {
  const id = `barrier-${events.length}-${Math.floor(performance.now())}`;
  await batch(makeStart(id), makeEnd(id));
  await eventually(id, ['CallEnded']);
};

describe('a call that ends', () => {
  it('is told of with its header, usage and costs, and without what it got and gave', async () => {
    await batch(makeStart('c1', { display_name: 'One', parent_id: 'p1' }), makeEnd('c1'));
    await eventually('c1', ['CallEnded']);
    const [event] = eventsAbout('c1');
    expect(event).toMatchObject({
      source: 'pennytrace',
      bus: 'default',
      detail: {
        project_id,
        op_name: 'chat',
        trace_id: 't-c1',
        parent_id: 'p1',
        display_name: 'One',
        started_at,
        ended_at: '2026-10-01T00:00:01.500000Z',
        latency_ms: 1500,
        status: 'success',
        call_ref: 'svc:///acme/events/call/c1',
        svc_user_id: 'local',
        trace_name: 'One',
        usage: { 'gpt-4o': { prompt_tokens: 1000, completion_tokens: 100 } },
        costs: { 'gpt-4o': { prompt_tokens: 1000, pricing_level: 'default' } },
        total_cost: 0.0035,
      },
    });
    expect(JSON.stringify(event)).not.toContain('secret');
  });

  it('is told of if its end comes later, alone', async () => {
    expect((await service.post('/call/start', makeStart('c2'))).status).toBe(200);
    await barrier();
    expect(getKinds('c2')).toEqual([]);
    expect((await service.post('/call/end', makeEnd('c2'))).status).toBe(200);
    await eventually('c2', ['CallEnded']);
    expect(eventsAbout('c2')[0]?.detail).toMatchObject({
      op_name: 'chat',
      latency_ms: 1500,
      total_cost: 0.0035,
    });
  });

  it('is told of if its end comes before its start', async () => {
    await service.post('/call/end', makeEnd('c3', { exception: 'it broke' }));
    await barrier();
    expect(getKinds('c3')).toEqual([]);
    await service.post('/call/start', makeStart('c3'));
    await eventually('c3', ['CallEnded', 'CallFailed']);
    expect(eventsAbout('c3')[0]?.detail).toMatchObject({ status: 'error', op_name: 'chat' });
  });

  it('is told of, and listed once, if its start finds the place that was kept for it', async () => {
    const query = { project_id, filter: { call_ids: ['c8'] } };
    const listed = async () => (await (await service.post('/calls/stream_query', query)).text()).trim();
    await service.post('/call/end', makeEnd('c8'));
    await barrier();
    expect(await listed()).toBe('');
    await service.post('/call/start', makeStart('c8'));
    await eventually('c8', ['CallEnded']);
    expect(eventsAbout('c8')[0]?.detail).toMatchObject({
      status: 'success',
      op_name: 'chat',
      latency_ms: 1500,
    });
    expect(JSON.parse(await listed())).toMatchObject({ id: 'c8', output: { secret: 'out' } });
  });

  it('is not told of if its end is deleted before its start comes', async () => {
    await service.post('/call/end', makeEnd('c9'));
    await service.post('/calls/delete', { project_id, call_ids: ['c9'] });
    await barrier();
    await service.post('/call/start', makeStart('c9'));
    await barrier();
    expect(getKinds('c9')).toEqual([]);
  });

  it('makes one more event if it fails, and one more if it is a turn', async () => {
    const turn = { thread_id: 'th', turn_id: 'c4' };
    await batch(makeStart('c4', turn), makeEnd('c4', { exception: 'no' }));
    await eventually('c4', ['CallEnded', 'CallFailed', 'TurnEnded']);
    expect(new Set(eventsAbout('c4').map(({ detail }) => detail.event_id)).size).toBe(3);
  });

  it('is told of with usage that its header has no room for', async () => {
    const usage = { 'gpt-4o': { prompt_tokens: 1000, completion_tokens: 100, note: 'n'.repeat(400) } };
    await batch(makeStart('c5'), makeEnd('c5', { summary: { usage } }));
    await eventually('c5', ['CallEnded']);
    expect(eventsAbout('c5')[0]?.detail).toMatchObject({ usage, total_cost: 0.0035 });
  });

  it('is not told of again when it is repeated, named, moved or deleted', async () => {
    await batch(makeStart('c6'), makeEnd('c6'));
    await eventually('c6', ['CallEnded']);
    await batch(makeStart('c6'), makeEnd('c6'));
    await service.post('/call/update', { project_id, call_id: 'c6', display_name: 'Six' });
    await batch(makeStart('c6', { started_at: '2026-10-01T00:00:00.100000Z', inputs: { other: 1 } }));
    await service.post('/calls/delete', { project_id, call_ids: ['c6'] });
    await barrier();
    expect(getKinds('c6')).toEqual(['CallEnded']);
  });

  it('is told of with another id when another end replaces the first', async () => {
    await batch(makeStart('c7'), makeEnd('c7'));
    await eventually('c7', ['CallEnded']);
    await service.post('/call/end', makeEnd('c7', { ended_at: '2026-10-01T00:00:09Z' }));
    await eventually('c7', ['CallEnded', 'CallEnded']);
    expect(eventsAbout('c7').map(({ detail }) => detail.latency_ms)).toEqual([1500, 9000]);
    expect(new Set(eventsAbout('c7').map(({ detail }) => detail.event_id)).size).toBe(2);
  });

  it('is told of when it comes as a span', async () => {
    const { spanExport } = await import('../../../support/otel/otel.ts');
    const answer = await service.post('/otel/v1/traces', spanExport(project_id, { text: 'hi' }));
    expect(answer.status).toBe(200);
    const spans = () =>
      events.filter(({ detail }) => detail.project_id === project_id && detail.svc_run_id === null);
    await expect
      .poll(() => spans().some(({ detail }) => /^[0-9a-f-]{16,36}$/.test(String(detail.id))))
      .toBe(true);
  });
});

describe('feedback', () => {
  const feedback = (id: string, payload: object = { score: 0.5 }) => ({
    project_id,
    id,
    svc_ref: 'svc:///acme/events/call/c1',
    feedback_type: 'judge',
    payload,
  });

  it('is told of with its payload and the call that it is on', async () => {
    expect((await service.post('/feedback/create', feedback('f1'))).status).toBe(200);
    await eventually('f1', ['FeedbackCreated']);
    expect(eventsAbout('f1')[0]?.detail).toMatchObject({
      project_id,
      feedback_type: 'judge',
      on_call: 'svc:///acme/events/call/c1',
      payload: { score: 0.5 },
    });
  });

  it('is told of once more when it is replaced, and not when it is purged', async () => {
    await service.post('/feedback/create', feedback('f2'));
    await eventually('f2', ['FeedbackCreated']);
    const replaced = { ...feedback('f3', { score: 1, text: 'x'.repeat(5000) }), feedback_id: 'f2' };
    expect((await service.post('/feedback/replace', replaced)).status).toBe(200);
    await eventually('f3', ['FeedbackCreated']);
    expect(eventsAbout('f3')[0]?.detail).toMatchObject({ payload: { score: 1, text: 'x'.repeat(5000) } });
    const query = { $expr: { $eq: [{ $getField: 'id' }, { $literal: 'f3' }] } };
    expect((await service.post('/feedback/purge', { project_id, query })).status).toBe(200);
    await barrier();
    expect([...getKinds('f2'), ...getKinds('f3')]).toEqual(['FeedbackCreated', 'FeedbackCreated']);
  });
});

describe('every event', () => {
  it('is what the schema of its kind says', () => {
    expect(events.length).toBeGreaterThan(10);
    for (const { detail, 'detail-type': kind } of events) {
      const schema = schemas[kind as keyof typeof schemas];
      expect(schema.safeParse(detail)).toMatchObject({ success: true });
      expect(Object.keys(detail).filter((name) => !(name in schema.shape))).toEqual([]);
    }
  });

  it('left no dead letter and no failure in the log', () => {
    expect(service.bus.letters).toEqual([]);
    const failures = service.logged.filter((line) => /"level":"error"|refused:|^streams:/.test(line));
    expect(failures).toEqual([]);
  });
});
