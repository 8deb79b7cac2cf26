import { expect, it } from 'vitest';
import { mcpHeaders, toolCall } from '../../../support/endpoints/agents.ts';
import { sharedService } from '../../../support/service.ts';

it('in Weave’s dialect tools take and answer its names', async () => {
  const service = await sharedService({ dialect: 'weave' });
  const project = 'acme/weave-agents';
  const call = { id: 'c', trace_id: 't', op_name: 'weave:///acme/weave-agents/op/answer:v1' };
  const start = {
    project_id: project,
    ...call,
    started_at: '2026-10-01T00:00:00Z',
    attributes: {},
    inputs: {},
  };
  const batch = [{ mode: 'start', req: { start } }];
  expect((await service.post('/call/upsert_batch', { batch })).status).toBe(200);
  const ask = async (name: string, args: object) => {
    const answer = await service.post('/mcp', toolCall(name, { project_id: project, ...args }), {
      headers: { authorization: `Bearer ${service.key}`, ...mcpHeaders },
    });
    return (await answer.json()) as { result: { structuredContent: Record<string, unknown> } };
  };
  const range = { start: '2026-09-30', end: '2026-10-02' };
  const running = { $expr: { $eq: [{ $getField: 'summary.weave.status' }, { $literal: 'running' }] } };
  const found = await ask('query_calls', { ...range, filter: { wb_user_ids: ['local'] }, query: running });
  expect(found.result.structuredContent).toMatchObject({ calls: [{ id: 'c', status: 'running' }] });
  const stats = await ask('get_stats', { ...range, group_by: ['wb_user_id'] });
  expect(stats.result.structuredContent).toMatchObject({
    calls: { columns: expect.arrayContaining(['wb_user_id']), rows: [expect.arrayContaining(['local', 1])] },
  });
  const listed = await service.post(
    '/mcp',
    { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    {
      headers: { authorization: `Bearer ${service.key}`, ...mcpHeaders },
    },
  );
  const text = await listed.text();
  expect(text).toContain('wb_user_ids');
  expect(text).not.toMatch(/svc/);
});
