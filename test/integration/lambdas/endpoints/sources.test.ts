import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../foundations/wire/index.ts';
import { startService, type TestService } from '../../../support/service/service.ts';

const project = 'acme/shop';
const other = 'acme/desk';

let service: TestService;
beforeAll(async () => {
  service = await startService({
    settings: { environmentSources: { '*': { ci: 'test' }, [other]: { ci: 'evaluation' } } },
  });
});
afterAll(() => service.stop());

/** The sources of a project's calls, by their names. */
const sourcesOf = async (project_id: string): Promise<JsonObject> => {
  const answer = await service.post('/calls/stats', {
    project_id,
    start: new Date(Date.now() - 3_600_000).toISOString(),
    granularity: 86_400,
    call_metrics: [{ metric: 'call_count' }],
    group_by: ['op_name', 'source'],
  });
  const { call_buckets } = (await answer.json()) as { call_buckets: JsonObject[] };
  return Object.fromEntries(call_buckets.map(({ op_name, source }) => [op_name, source ?? null]));
};

describe('the source of a call', () => {
  it('is that of its environment in the setting, of the narrowest scope that has it', async () => {
    const start = (project_id: string, op_name: string, environment: string) => ({
      mode: 'start',
      req: {
        start: { project_id, op_name, started_at: new Date().toISOString(), attributes: { environment } },
      },
    });
    const batch = [start(project, 'a', 'ci'), start(project, 'b', 'eu'), start(other, 'c', 'ci')];
    const answer = await service.post('/call/upsert_batch', { batch });
    expect(answer.status).toBe(200);
    expect(await sourcesOf(project)).toEqual({ a: 'test', b: 'production' });
    expect(await sourcesOf(other)).toEqual({ c: 'evaluation' });
  });

  it('is that of the test above a span, or of the resource', async () => {
    const now = String(Date.now() * 1_000_000);
    const traceId = '5b8aa5a2d2c872e8321cf37308d69df2';
    const times = { traceId, startTimeUnixNano: now, endTimeUnixNano: now };
    const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
    const spans = [
      { ...times, spanId: 'aaaaaaaaaaaaaaaa', parentSpanId: 'bbbbbbbbbbbbbbbb', name: 'answer' },
      {
        ...times,
        spanId: 'bbbbbbbbbbbbbbbb',
        name: 'test_answer',
        attributes: [text('pytest.nodeid', 'test_shop.py::test_answer')],
      },
    ];
    const tried = [{ ...times, spanId: 'cccccccccccccccc', name: 'tried' }];
    const resourceSpans = [
      { scopeSpans: [{ spans }] },
      { resource: { attributes: [text('source', 'trial')] }, scopeSpans: [{ spans: tried }] },
    ];
    const traced = 'acme/spans';
    const answer = await service.post(
      '/otel/v1/traces',
      { resourceSpans },
      { headers: { project_id: traced } },
    );
    expect(answer.status).toBe(200);
    expect(await sourcesOf(traced)).toEqual({ answer: 'test', test_answer: 'test', tried: 'trial' });
  });
});
