import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ settings: { dialect: 'weave' } });
});
afterAll(() => service.stop());

const done = async (path: string, body: unknown) => {
  const answer = await service.post(path, body);
  expect(answer.status).toBe(200);
  return answer.json();
};

describe('a service in Weave’s dialect', () => {
  it('has keys that begin with weave', () => {
    expect(service.key).toMatch(/^weave_/);
    expect(service.service).toBe('weave');
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
      ...{ project_id: 'acme/shop', id: 'c', op_name: 'op', started_at: '2026-10-01T00:00:00Z' },
      ...{ wb_run_id: 'run', wb_run_step: 3, otel_dump: null, tomorrow: [1] },
    };
    await done('/call/start', { start });
    const { call } = (await done('/call/read', { project_id: 'acme/shop', id: 'c' })) as { call: object };
    expect(call).toMatchObject({
      wb_run_id: 'run',
      wb_run_step: 3,
      wb_user_id: 'local',
      wb_run_step_end: null,
    });
    expect(call).toMatchObject({ summary: { weave: { status: 'running' } } });
    const line = service.logged.find((text) => text.includes('"route":"/call/start"')) ?? '';
    expect(line).toContain('"passedOver":["start.otel_dump","start.tomorrow"]');
  });

  it('still refuses what it knows and cannot take', async () => {
    const answer = await service.post('/call/start', { start: { project_id: 'acme', tomorrow: 1 } });
    expect(answer.status).toBe(422);
    expect(await answer.text()).not.toContain('tomorrow');
  });
});
