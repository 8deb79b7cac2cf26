import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../foundations/wire/index.ts';
import { newName } from '../../../../support/run/new-name.ts';
import { type SharedService, sharedService } from '../../../../support/service/service.ts';

const started = Date.now() - 600_000;

let service: SharedService;
let project: string;
beforeAll(async () => {
  service = await sharedService();
  project = newName('acme/scores');
  const answers: readonly (readonly [id: string, correct: boolean | null, helpful: number])[] = [
    ['a', true, 0.9],
    ['b', false, 0.2],
    ['c', true, 0.4],
    ['d', null, 0.9],
  ];
  const batch = answers.flatMap(([id], i) => {
    const call = { project_id: project, id };
    const started_at = new Date(started + i * 1000).toISOString();
    const ended_at = new Date(started + i * 1000 + 100 * (i + 1)).toISOString();
    return [
      { mode: 'start', req: { start: { ...call, op_name: 'answer', trace_id: id, started_at } } },
      { mode: 'end', req: { end: { ...call, ended_at } } },
    ];
  });
  expect((await service.post('/call/upsert_batch', { batch })).status).toBe(200);
  const score = (id: string, feedback_type: string, value: unknown) => ({
    project_id: project,
    svc_ref: `svc:///${project}/call/${id}`,
    feedback_type,
    payload: { value },
  });
  const scores = answers.flatMap(([id, correct, helpful]) => [
    ...(correct === null ? [] : [score(id, 'correct', !correct), score(id, 'correct', correct)]),
    score(id, 'evaluation.helpful', helpful),
  ]);
  for (const one of scores) expect((await service.post('/feedback/create', one)).status).toBe(200);
});

const path = (type: string) => ({ $getField: `feedback.[${type}].payload.value` });

const found = async (asked: object): Promise<string> => {
  const answer = await service.post('/calls/stream_query', {
    project_id: project,
    columns: ['id'],
    ...asked,
  });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  return text
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as JsonObject).id)
    .join(' ');
};

describe('scores of calls', () => {
  it('filter lists, by the latest of each type', async () => {
    const where = ($expr: object) => found({ query: { $expr } });
    expect(await where({ $eq: [path('correct'), { $literal: false }] })).toBe('b');
    expect(await where({ $lt: [path('evaluation.helpful'), { $literal: 0.5 }] })).toBe('b c');
  });

  it('sort lists', async () => {
    const sort_by = [{ field: 'feedback.[evaluation.helpful].payload.value', direction: 'asc' }];
    expect(await found({ sort_by })).toBe('b c a d');
  });

  it('group statistics of calls', async () => {
    const answer = await service.post('/calls/stats', {
      project_id: project,
      start: new Date(started - 1000).toISOString(),
      granularity: 30 * 86_400,
      call_metrics: [{ metric: 'call_count' }, { metric: 'latency_ms', aggregations: ['max'] }],
      group_by: ['op_name'],
      group_by_feedback: { feedback_type: 'correct' },
    });
    const { call_buckets } = (await answer.json()) as { call_buckets: JsonObject[] };
    expect(call_buckets.map(({ timestamp: _, ...row }) => row)).toEqual([
      { op_name: 'answer', feedback: false, sum_call_count: 1, max_latency_ms: 200 },
      { op_name: 'answer', feedback: null, sum_call_count: 1, max_latency_ms: 400 },
      { op_name: 'answer', feedback: true, sum_call_count: 2, max_latency_ms: 300 },
    ]);
  });

  it('have distributions over time', async () => {
    const answer = await service.post('/feedback/stats', {
      project_id: project,
      start: new Date(started - 1000).toISOString(),
      granularity: 30 * 86_400,
      feedback_type: 'evaluation.helpful',
      metrics: [{ json_path: 'value', distribution: true }],
    });
    const { buckets } = (await answer.json()) as { buckets: JsonObject[] };
    expect(buckets[0]?.distribution_value).toEqual([
      [0.9, 2],
      [0.2, 1],
      [0.4, 1],
    ]);
  });

  it('are counted for each type of feedback, by metrics with names', async () => {
    const metrics = [
      { json_path: 'value', name: 'number', aggregations: ['avg'] },
      { json_path: 'value', name: 'truth', value_type: 'boolean' },
    ];
    const ask = (more: object) =>
      service.post('/feedback/stats', {
        project_id: project,
        start: new Date(started - 1000).toISOString(),
        granularity: 30 * 86_400,
        metrics,
        ...more,
      });
    const { buckets } = (await (await ask({ group_by: ['feedback_type'] })).json()) as {
      buckets: JsonObject[];
    };
    expect(buckets.map(({ timestamp: _, ...row }) => row)).toEqual([
      {
        feedback_type: 'correct',
        count: 6,
        avg_number: null,
        count_true_truth: 3,
        count_false_truth: 3,
      },
      {
        feedback_type: 'evaluation.helpful',
        count: 4,
        avg_number: expect.closeTo(0.6, 9),
        count_true_truth: 0,
        count_false_truth: 0,
      },
    ]);
    const refused = await ask({ group_by: ['creator'] });
    expect(refused.status).toBe(422);
    expect(await refused.text()).toContain('feedback_type');
    const twice = await ask({ metrics: [{ json_path: 'value' }, { json_path: 'value' }] });
    expect(twice.status).toBe(422);
    expect(await twice.text()).toContain('give it a `name` of its own');
  });
});
