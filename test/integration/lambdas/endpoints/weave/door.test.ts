import { beforeAll, describe, expect, it } from 'vitest';
import { type SharedService, sharedService, throughWeave } from '../../../../support/service/service.ts';

let service: SharedService;
beforeAll(async () => {
  service = throughWeave(await sharedService());
});

const done = async (path: string, body: unknown) => {
  const answer = await service.post(path, body);
  expect(answer.status).toBe(200);
  return answer.json();
};

describe('Weave’s door', () => {
  it('takes keys that begin with weave, as our own does', async () => {
    const own = await sharedService();
    const key = service.key.replace(/^svc_/, 'weave_');
    const headers = { authorization: `Basic ${btoa(`api:${key}`)}` };
    const body = { project_id: 'acme/own-door', id: 'none' };
    for (const target of [service, own])
      expect((await target.post('/call/read', body, { headers })).status).toBe(200);
  });

  it('shows what came in by our own, by OpenTelemetry, and by itself, and our own does', async () => {
    const own = await sharedService();
    const project_id = 'acme/doors';
    const call = (id: string) => ({ project_id, id, trace_id: 't', started_at: '2026-10-01T00:00:00Z' });
    const ref = (scheme: string, name: string) => `${scheme}:///${project_id}/object/${name}:v0`;
    const ofWeave = { ...call('w'), op_name: `weave:///${project_id}/op/answer:d`, wb_run_id: 'r' };
    await done('/call/start', { start: { ...ofWeave, inputs: { ref: ref('weave', 'a') } } });
    const ofOwn = { ...call('o'), op_name: 'answer', svc_run_id: 'r', inputs: { ref: ref('weave', 'a') } };
    expect((await own.post('/call/start', { start: ofOwn })).status).toBe(200);
    const span = { traceId: '5b8efff798038103d269b633813fc60c', spanId: 'eee19b7ec3c1b174', name: 'span' };
    const resource = { attributes: [{ key: 'svc.project_id', value: { stringValue: project_id } }] };
    const spans = [
      { ...span, startTimeUnixNano: '1790812800000000000', endTimeUnixNano: '1790812801000000000' },
    ];
    const traces = { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 's' }, spans }] }] };
    expect((await service.post('/agents/otel/v1/traces', traces)).status).toBe(200);
    const query = {
      project_id,
      query: { $expr: { $eq: [{ $getField: 'project_id' }, { $literal: project_id }] } },
    };
    const read = async (from: SharedService) => {
      const answer = await from.post('/calls/stream_query', query, {
        headers: { accept: 'application/json' },
      });
      const rows = (await answer.json()) as { id: string }[];
      return Object.fromEntries(rows.map((row) => [row.id.slice(0, 1), row]));
    };
    expect(await read(service)).toMatchObject({
      d: { op_name: 'span', summary: { weave: { status: 'success' } } },
      o: { inputs: { ref: ref('weave', 'a') }, wb_run_id: 'r' },
      w: {
        inputs: { ref: ref('weave', 'a') },
        op_name: ofWeave.op_name,
        summary: { weave: { trace_name: 'answer' } },
      },
    });
    expect(await read(own)).toMatchObject({
      d: { op_name: 'span', summary: { svc: { status: 'success' } } },
      o: { inputs: { ref: ref('svc', 'a') }, svc_run_id: 'r' },
      w: { inputs: { ref: ref('svc', 'a') }, op_name: `svc:///${project_id}/op/answer:d`, svc_run_id: 'r' },
    });
    const feedback = {
      project_id,
      weave_ref: `weave:///${project_id}/call/o`,
      feedback_type: 'note',
      payload: { x: 1 },
    };
    await done('/feedback/create', feedback);
    const answer = await own.post('/call/read', { project_id, id: 'o', include_feedback: true });
    expect(await answer.json()).toMatchObject({
      call: {
        summary: { svc: { feedback: [{ svc_ref: `svc:///${project_id}/call/o`, svc_user_id: 'local' }] } },
      },
    });
    const seen = await done('/call/read', { project_id, id: 'o', include_feedback: true });
    expect(seen).toMatchObject({
      call: { summary: { weave: { feedback: [{ weave_ref: feedback.weave_ref, wb_user_id: 'local' }] } } },
    });
  });

  it('has objects by the digests of the door that each came in by', async () => {
    const own = await sharedService();
    const obj = {
      project_id: 'acme/doors',
      object_id: 'x',
      val: { ref: 'weave:///acme/doors/object/y:v0', n: 1 },
    };
    const { digest } = (await done('/obj/create', { obj })) as { digest: string };
    const { val: _, ...name } = obj;
    const read = async (from: SharedService, asked: string) =>
      (await from.post('/obj/read', { ...name, digest: asked })).json();
    expect(await read(service, digest)).toMatchObject({ obj: { val: obj.val, wb_user_id: 'local' } });
    expect(await read(own, digest)).toMatchObject({
      obj: { val: { ...obj.val, ref: 'svc:///acme/doors/object/y:v0' }, svc_user_id: 'local' },
    });
    const ofOwn = (await (await own.post('/obj/create', { obj })).json()) as { digest: string };
    expect(ofOwn.digest).not.toBe(digest);
    expect(await read(service, ofOwn.digest)).toMatchObject({ obj: { version_index: 1, val: obj.val } });
  });

  it('has no other paths, and says where those are that there are', async () => {
    const answer = await service.post('/projects/query', {});
    expect([answer.status, await answer.json()]).toMatchObject([404, { detail: [{ loc: ['path'] }] }]);
  });

  it('answers records as JSON alone, in which names and refs are marked', async () => {
    const body = { project_id: 'acme/doors' };
    const accept = 'text/csv';
    const answer = await service.post('/calls/stream_query', body, { headers: { accept } });
    expect([answer.status, await answer.json()]).toMatchObject([
      406,
      { detail: [{ msg: 'should accept one of application/jsonl, application/x-ndjson, application/json' }] },
    ]);
  });

  it('tells everybody which SDKs it works with', async () => {
    const answer = await fetch(`${service.url}/server_info`);
    expect(await answer.json()).toEqual({
      min_required_weave_python_version: '0.0.0',
      trace_server_version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    });
  });

  it('tells a key of itself by GraphQL, and nobody else', async () => {
    const query = 'query DefaultEntity { viewer { username defaultEntity { name } } }';
    expect(await done('/graphql', { query })).toEqual({
      data: { viewer: { username: 'local', defaultEntity: { name: 'local' } } },
    });
    const refused = await service.post('/graphql', { query }, { headers: { authorization: 'Basic AAAA' } });
    expect(refused.status).toBe(401);
  });

  it('calls users and runs as Weave does, passes unknown fields over, and says so', async () => {
    const start = {
      project_id: 'acme/own-door',
      id: 'c',
      op_name: 'op',
      started_at: '2026-10-01T00:00:00Z',
      wb_run_id: 'run',
      wb_run_step: 3,
      otel_dump: null,
      tomorrow: [1],
    };
    await done('/call/start', { start });
    const { call } = (await done('/call/read', { project_id: 'acme/own-door', id: 'c' })) as { call: object };
    expect(call).toMatchObject({
      wb_run_id: 'run',
      wb_run_step: 3,
      wb_user_id: 'local',
      wb_run_step_end: null,
    });
    expect(call).toMatchObject({ summary: { weave: { status: 'running' } } });
    const ours = service.logged.filter((text) => text.includes('acme/own-door'));
    const line = ours.find((text) => text.includes('"route":"/weave/call/start"')) ?? '';
    expect(line).toContain('"passedOver":["start.otel_dump","start.tomorrow"]');
  });

  it('still refuses what it knows and cannot take', async () => {
    const answer = await service.post('/call/start', { start: { project_id: 'acme', tomorrow: 1 } });
    expect(answer.status).toBe(422);
    expect(await answer.text()).not.toContain('tomorrow');
  });
});

