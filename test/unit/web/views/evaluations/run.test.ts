import { describe, expect, it, vi } from 'vitest';
import type { Client } from '../../../../../web/api/client.ts';
import { RequestFailed } from '../../../../../web/api/http.ts';
import { isObject } from '../../../../../web/data/values.ts';
import { type Plan, parsePlan, spans, toCallId } from '../../../../../web/views/evaluations/plan.ts';
import { beginRun, EvaluationRun, isBusy } from '../../../../../web/views/evaluations/run.ts';

type Fields = Record<string, unknown>;
interface Stored extends Fields {
  id: string;
  parent_id?: string | null;
  ended_at?: string;
}

const project = 'acme/shop';
const digest = 'a'.repeat(64);

const completion = (content: string) => ({ choices: [{ message: { role: 'assistant', content } }] });

/** The status that a call has by its end. */
const withStatus = (call: Stored): Stored => ({
  ...call,
  summary: {
    svc: {
      status: call.exception ? 'error' : call.ended_at ? 'success' : 'running',
    },
  },
});

interface FakeOptions {
  readonly rows?: readonly Fields[];
  /** What the model does with a question. @default - answers `Answer <question>` */
  readonly model?: (question: string, tried: number) => unknown;
  /** What the judge says, or why it does not. */
  readonly judge?: (asked: number) => { value: unknown; error?: string };
}

/** The service, as far as a run asks it: it keeps calls, records requests, and judges. */
const fakeService = (options: FakeOptions = {}) => {
  const { rows = [{ inputs: { question: '0' }, expected: 'Answer 0' }] } = options;
  const calls = new Map<string, Stored>();
  const asked: string[] = [];
  const scored: string[] = [];
  const purged: unknown[] = [];
  const verdicts = new Map<string, Fields[]>();
  const answers: Record<string, (body: never) => unknown> = {
    '/obj/create': () => ({ digest: 'd' }),
    '/obj/read': ({ object_id }: { object_id: string }) => ({
      obj: {
        object_id,
        digest: 'd',
        val:
          object_id === 'polite'
            ? { _type: 'Evaluator', name: 'polite', judge: { answer: { type: 'boolean' } } }
            : object_id === 'questions'
              ? { rows: `svc:///${project}/table/${digest}` }
              : { dataset: `svc:///${project}/object/questions:d` },
      },
    }),
    '/prompt/read': ({ version_index }: { version_index: number }) => ({
      name: 'support',
      version_index,
      messages: [{ role: 'user', content: '{question}' }],
      variables: ['question'],
      config: {},
    }),
    '/table/query': ({ offset }: { offset: number }) => ({
      rows: offset > 0 ? [] : rows.map((val, at) => ({ digest: String(at), val })),
    }),
    '/call/upsert_batch': ({ batch }: { batch: { mode: string; req: { start: Stored; end: Stored } }[] }) => {
      for (const { req } of batch) {
        const report = req.start ?? req.end;
        calls.set(report.id, { ...calls.get(report.id), ...report });
      }
      return { res: [] };
    },
    '/calls/score': ({ call_ids }: { call_ids: string[] }) => {
      for (const id of call_ids) {
        if (verdicts.has(id)) continue;
        scored.push(id);
        const { value, error } = options.judge?.(scored.length) ?? { value: true };
        const about = {
          runnable_ref: `svc:///${project}/object/polite:d`,
          payload: { value, reason: 'Read it.', error },
        };
        verdicts.set(id, [{ id: `v-${id}`, svc_ref: `svc:///${project}/call/${id}`, ...about }]);
      }
      return {};
    },
    '/feedback/query': () => ({ result: [...verdicts.values()].flat() }),
    '/feedback/purge': (body: unknown) => {
      purged.push(body);
      verdicts.clear();
      return {};
    },
  };
  const record = (parent: string, end: Fields) => {
    const id = `recorded-${calls.size}`;
    calls.set(id, {
      id,
      parent_id: parent,
      started_at: '2026-10-01T00:00:00Z',
      ended_at: '2026-10-01T00:00:02Z',
      ...end,
    });
  };
  const client = {
    ask: async (path: string, body: never) => answers[path]?.(body),
    async *stream(_path: string, { filter }: { filter: { call_ids?: string[]; parent_ids?: string[] } }) {
      const found = [...calls.values()].filter(
        ({ id, parent_id }) =>
          filter.call_ids?.includes(id) || filter.parent_ids?.includes(String(parent_id)),
      );
      yield found.map((call) => withStatus(call));
    },
    askModel: async (
      _project: string,
      body: { messages: { content: string }[] },
      asking: { parent: { trace: string; span: string } },
    ) => {
      const question = body.messages[0]?.content ?? '';
      asked.push(question);
      const parent = toCallId(asking.parent.trace, asking.parent.span);
      const tried = asked.filter((other) => other === question).length;
      const made = await (options.model ?? ((text) => completion(`Answer ${text}`)))(question, tried);
      if (made instanceof Error) {
        if (made instanceof RequestFailed && made.status !== undefined)
          record(parent, { exception: made.message });
        throw made;
      }
      record(parent, { output: made });
      return {
        chunks: (async function* () {
          yield made;
        })(),
      };
    },
  } as unknown as Client;
  return { client, calls, asked, scored, purged, answers };
};

