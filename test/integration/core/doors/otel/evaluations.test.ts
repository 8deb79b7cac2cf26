import { expect, it } from 'vitest';
import { decodeLogs, storeRecords } from '../../../../../core/doors/otel/index.ts';
import { type FindPattern, Redactor } from '../../../../../foundations/redaction/index.ts';
import { requestBudget } from '../../../../../foundations/storage/index.ts';
import { createCallStore, project } from '../../../../support/calls.ts';
import { ask, createFeedbackStore } from '../../../../support/feedback.ts';
import { logsJson, recordJson } from '../../../../support/otel.ts';

it('a verdict that is sent again stays as it was stored, whatever redaction takes since', async () => {
  const [calls, feedback] = [await createCallStore(), await createFeedbackStore()];
  const verdict = recordJson('gen_ai.evaluation.result', {
    'gen_ai.evaluation.name': 'Tone',
    'gen_ai.evaluation.score.value': 0.5,
    'gen_ai.evaluation.explanation': 'rude',
  });
  const { records } = await decodeLogs(
    Buffer.from(JSON.stringify(logsJson(project, verdict))),
    'application/json',
    '',
  );
  const sent = records.map((record) => ({ ...record, projectId: project }));
  const whole: FindPattern = (text) => [[0, text.length]];
  const redactor = new Redactor([{ name: 'all', pattern: 'all', action: 'label' }], 'key', () => whole);
  for (const store of [feedback, { ...feedback, redactor: async () => redactor }])
    await storeRecords({ calls, feedback: store }, sent, 'ada', requestBudget(60_000));
  expect((await ask(feedback)).map(({ payload }) => payload)).toEqual([{ value: 0.5, reason: 'rude' }]);
});