describe('calls at the paths of version 2', () => {
  const project = 'acme/v2';
  const whole = <T extends object>(id: string, more?: T) => ({
    project_id: project,
    id,
    op_name: 'answer',
    trace_id: `trace-${id}`,
    started_at: '2026-10-01T00:00:00Z',
    ended_at: '2026-10-01T00:00:01.5Z',
    attributes: { weave: { source: 'sdk' } },
    inputs: { q: 1 },
    output: { a: [2] },
    summary: { usage: { m: { requests: 1 } } },
    wb_run_step: 1,
    wb_run_step_end: 2,
    ...more,
  });
  const read = async (id: string) =>
    (await done('/call/read', { project_id: project, id })) as { call: object };

  it('are stored whole, as a start and an end would be', async () => {
    const batch = [whole('a'), whole('b', { exception: 'boom', parent_id: 'a', trace_id: 'trace-a' })];
    expect(await done('/v2/acme/v2/calls/complete', { batch })).toEqual({});
    const { project_id: _, ...reported } = whole('a');
    expect(await read('a')).toMatchObject({
      call: {
        ...reported,
        started_at: '2026-10-01T00:00:00.000000Z',
        ended_at: '2026-10-01T00:00:01.500000Z',
        summary: { usage: { m: { requests: 1 } }, weave: { status: 'success', latency_ms: 1500 } },
      },
    });
    expect(await read('b')).toMatchObject({
      call: { exception: 'boom', summary: { weave: { status: 'error' } } },
    });
  });

  it('are refused when they are of another project than the path, and nothing is stored', async () => {
    const answer = await service.post('/v2/acme/other/calls/complete', { batch: [whole('elsewhere')] });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ detail: [{ loc: ['body', 'batch', '0', 'project_id'] }] });
    expect(await read('elsewhere')).toEqual({ call: null });
  });

  it('start and end apart; an end may bring a name to show', async () => {
    const { ended_at, output, summary, wb_run_step_end: _, ...start } = whole('c');
    expect(await done('/v2/acme/v2/call/start', { start })).toEqual({ id: 'c', trace_id: 'trace-c' });
    const { started_at, trace_id } = start;
    const end = { project_id: project, id: 'c', ended_at, output, summary, started_at, trace_id };
    expect(await done('/v2/acme/v2/call/end', { end: { ...end, display_name: 'shown\nhere' } })).toEqual({});
    expect(await read('c')).toMatchObject({
      call: { display_name: 'shown here', output, ended_at: expect.any(String) },
    });
    await done('/call/update', { project_id: project, call_id: 'c', display_name: '', wb_user_id: 'x' });
    expect(await read('c')).toMatchObject({ call: { display_name: null } });
    const batch = [
      { mode: 'start', req: { start: { ...start, id: 'both' } } },
      { mode: 'end', req: { end: { ...end, id: 'both', display_name: 'in one batch' } } },
    ];
    await done('/call/upsert_batch', { batch });
    expect(await read('both')).toMatchObject({ call: { display_name: 'in one batch', output } });
  });

  it('have names that are made to fit, so that no name costs a batch', async () => {
    const names = { op_name: 'two\nlines', display_name: 'é'.repeat(2000), thread_id: '' };
    await done('/call/upsert_batch', {
      batch: [
        {
          mode: 'start',
          req: { start: { ...names, project_id: project, id: 'd', started_at: '2026-10-01' } },
        },
      ],
    });
    expect(await read('d')).toMatchObject({
      call: { op_name: 'two lines', display_name: 'é'.repeat(1024), thread_id: null },
    });
  });
});