const plan: Plan = {
  prompt: 'support',
  version: 3,
  model: 'm',
  variables: { question: 'inputs.question' },
  exact: 'expected',
  evaluators: [],
};

const begin = async ({ client }: { client: Client }, plans: readonly Plan[] = [plan]) => {
  const dataset = { dataset: 'questions', datasetRef: `svc:///${project}/object/questions:d` };
  const ids = await beginRun(client, { project, ...dataset, plans, scorers: ['exact_match'] });
  return { ids, run: new EvaluationRun(client, project, ids, { pace: 0.001 }) };
};

const numbered = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ inputs: { question: String(n) }, expected: `Answer ${n}` }));

const callsOf = (calls: ReadonlyMap<string, Stored>, op: string) =>
  [...calls.values()].filter(({ op_name }) => String(op_name).endsWith(`/op/${op}:v1`));

describe('a run', () => {
  it('reports what runners of programs report', async () => {
    const service = fakeService({
      rows: numbered(2),
      model: (text) => completion(text === '0' ? 'Answer 0' : '?'),
    });
    const { ids, run } = await begin(service);
    await run.start();
    expect(run.store.getState()).toMatchObject({ phase: 'done', reason: undefined });
    expect(run.store.getState().parts[0]).toMatchObject({
      title: 'support v3 · m',
      rows: 2,
      done: 2,
      failed: 0,
      means: new Map([['exact_match', 0.5]]),
    });
    const root = service.calls.get(ids[0] ?? '');
    expect(root).toMatchObject({
      parent_id: null,
      inputs: { self: `svc:///${project}/object/questions-evaluation:d`, model: 'support v3 · m' },
      output: { exact_match: { mean: 0.5 }, model_latency: { mean: expect.any(Number) } },
    });
    expect(parsePlan(root?.attributes)).toEqual(plan);
    const rows = callsOf(service.calls, 'Evaluation.predict_and_score');
    expect(rows.map(({ output }) => output)).toEqual([
      { output: 'Answer 0', scores: { exact_match: 1 }, model_latency: expect.any(Number) },
      { output: '?', scores: { exact_match: 0 }, model_latency: expect.any(Number) },
    ]);
    expect(rows[0]).toMatchObject({
      parent_id: ids[0],
      inputs: { example: numbered(1)[0], model: 'support v3 · m' },
    });
    expect(callsOf(service.calls, 'exact_match').map(({ output }) => output)).toEqual([
      { value: true, reason: 'expected: Answer 0' },
      { value: false, reason: 'expected: Answer 1' },
    ]);
    const [request] = callsOf(service.calls, 'support');
    expect(request).toMatchObject({
      parent_id: rows[0]?.id,
      attributes: { source: 'evaluation', prompt: { name: 'support', version: '3' }, expected: 'Answer 0' },
      inputs: { model: 'm', messages: [{ role: 'user', content: '0' }] },
      output: completion('Answer 0'),
    });
  });

  it('stops, and another one continues without asking again', async () => {
    const gate = Promise.withResolvers<void>();
    const service = fakeService({
      rows: numbered(12),
      model: async (text) => {
        await gate.promise;
        return completion(`Answer ${text}`);
      },
    });
    const { ids, run } = await begin(service);
    const first = run.start();
    await vi.waitFor(() => expect(service.asked).toHaveLength(5));
    run.stop();
    expect(run.store.getState().phase).toBe('stopping');
    gate.resolve();
    await first;
    expect(run.store.getState()).toMatchObject({ phase: 'stopped', reason: undefined, parts: [{ done: 5 }] });

    const other = new EvaluationRun(service.client, project, ids, { pace: 0.001 });
    await other.look();
    expect(other.store.getState()).toMatchObject({ phase: 'stopped', parts: [{ done: 5, rows: 12 }] });
    await other.start();
    expect(other.store.getState().phase).toBe('done');
    expect(service.asked.toSorted()).toEqual(
      numbered(12)
        .map(({ inputs }) => inputs.question)
        .toSorted(),
    );
  });

  it('finds the answer that nobody took, even if it comes later', async () => {
    const service = fakeService({ rows: numbered(2) });
    const { ids, run } = await begin(service);
    const [id = ''] = ids;
    const trace = String(service.calls.get(id)?.trace_id);
    const at = new Date().toISOString();
    const requests = [spans.request(0), spans.request(1)].map((span) => toCallId(trace, span));
    for (const request of requests)
      service.calls.set(request, { id: request, started_at: at, attributes: { tries: 1 } });
    const recorded = (parent: string) => ({
      id: `late-${parent}`,
      parent_id: parent,
      started_at: at,
      ended_at: at,
    });
    service.calls.set('early', {
      ...recorded(requests[0] ?? ''),
      id: 'early',
      output: completion('Answer 0'),
    });
    const running = run.start();
    await vi.waitFor(() => expect(run.store.getState().parts[0]?.done).toBe(1));
    expect(isBusy(run.store.getState())).toBe(true);
    service.calls.set('late', { ...recorded(requests[1] ?? ''), output: completion('Answer 1') });
    await running;
    expect(run.store.getState().phase).toBe('done');
    expect(service.asked).toEqual([]);
  });

  it('asks again if what was asked failed, or can come no more', async () => {
    const service = fakeService({ rows: numbered(2) });
    const { ids, run } = await begin(service);
    const trace = String(service.calls.get(ids[0] ?? '')?.trace_id);
    const [one, other] = [spans.request(0), spans.request(1)].map((span) => toCallId(trace, span));
    const at = new Date().toISOString();
    service.calls.set(one ?? '', { id: one ?? '', started_at: at, attributes: { tries: 1 } });
    service.calls.set('failed', {
      id: 'failed',
      parent_id: one ?? '',
      started_at: at,
      ended_at: at,
      exception: 'gone',
    });
    const long = { started_at: '2026-01-01T00:00:00Z', attributes: { tries: 1 } };
    service.calls.set(other ?? '', { id: other ?? '', ...long });
    await run.start();
    expect(service.asked.toSorted()).toEqual(['0', '1']);
    expect(run.store.getState().phase).toBe('done');
  });

  it('waits for the last of several tries, also for one after a refusal', async () => {
    const service = fakeService({ rows: numbered(2) });
    const { ids, run } = await begin(service);
    const trace = String(service.calls.get(ids[0] ?? '')?.trace_id);
    const [one = '', other = ''] = [spans.request(0), spans.request(1)].map((span) => toCallId(trace, span));
    const at = new Date().toISOString();
    const attributes = { tries: 2 };
    service.calls.set(one, { id: one, started_at: at, attributes });
    const past = { started_at: '2026-01-01T00:00:00Z', ended_at: '2026-01-01T00:00:01Z' };
    service.calls.set('first', { id: 'first', parent_id: one, ...past, exception: 'busy' });
    service.calls.set(other, {
      id: other,
      started_at: at,
      ended_at: past.ended_at,
      attributes,
      exception: 'limit',
    });
    const running = run.start();
    await vi.waitFor(() => expect(run.store.getState().phase).toBe('running'));
    await new Promise((done) => setTimeout(done, 50));
    expect(service.asked).toEqual([]);
    for (const [n, parent_id] of [one, other].entries())
      service.calls.set(`late-${n}`, {
        id: `late-${n}`,
        parent_id,
        started_at: at,
        ended_at: at,
        output: completion(`Answer ${n}`),
      });
    await running;
    expect(run.store.getState()).toMatchObject({ phase: 'done', parts: [{ failed: 0 }] });
    expect(service.asked).toEqual([]);
  });

  it('goes on if the model fails on some rows, which score 0', async () => {
    const model = (text: string) =>
      text === '1' ? new RequestFailed('The model answered 400: no', 400) : completion(`Answer ${text}`);
    const service = fakeService({ rows: [...numbered(3), { inputs: {}, expected: 'x' }], model });
    const { run } = await begin(service);
    await run.start();
    expect(run.store.getState()).toMatchObject({
      phase: 'done',
      parts: [{ done: 4, failed: 2, means: new Map([['exact_match', 0.5]]) }],
    });
    expect(service.asked.toSorted()).toEqual(['0', '1', '2']);
    const failed = callsOf(service.calls, 'support').flatMap(({ exception }) => exception ?? []);
    expect(failed).toEqual([
      'The model answered 400: no',
      'The row has nothing for {question} in inputs.question.',
    ]);
  });

  it.each([
    ['a model that is busy', new RequestFailed('busy', 429, undefined, { afterMs: 5 })],
    ['a service that is', new RequestFailed('busy', 503)],
  ])('tries again after %s', async (_what, busy) => {
    const service = fakeService({
      rows: numbered(2),
      model: (text, tried) => (tried < 3 ? busy : completion(`Answer ${text}`)),
    });
    const { run } = await begin(service);
    await run.start();
    expect(run.store.getState()).toMatchObject({ phase: 'done', parts: [{ failed: 0 }] });
    expect(service.asked).toHaveLength(6);
  });

  it.each([
    [
      'a spending limit',
      new RequestFailed('The limit of $1 a day is spent.', 429, undefined, { isLimit: true }),
    ],
    ['a wait of an hour', new RequestFailed('Wait an hour.', 429, undefined, { afterMs: 3_600_000 })],
    ['a model that stays busy', new RequestFailed('Too many requests.', 429)],
    ['a key that was revoked', new RequestFailed('This key is not accepted.', 401)],
  ])('pauses for %s with the reason, and goes on later', async (_what, refusal) => {
    let isOver = false;
    const service = fakeService({
      rows: numbered(8),
      model: (text) => (isOver ? completion(`Answer ${text}`) : refusal),
    });
    const { ids, run } = await begin(service);
    await run.start();
    expect(run.store.getState()).toMatchObject({
      phase: 'stopped',
      reason: refusal.message,
      parts: [{ done: 0, failed: 0 }],
    });
    isOver = true;
    const later = new EvaluationRun(service.client, project, ids, { pace: 0.001 });
    await later.start();
    expect(later.store.getState()).toMatchObject({
      phase: 'done',
      reason: undefined,
      parts: [{ done: 8, failed: 0 }],
    });
  });

  it('pauses when the connection breaks, and looks for the answer before it asks again', async () => {
    let isBroken = true;
    const service = fakeService({
      model: () => (isBroken ? new RequestFailed('Cannot reach the service.') : completion('?')),
    });
    const { ids, run } = await begin(service);
    await run.start();
    expect(run.store.getState()).toMatchObject({ phase: 'stopped', reason: 'Cannot reach the service.' });
    isBroken = false;
    const trace = String(service.calls.get(ids[0] ?? '')?.trace_id);
    const at = new Date().toISOString();
    const parent_id = toCallId(trace, spans.request(0));
    service.calls.set('answered', {
      id: 'answered',
      parent_id,
      started_at: at,
      ended_at: at,
      output: completion('Answer 0'),
    });
    await run.start();
    expect(service.asked).toEqual(['0']);
    expect(run.store.getState()).toMatchObject({
      phase: 'done',
      parts: [{ means: new Map([['exact_match', 1]]) }],
    });
  });

  it('pauses when rows fail one after the other, once', async () => {
    const service = fakeService({
      rows: numbered(20),
      model: () => new RequestFailed('The model answered 404', 404),
    });
    const { run } = await begin(service);
    await run.start();
    expect(run.store.getState().phase).toBe('stopped');
    expect(run.store.getState().reason).toBe(
      '5 rows failed one after the other. The last says: The model answered 404',
    );
    expect(service.asked.length).toBeLessThan(12);
    await run.start();
    expect(run.store.getState()).toMatchObject({ phase: 'done', parts: [{ failed: 20 }] });
  });

  it('stops when nobody is there for whom it runs', async () => {
    const service = fakeService({ rows: numbered(20) });
    const { ids } = await begin(service);
    const run = new EvaluationRun(service.client, project, ids, {
      pace: 0.001,
      isWanted: () => service.asked.length < 6,
    });
    await run.start();
    expect(run.store.getState().phase).toBe('stopped');
    expect(service.asked.length).toBeLessThan(12);
  });

  it('refuses what a program runs, and what is not there', async () => {
    const service = fakeService();
    service.calls.set('program', {
      id: 'program',
      attributes: {},
      inputs: { self: 'svc:///a/b/object/c:d' },
    });
    const run = new EvaluationRun(service.client, project, ['program'], { pace: 0.001 });
    await run.start();
    expect(run.store.getState().reason).toBe(
      'A program runs this evaluation, so the page cannot continue it.',
    );
    const missing = new EvaluationRun(service.client, project, ['gone'], { pace: 0.001 });
    await missing.look();
    expect(missing.store.getState().reason).toMatch('does not exist');
  });
});

