import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newName } from '../support/run/new-name.ts';
import { root } from '../support/run/project.ts';
import { startService, type TestService } from '../support/service/service.ts';
import { useBrowser } from './support/visit.ts';

const visit = useBrowser();
let project: string;
let at: string;
let service: TestService;

beforeAll(async () => {
  service = await startService({ settings: { evaluators: { concurrency: 2 } }, maxWindowMs: 50 });
});
afterAll(() => service.stop());
beforeAll(() => {
  project = newName('demo/loop');
  at = encodeURIComponent(project);
});

const post = async (path: string, body: object): Promise<unknown> => {
  const answer = await service.post(path, body);
  expect(answer.status, `${path}: ${await answer.clone().text()}`).toBe(200);
  return answer.json();
};

/** Reports calls that end now: questions with their answers. */
const report = (answers: readonly (readonly [id: string, question: string, output: string])[]) => {
  const now = new Date().toISOString();
  return post('/call/upsert_batch', {
    batch: answers.flatMap(([id, question, output]) => {
      const ids = { project_id: project, id };
      const start = { ...ids, trace_id: id, op_name: 'answer', started_at: now, inputs: { question } };
      return [
        { mode: 'start', req: { start } },
        { mode: 'end', req: { end: { ...ids, ended_at: now, output, summary: {} } } },
      ];
    }),
  });
};

/** Evaluates a version of the prompt on the dataset, as CI does: with what it exits. */
const evaluate = async (...args: string[]): Promise<{ code: number | null; out: string }> => {
  const own = { PENNYTRACE_URL: service.url, PENNYTRACE_KEY: service.key, PENNYTRACE_PROJECT: project };
  const script = ['clients/js/evaluate.ts', '--dataset', 'bad', ...args];
  const run = spawn(process.execPath, script, { cwd: root, env: { ...process.env, ...own } });
  const exited = new Promise<number | null>((resolve) => run.once('exit', resolve));
  const [code, out] = await Promise.all([exited, text(run.stdout), text(run.stderr)]);
  return { code, out };
};

/** Ten questions, of which nobody got the right answer. */
const questions = Array.from({ length: 10 }, (_, n) => {
  const [order, right] =
    n < 4 ? ['W1001', 'on its way'] : n < 7 ? ['W1002', 'delivered'] : ['W9999', 'unknown'];
  return { id: `bad-${n}`, question: `Where is order ${order}? It is my ${n}. try`, right };
});

it('goes from bad calls over evaluations and an evaluator to people who review', async () => {
  await report(questions.map(({ id, question }) => [id, question, 'No idea']));
  await report([['good', 'Hi', 'Hello']]);
  const options = { base: `${service.url}/ui/`, as: service.key };

  // Ten bad calls become a dataset, with what would have been right.
  const page = await visit(`traces?project=${at}`, options);
  await page.getByText('11 rows').waitFor();
  await page.getByLabel('Search in all calls').fill('No idea');
  await page.keyboard.press('Enter');
  await page.getByText('10 rows').waitFor();
  await page.getByLabel('Select all loaded rows').check();
  await page.getByRole('toolbar').getByRole('button', { name: 'Add to dataset' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add to dataset' });
  await dialog.getByLabel('Dataset', { exact: true }).fill('bad');
  for (const { question, right } of questions) {
    await dialog.getByRole('button', { name: `${question} No idea`, exact: true }).click();
    await dialog.getByLabel('Expected output').fill(right ?? '');
  }
  await dialog.getByRole('button', { name: 'Add 10 rows' }).click();
  await dialog.getByRole('link', { name: 'Open bad' }).waitFor();

  // Two versions are evaluated. CI stops the one that is worse, and the comparison names its rows.
  expect(await evaluate('--model', 'careful')).toMatchObject({ code: 0 });
  const hasty = await evaluate('--model', 'hasty', '--max-fall', '0.05');
  expect(hasty).toMatchObject({ code: 1, out: expect.stringMatching(/correct +0\.400 +1\.000 fell/) });
  await page.goto(`${options.base}evaluations?project=${at}`);
  for (const model of ['careful', 'hasty'])
    await page
      .getByRole('row', { name: new RegExp(model) })
      .getByRole('checkbox')
      .check();
  await page
    .getByRole('link', { name: /^Compare/ })
    .or(page.getByRole('button', { name: /^Compare/ }))
    .click();
  await page.getByRole('button', { name: 'Worse 6' }).click();
  const worse = page.getByRole('region', { name: 'Rows' }).getByRole('button');
  await expect.poll(() => worse.count()).toBe(6);
  const named = (await worse.allInnerTexts()).map((row) => /my (\d)\./.exec(row)?.[1]);
  expect(named.toSorted()).toEqual(['4', '5', '6', '7', '8', '9']);

  // An evaluator is made, and judges what comes then.
  await page.goto(`${options.base}evaluators?project=${at}`);
  await page.getByRole('link', { name: 'New evaluator' }).click();
  await page.getByLabel('Name', { exact: true }).fill('clueless');
  await page.getByRole('button', { name: 'Check', exact: true }).click();
  await page.getByLabel('Text', { exact: true }).fill('No idea');
  await page.getByRole('button', { name: 'Save and turn on' }).click();
  const verdicts = page.getByRole('region', { name: 'Latest verdicts' }).getByRole('row', { name: /true/ });
  let made = 0;
  // What ends in its first five seconds may be passed over.
  const reportAndLook = async () => {
    await report([[`new-${made}`, `Fresh question ${made++}`, 'No idea']]);
    return verdicts.count();
  };
  await expect.poll(reportAndLook, { interval: 1000 }).toBeGreaterThan(0);
  while (made < 5) await reportAndLook();

  // A person reviews five of them, by keyboard.
  await page.goto(`${options.base}reviews?project=${at}`);
  await page.getByRole('button', { name: 'New queue' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Clueless');
  await page.getByLabel('Text in inputs or output').fill('Fresh question');
  await page.getByLabel('Name of the field').fill('Really');
  await page.getByRole('button', { name: 'Create field' }).click();
  await page.getByRole('checkbox', { name: 'Really (yes or no)', checked: true }).waitFor();
  await page.getByRole('button', { name: 'Save the queue' }).click();
  await page.getByRole('link', { name: /^Review \d/ }).click();
  for (let done = 1; done <= 5; done++) {
    await page.getByRole('form', { name: 'Your review' }).and(page.locator(':focus')).waitFor();
    for (const key of ['y', 'Enter']) await page.keyboard.press(key);
    await page.getByRole('status').getByText(`${done} reviewed`).waitFor();
  }
  const query = { $expr: { $eq: [{ $getField: 'feedback_type' }, { $literal: 'annotation.Really' }] } };
  const { result } = (await post('/feedback/query', { project_id: project, query })) as {
    result: { payload: object }[];
  };
  expect(result.map(({ payload }) => payload)).toEqual(Array(5).fill({ value: true }));
});
