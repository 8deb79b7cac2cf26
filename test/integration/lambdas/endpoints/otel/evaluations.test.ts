import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../foundations/wire/index.ts';
import {
  agentJson,
  attributes,
  callId,
  exportJson,
  logsJson,
  recordJson,
  spanJson,
  startNanos,
} from '../../../../support/otel/otel.ts';
import { findLine } from '../../../../support/service/log-lines.ts';
import { bearer, keyMaker } from '../../../security/credentials.ts';
import { writerFor } from './writer.ts';

const writer = writerFor('evaluations');
const { newProject } = writer;

const send = async (signal: 'logs' | 'traces', body: JsonObject, key = writer.key) => {
  const answer = await fetch(`${writer.service.url}/otel/v1/${signal}`, {
    method: 'POST',
    headers: { authorization: bearer(key), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { partialSuccess } = (await answer.json()) as { partialSuccess?: JsonObject };
  return { status: answer.status, partialSuccess, answer };
};

interface Verdict {
  readonly id: string;
  readonly feedback_type: string;
  readonly payload: JsonObject;
  readonly svc_ref: string;
}

const readVerdicts = async (project: string): Promise<Verdict[]> => {
  const answer = await writer.service.post('/feedback/query', { project_id: project });
  const { result } = (await answer.json()) as { result: Verdict[] };
  return result;
};

/** What is said of the call of {@link spanJson}, by the types of the verdicts. */
const readPayloads = async (project: string): Promise<JsonObject> =>
  Object.fromEntries(
    (await readVerdicts(project))
      .filter(({ svc_ref: ref }) => ref === `svc:///${project}/call/${callId}`)
      .map(({ feedback_type, payload }) => [feedback_type, payload]),
  );

const result = (name: string, values: JsonObject = {}, fields: JsonObject = {}): JsonObject =>
  recordJson(
    'gen_ai.evaluation.result',
    { 'gen_ai.evaluation.name': name, 'gen_ai.evaluation.score.value': 0.5, ...values },
    fields,
  );

const spanless = { traceId: '', spanId: '' };
const ofAnswer = (name: string, fields: JsonObject = spanless) =>
  result(name, { 'gen_ai.response.id': 'resp_1' }, fields);

const answered = (project: string, fields: JsonObject = {}): JsonObject =>
  exportJson({ 'svc.project_id': project }, [
    spanJson({
      attributes: attributes({
        'gen_ai.operation.name': 'chat',
        'gen_ai.response.id': 'resp_1',
        'gen_ai.usage.input_tokens': 5,
        'gen_ai.input.messages': '[{"role":"user","content":"?"}]',
      }),
      ...fields,
    }),
  ]);

describe('the result of an evaluation', () => {
  it.each(['before', 'after', 'with'])(
    'is feedback on the call of its answer if it comes %s it',
    async (when) => {
      const project = newProject();
      const span = () => send('traces', answered(project));
      const verdicts = () =>
        send('logs', logsJson(project, ofAnswer('Tone'), ofAnswer('Wit', { spanId: '' })));
      if (when === 'before') await verdicts().then(span);
      if (when === 'after') await span().then(verdicts);
      if (when === 'with') await Promise.all([span(), verdicts()]);
      const expected = { 'evaluation.Tone': { value: 0.5 }, 'evaluation.Wit': { value: 0.5 } };
      expect(await readPayloads(project)).toEqual(expected);
      await Promise.all([span(), verdicts()]);
      expect(await readVerdicts(project)).toHaveLength(2);
    },
  );

  it('does not come back once it was deleted, if only its call is sent again', async () => {
    const project = newProject();
    await send('logs', logsJson(project, ofAnswer('Tone')));
    await send('traces', answered(project));
    const [verdict] = await readVerdicts(project);
    const query = { $expr: { $eq: [{ $getField: 'id' }, { $literal: verdict?.id ?? '' }] } };
    await writer.service.post('/feedback/purge', { project_id: project, query });
    expect(await readVerdicts(project)).toEqual([]);
    await send('traces', answered(project));
    expect(await readVerdicts(project)).toEqual([]);
  });

  it('finds the call of its answer in a project that has only had spans until then', async () => {
    const project = newProject();
    await send('traces', exportJson({ 'svc.project_id': project }, [spanJson({ spanId: '1'.repeat(16) })]));
    await send('traces', answered(project));
    await send('logs', logsJson(project, ofAnswer('Tone')));
    expect(await readPayloads(project)).toEqual({ 'evaluation.Tone': { value: 0.5 } });
  });

  it('is on the one of two spans of a request that counts tokens', async () => {
    const project = newProject();
    const wrapper = spanJson({
      spanId: '2'.repeat(16),
      startTimeUnixNano: String(startNanos - 1000n),
      attributes: attributes({ 'gen_ai.operation.name': 'chat', 'gen_ai.response.id': 'resp_1' }),
    });
    await send('traces', exportJson({ 'svc.project_id': project }, [wrapper]));
    await send('traces', answered(project));
    await send('logs', logsJson(project, ofAnswer('Tone')));
    expect(await readPayloads(project)).toEqual({ 'evaluation.Tone': { value: 0.5 } });
  });

  it('may be an event of a span, or a span in it', async () => {
    const project = newProject();
    const event = {
      timeUnixNano: String(startNanos),
      name: 'gen_ai.evaluation.result',
      attributes: attributes({ 'gen_ai.evaluation.name': 'Tone', 'gen_ai.evaluation.score.label': 'kind' }),
    };
    const inSpan = spanJson({
      spanId: '3'.repeat(16),
      parentSpanId: 'eee19b7ec3c1b174',
      name: 'gen_ai.evaluation.result',
      attributes: attributes({ 'gen_ai.evaluation.name': 'Wit', 'gen_ai.evaluation.score.value': 2 }),
    });
    for (let i = 0; i < 2; i++) {
      await send('traces', answered(project, { events: [event] }));
      await send('traces', exportJson({ 'svc.project_id': project }, [inSpan]));
    }
    expect(await readPayloads(project)).toEqual({
      'evaluation.Tone': { label: 'kind' },
      'evaluation.Wit': { value: 2 },
    });
    expect(await readVerdicts(project)).toHaveLength(2);
  });

  it('keeps what is a name, a score and a reason', async () => {
    const project = newProject();
    const { partialSuccess } = await send(
      'logs',
      logsJson(
        project,
        result('a\u0000b\n', { 'gen_ai.evaluation.score.value': 3 }),
        result('long '.repeat(1000), { 'gen_ai.evaluation.explanation': 'because' }),
        result('Zero', { 'gen_ai.evaluation.score.value': 0, 'gen_ai.evaluation.score.label': 'none' }),
      ),
    );
    expect(partialSuccess).toBeUndefined();
    expect(await readPayloads(project)).toEqual({
      'evaluation.a b': { value: 3 },
      [`evaluation.${'long '.repeat(1000)}`.slice(0, 1024)]: { value: 0.5, reason: 'because' },
      'evaluation.Zero': { value: 0, label: 'none' },
    });
  });

  it('is feedback once if a request has it twice', async () => {
    const project = newProject();
    await send('traces', answered(project));
    const sent = await send('logs', logsJson(project, ofAnswer('Tone'), ofAnswer('Tone')));
    expect(sent).toMatchObject({ status: 200, partialSuccess: undefined });
    expect(await readVerdicts(project)).toHaveLength(1);
  });

  it('is told as dropped if it is too long to wait for its call', async () => {
    const project = newProject();
    const value = randomBytes(600_000).toString('base64');
    const long = result(
      'Tone',
      { 'gen_ai.response.id': 'resp_1', 'gen_ai.evaluation.score.value': value },
      spanless,
    );
    const sent = await send('logs', logsJson(project, long, ofAnswer('Wit')));
    expect(sent).toMatchObject({
      status: 200,
      partialSuccess: {
        rejectedLogRecords: '1',
        errorMessage:
          'a gen_ai.evaluation.result is longer than 380 KB packed, and its call has not come yet',
      },
    });
    await send('traces', answered(project));
    expect(await readPayloads(project)).toEqual({ 'evaluation.Wit': { value: 0.5 } });
  });

  it("of 1970 has no id of the service's own verdicts", async () => {
    const project = newProject();
    const sent = await send('logs', logsJson(project, result('Tone', {}, { timeUnixNano: '1' })));
    expect(sent).toMatchObject({ status: 200, partialSuccess: undefined });
    expect(await readVerdicts(project)).toHaveLength(1);
    expect((await readVerdicts(project))[0]?.id).not.toMatch(/^00000000-0000-7/);
  });

  it('that is no verdict is told as dropped, with the reason', async () => {
    const project = newProject();
    const { status, partialSuccess } = await send(
      'logs',
      logsJson(
        project,
        result('Tone', { 'error.type': 'timeout' }),
        result('', {}),
        recordJson('gen_ai.evaluation.result', { 'gen_ai.evaluation.name': 'Empty' }),
        result('Nowhere', {}, spanless),
      ),
    );
    expect([status, partialSuccess?.rejectedLogRecords]).toEqual([200, '4']);
    for (const reason of ['error.type', 'gen_ai.evaluation.name', 'score.label', 'gen_ai.response.id'])
      expect(partialSuccess?.errorMessage).toContain(reason);
    expect(await readVerdicts(project)).toEqual([]);
  });

  it('needs a key that may write', async () => {
    using keys = keyMaker(writer.service);
    const { status } = await send(
      'logs',
      logsJson('acme/none', result('Tone')),
      await keys.granted('acme/*:read'),
    );
    expect(status).toBe(403);
  });

  it('costs only what is judged by an answer more units', async () => {
    const units = async (signal: 'logs' | 'traces', body: JsonObject) => {
      const { answer } = await send(signal, body);
      const { readUnits, writeUnits } = await findLine(writer.service, answer);
      return { readUnits, writeUnits };
    };
    const project = newProject();
    const bare = await units('traces', answered(newProject()));
    // The first request to a project notes it.
    expect(await units('traces', answered(project))).toEqual(bare);
    expect(bare.readUnits).toBe(0);
    expect(await units('logs', logsJson(project, result('Tone')))).toMatchObject({ readUnits: 1 });
  });
});

interface Dropped {
  readonly project_id: string;
  readonly path: string;
  readonly count: number | null;
  readonly reason: string;
}

const readDropped = async (project: string): Promise<Dropped[]> => {
  const answer = await writer.service.post('/projects/query', { include_dropped: true });
  const { dropped } = (await answer.json()) as { dropped: Dropped[] };
  return dropped.filter(({ project_id: id }) => id === project);
};

describe('an export of which something is dropped', () => {
  it('says so for log records that nobody reads, in the answer, the log and the project', async () => {
    const project = newProject();
    const sent = await send('logs', logsJson(project, recordJson('order.placed', { order: 17 }, spanless)));
    expect(sent).toMatchObject({
      status: 200,
      partialSuccess: {
        rejectedLogRecords: '1',
        errorMessage: expect.stringContaining('OTEL_LOGS_EXPORTER'),
      },
    });
    const line = await findLine(writer.service, sent.answer);
    expect(line).toMatchObject({ dropped: 1, rows: 0, reason: expect.stringContaining('log record') });
    expect(await readDropped(project)).toMatchObject([
      { path: '/otel/v1/logs', count: 1, reason: expect.stringContaining('log record') },
    ]);
  });

  it('notes nothing of what a coding agent says beside its calls', async () => {
    const project = newProject();
    const { partialSuccess } = await send(
      'logs',
      logsJson(
        project,
        agentJson('claude_code.user_prompt', { 'prompt.id': 'one' }),
        agentJson('claude_code.plugin_loaded', {}),
      ),
    );
    expect(partialSuccess).toMatchObject({ rejectedLogRecords: '1' });
    expect(await readDropped(project)).toEqual([]);
  });

  it('notes a part that could not be taken', async () => {
    const project = newProject();
    const bad = spanJson({ spanId: '0'.repeat(16) });
    await send('traces', exportJson({ 'svc.project_id': project }, [spanJson(), bad]));
    expect(await readDropped(project)).toMatchObject([{ path: '/otel/v1/traces', count: 1 }]);
  });

  it('is noted in the project of the header if it is refused, and the key may write there', async () => {
    const ours = newProject();
    const others = 'other/evaluations';
    for (const project of [ours, others]) {
      const answer = await fetch(`${writer.service.url}/otel/v1/traces`, {
        method: 'POST',
        headers: {
          authorization: bearer(writer.key),
          'content-type': 'application/json',
          project_id: project,
        },
        body: '{"resourceSpans": 7}',
      });
      expect(answer.status).toBe(400);
    }
    expect(await readDropped(ours)).toMatchObject([{ path: '/otel/v1/traces', count: null }]);
    expect(await readDropped(others)).toEqual([]);
  });

  it('is no project by itself', async () => {
    const project = newProject();
    await send('logs', logsJson(project, recordJson('order.placed', {}, spanless)));
    const answer = await writer.service.post('/projects/query', {});
    const { projects: all, ...more } = (await answer.json()) as { projects: { project_id: string }[] };
    expect(all.map(({ project_id: id }) => id)).not.toContain(project);
    expect(more).toEqual({});
  });
});