describe('evaluators of a run', () => {
  const judged = { ...plan, evaluators: [`svc:///${project}/object/polite:d`] };

  it('judge each answer once, and their verdicts are scores', async () => {
    const service = fakeService({ rows: numbered(3), judge: (asked) => ({ value: asked > 1 }) });
    const { run } = await begin(service, [judged]);
    await run.start();
    expect(service.scored).toHaveLength(3);
    expect(run.store.getState().parts[0]?.means.get('polite')).toBeCloseTo(2 / 3);
    const outputs = callsOf(service.calls, 'polite').map(({ output }) => output);
    expect(outputs).toContainEqual({ value: false, reason: 'Read it.' });
    const row = callsOf(service.calls, 'Evaluation.predict_and_score').find(({ output }) => isObject(output));
    expect(row?.output).toMatchObject({ scores: { exact_match: 1, polite: expect.any(Number) } });
  });

  it('that reach a limit pause it, and are asked again', async () => {
    const error =
      'the evaluator’s limit of $1 a day leaves $0, and this request may cost up to $1; it resets at 2026-12-01';
    const service = fakeService({
      judge: (asked) => (asked === 1 ? { value: null, error } : { value: true }),
    });
    const { run } = await begin(service, [judged]);
    await run.start();
    expect(run.store.getState()).toMatchObject({ phase: 'stopped', reason: error });
    await run.start();
    expect(service.purged).toHaveLength(1);
    expect(run.store.getState().phase).toBe('done');
    expect(service.asked).toHaveLength(1);
  });

  it('that fail score 0, and say why', async () => {
    const service = fakeService({ judge: () => ({ value: null, error: 'no answer of the form' }) });
    const { run } = await begin(service, [judged]);
    await run.start();
    expect(run.store.getState().parts[0]?.means.get('polite')).toBe(0);
    expect(callsOf(service.calls, 'polite')[0]).toMatchObject({ exception: 'no answer of the form' });
  });
});
