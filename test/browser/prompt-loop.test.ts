import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { javascriptApp } from '../support/clients/clients.ts';
import { newName } from '../support/run/new-name.ts';
import { paced } from '../support/run/pace.ts';
import { startService, type TestService } from '../support/service/service.ts';
import {
  type Behaviour,
  completion,
  json,
  startUpstream,
  type TestUpstream,
} from '../support/service/upstream.ts';
import { choose } from './support/choose.ts';
import { useBrowser } from './support/visit.ts';

/*
 * A prompt is changed without a deployment: by people in the page, and by a program that reads it with the client of
 * JavaScript. test/integration/clients/prompts.test.ts kills the service while programs run.
 */

const visit = useBrowser();
let service: TestService;
let upstream: TestUpstream;

/** A model that is slow, talks a lot and knows little, unless it is asked to be brief. */
const model: Behaviour = async (request, res) => {
  const isBrief = request.text.includes('Be brief.');
  const number = Number(/Question (\d+)/.exec(request.text)?.[1]);
  if (!isBrief) await sleep(paced(300));
  const completion_tokens = isBrief ? 5 : 500;
  return json({
    ...completion({ content: isBrief || number < 5 ? `Answer ${number}` : 'No idea' }),
    model: 'gpt-4o-mini',
    usage: { prompt_tokens: 20, completion_tokens, total_tokens: 20 + completion_tokens },
  })(request, res);
};

let child: ChildProcess | undefined;

beforeAll(async () => {
  upstream = await startUpstream(model);
  service = await startService({ inference: { baseUrl: upstream.baseUrl, key: 'k' }, maxWindowMs: 50 });
});
afterAll(async () => {
  child?.kill('SIGKILL');
  await service.stop();
  await upstream[Symbol.asyncDispose]();
});

const post = async <Answer>(path: string, body: object): Promise<Answer> => {
  const answer = await service.post(path, body);
  expect(answer.status, `${path}: ${await answer.clone().text()}`).toBe(200);
  return (await answer.json()) as Answer;
};

/** What the program printed of a question. */
interface Answered {
  readonly version: number | null;
  readonly answer: string;
  readonly call: string;
}

/** Starts the program, and gives what asks it: who asked says whether the answer helped. */
const startProgram = async (project: string): Promise<(question: string) => Promise<Answered>> => {
  const program = join(await javascriptApp(), 'support.mjs');
  const { PATH } = process.env;
  const started = spawn(process.execPath, [program, `${service.url}/otel/v1/traces`], {
    env: {
      PATH,
      PENNYTRACE_URL: service.url,
      PENNYTRACE_KEY: service.key,
      PENNYTRACE_PROJECT: project,
      OPENAI_BASE_URL: upstream.baseUrl,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${service.key},project_id=${project}`,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child = started;
  const lines = createInterface({ input: started.stdout })[Symbol.asyncIterator]();
  return async (question) => {
    started.stdin.write(`${question}\n`);
    const { value = '' } = await lines.next();
    const answered: Answered = JSON.parse(value);
    await post('/feedback/create', {
      project_id: project,
      svc_ref: `svc:///${project}/call/${answered.call}`,
      feedback_type: 'evaluation.helpful',
      payload: { value: answered.answer !== 'No idea' },
    });
    return answered;
  };
};

/** The texts of a version's row, by the titles of the columns. */
const figuresOf = async (page: Page, version: string): Promise<Record<string, string>> => {
  const table = page.getByRole('region', { name: 'Versions' });
  const titles = await table.getByRole('columnheader').allInnerTexts();
  const texts = await table
    .getByRole('row')
    .filter({ has: page.getByRole('link', { name: version, exact: true }) })
    .getByRole('cell')
    .allInnerTexts();
  return Object.fromEntries(titles.map((title, at) => [title, texts[at]?.replace(/\s+/g, ' ').trim() ?? '']));
};

