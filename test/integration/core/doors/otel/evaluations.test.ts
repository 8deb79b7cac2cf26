import { HttpResponse } from '@smithy/core/protocols';
import { expect, it } from 'vitest';
import { decodeExport, decodeLogs, storeRecords, storeSpans } from '../../../../../core/doors/otel/index.ts';
import { type FindPattern, Redactor } from '../../../../../foundations/redaction/index.ts';
import { requestBudget } from '../../../../../foundations/storage/index.ts';
import type { JsonObject } from '../../../../../foundations/wire/index.ts';
import { clientThrough } from '../../../../support/faults/intercepted.ts';
import {
  attributes,
  exportJson,
  logsJson,
  recordJson,
  spanJson,
  traceId,
} from '../../../../support/otel/otel.ts';
import { createCallStore, project } from '../../../../support/values/calls.ts';
import { ask, createFeedbackStore } from '../../../../support/values/feedback.ts';

/** The verdict on a tone, as a log record. */
const toned = async (explanation: string, fields: JsonObject = {}) => {
  const values = {
    'gen_ai.evaluation.name': 'Tone',
    'gen_ai.evaluation.score.value': 0.5,
    'gen_ai.evaluation.explanation': explanation,
    'gen_ai.response.id': 'resp_1',
  };
  const sent = logsJson(project, recordJson('gen_ai.evaluation.result', values, fields));
  const { records } = await decodeLogs(Buffer.from(JSON.stringify(sent)), 'application/json', '');
  return records.map((record) => ({ ...record, projectId: project }));
};

it('a verdict that is sent again stays as it was stored, whatever redaction takes since', async () => {
  const calls = await createCallStore();
  const feedback = await createFeedbackStore();
  const sent = await toned('rude');
  const whole: FindPattern = (text) => [[0, text.length]];
  const redactor = new Redactor([{ name: 'all', pattern: 'all', action: 'label' }], 'key', () => whole);
  for (const store of [feedback, { ...feedback, redactor: async () => redactor }])
    await storeRecords({ calls, feedback: store }, sent, 'ada', requestBudget(60_000));
  expect((await ask(feedback)).map(({ payload }) => payload)).toEqual([{ value: 0.5, reason: 'rude' }]);
});

it('a verdict finds the call of its answer, also if the index lags behind it', async () => {
  const calls = await createCallStore();
  const feedback = await createFeedbackStore();
  const values = { 'gen_ai.operation.name': 'chat', 'gen_ai.response.id': 'resp_1' };
  const sent = exportJson({}, [spanJson({ attributes: attributes(values) })]);
  const { spans } = await decodeExport(Buffer.from(JSON.stringify(sent)), 'application/json', '');
  await storeSpans(
    { calls, feedback },
    spans.map((span) => ({ ...span, projectId: project })),
    'ada',
    requestBudget(60_000),
  );
  let lagging = 0;
  const client = clientThrough(async (operation, input, send) => {
    if (operation !== 'Query' || !('IndexName' in input) || lagging > 0) return send();
    lagging++;
    const body = new Blob(['{"Items":[],"Count":0,"ScannedCount":0}']).stream();
    return { response: new HttpResponse({ statusCode: 200, body }) };
  });
  const late = { ...calls, table: { ...calls.table, client } };
  const records = await toned('kind', { traceId, spanId: '' });
  await storeRecords({ calls: late, feedback }, records, 'ada', requestBudget(60_000));
  expect(lagging).toBe(1);
  expect(await ask(feedback)).toHaveLength(1);
});