it('goes from a new version over a trial, an evaluation and a label to a program, and back by a click', async () => {
  const project = newName('demo/prompt-loop');
  const at = encodeURIComponent(project);
  const rows = Array.from({ length: 10 }, (_, n) => ({
    inputs: { question: `Question ${n}` },
    expected: `Answer ${n}`,
  }));
  const { digest } = await post<{ digest: string }>('/table/create', {
    table: { project_id: project, rows },
  });
  const val = { _type: 'Dataset', name: 'questions', rows: `svc:///${project}/table/${digest}` };
  await post('/obj/create', { obj: { project_id: project, object_id: 'questions', val } });
  await post('/prompt/create', {
    project_id: project,
    name: 'support',
    messages: [
      { role: 'system', content: 'You answer customers.' },
      { role: 'user', content: '{question}' },
    ],
    config: { model: 'gpt-4o-mini' },
    labels: ['production'],
  });

  // A program serves the version in production.
  const ask = await startProgram(project);
  for (const number of [3, 7]) expect(await ask(`Question ${number}`)).toMatchObject({ version: 0 });

  // A version is saved in the page, and tried: the call of the trial names it.
  const options = { base: `${service.url}/ui/`, as: service.key };
  const page = await visit(`prompts?project=${at}&prompt=support`, options);
  await page.getByRole('link', { name: 'Edit' }).click();
  await page.getByLabel('Text of message 1').fill('You answer customers. Be brief.');
  await page.getByRole('button', { name: 'Save version' }).click();
  await page.getByRole('region', { name: 'Differences between v0 and v1' }).getByText('Be brief.').waitFor();
  await page.getByRole('link', { name: 'Try v1' }).click();
  await page.getByRole('link', { name: 'support v1' }).waitFor();
  await page.getByRole('textbox', { name: 'question' }).fill('Question 7');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText('Answer 7').waitFor();
  await page.getByRole('link', { name: 'Open the recorded call' }).click();
  await page.getByRole('link', { name: 'prompt support v1' }).click();

  // It is evaluated on ten rows beside the one in production, and compared.
  await page.getByRole('link', { name: 'Evaluate' }).click();
  await choose(page, 'Dataset', 'questions');
  await page.getByRole('combobox', { name: 'Exact match with' }).getByText('expected').waitFor();
  await page.getByText(/^2 evaluations of 10 rows: 20 requests to models, about \$0\.\d+\.$/).waitFor();
  await page.getByRole('button', { name: 'Start' }).click();
  await page.getByText('Done.').waitFor();
  const evaluations = page.getByRole('region', { name: 'Evaluations' });
  for (const row of [/support v0 .*10 of 10 0\.50*$/, /support v1 .*10 of 10 1(\.0+)?$/])
    await evaluations.getByRole('row', { name: row }).waitFor();
  await page.getByRole('link', { name: 'Compare' }).click();
  await page.getByRole('heading', { name: 'Compare 2 evaluations' }).waitFor();
  await page.getByText('Question 7').first().waitFor();

  // It gets the label, and the running program serves it: within a minute on a quiet machine.
  await page.goto(`${options.base}prompts?project=${at}&prompt=support`);
  await page.getByRole('button', { name: 'Labels of v1' }).click();
  await page.getByRole('menuitemcheckbox', { name: /production/ }).click();
  await page.getByText('production is on v1 now.').waitFor();
  await expect.poll(async () => (await ask('Question 8')).version, { interval: 500 }).toBe(1);
  const { answer, call } = await ask('Question 9');
  expect(answer).toBe('Answer 9');

  // Its next trace is in the list, and leads to the version.
  await page.goto(`${options.base}traces?project=${at}`);
  await page.locator('.row-link', { hasText: 'support.turn' }).first().click();
  await page.getByRole('treeitem').filter({ hasText: 'chat' }).click();
  await page.waitForURL(new RegExp(call));
  await page.getByRole('link', { name: 'prompt support v1' }).click();
  await page.getByRole('region', { name: 'Version 1' }).waitFor();

  // Its figures are better than those of the version before.
  await expect
    .poll(() => figuresOf(page, 'v1'))
    .toMatchObject({
      Labels: 'production latest',
      Calls: '2',
      'Per 1,000 calls': expect.stringMatching(/^\$0\.\d+ −9\d %$/),
      p95: expect.stringMatching(/ −\d+ %$/),
      Scores: expect.stringMatching(/^helpful 100 % true ?×\d\.\d$/),
    });
  expect((await figuresOf(page, 'v0')).Scores).toMatch(/^helpful \d\d % true$/);
  const uses = page.getByRole('region', { name: 'Used in' }).getByRole('link');
  await expect
    .poll(async () => (await uses.allInnerTexts()).toSorted())
    .toEqual([
      'openai.chat.completions.create',
      'support v0 · gpt-4o-mini',
      'support v1 · gpt-4o-mini',
      'support.turn',
    ]);

  // One click moves the label back, and the program serves the former version.
  await page.getByRole('button', { name: 'Move back to v0: production' }).click();
  await page.getByText('production is on v0 now.').waitFor();
  await expect.poll(async () => (await ask('Question 8')).version, { interval: 500 }).toBe(0);
});
