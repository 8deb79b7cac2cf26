import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newName } from '../support/run/new-name.ts';
import { startService, type TestService } from '../support/service/service.ts';
import {
  type Behaviour,
  completion,
  json,
  startUpstream,
  type TestUpstream,
} from '../support/service/upstream.ts';
import { politeness } from '../support/values/evaluators.ts';
import { axeFaults } from './support/axe.ts';
import { choose } from './support/choose.ts';
import { reader, useBrowser, type Visit } from './support/visit.ts';

const visit = useBrowser();
let service: TestService;
let upstream: TestUpstream;

const answer = (content: string) => ({
  ...completion({ content }),
  model: 'gpt-4o-mini',
  usage: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 },
});

/** A model that knows the answer if it is asked briefly, or if the number is small; and a judge of it. */
const model: Behaviour = (request, res) => {
  if (request.text.includes('Is this polite?'))
    return json(answer(JSON.stringify({ reason: 'Read it.', value: !request.text.includes('No idea') })))(
      request,
      res,
    );
  const number = Number(/Question (\d+)/.exec(request.text)?.[1]);
  const knows = request.text.includes('briefly') || number < 5;
  return json(answer(knows ? `Answer ${number}` : 'No idea'))(request, res);
};

beforeAll(async () => {
  upstream = await startUpstream(model);
  service = await startService({
    settings: { limits: true, evaluators: { concurrency: 2 } },
    inference: { baseUrl: upstream.baseUrl, key: 'k' },
    maxWindowMs: 50,
  });
});
afterAll(async () => {
  await service.stop();
  await upstream[Symbol.asyncDispose]();
});

const post = async <Answer>(path: string, body: object): Promise<Answer> => {
  const answer = await service.post(path, body);
  expect(answer.status, `${path}: ${await answer.clone().text()}`).toBe(200);
  return (await answer.json()) as Answer;
};

const create = (project_id: string, object_id: string, val: object) =>
  post('/obj/create', { obj: { project_id, object_id, val } });

/** A project with ten questions and two versions of a prompt. */
const makeProject = async (name: string): Promise<string> => {
  const project_id = newName(`judged/${name}`);
  const rows = Array.from({ length: 10 }, (_, n) => ({
    inputs: { question: `Question ${n}` },
    expected: `Answer ${n}`,
  }));
  const { digest } = await post<{ digest: string }>('/table/create', { table: { project_id, rows } });
  const table = `svc:///${project_id}/table/${digest}`;
  await create(project_id, 'questions', { _type: 'Dataset', name: 'questions', rows: table });
  for (const text of ['Answer {question}', 'Answer briefly: {question}'])
    await post('/prompt/create', {
      project_id,
      name: 'support',
      messages: [{ role: 'user', content: text }],
      config: { model: 'gpt-4o-mini', parameters: { temperature: 0 } },
    });
  return project_id;
};

const open = (project: string, rest = '', look: Visit = {}): Promise<Page> =>
  visit(`evaluate?project=${encodeURIComponent(project)}${rest}`, {
    base: `${service.url}/ui/`,
    as: service.key,
    ...look,
  });

const chats = (project: string) =>
  upstream.requests.filter(({ text }) => text.includes('Question') && !text.includes('polite?')).length -
  (before.get(project) ?? 0);
/** How many requests there were before a project's own. */
const before = new Map<string, number>();

interface StoredCall {
  readonly op_name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly exception?: string;
  readonly output?: unknown;
}

const callsIn = async (project_id: string, filter: object): Promise<StoredCall[]> => {
  const response = await service.post('/calls/stream_query', { project_id, filter });
  return (await response.text())
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
};

describe('a prompt against a dataset', () => {
  it('is priced, run, stopped, continued after a reload, and compared', async () => {
    const project = await makeProject('whole');
    await create(project, 'polite', politeness({ sample_rate: 0 }));
    before.set(project, chats(''));
    const page = await open(project);
    await choose(page, 'Prompt', 'support');
    await page.getByLabel('v0 ·').check();
    await page.getByLabel('v1 · latest').check();
    await choose(page, 'Dataset', 'questions');
    await page.getByText('10 rows', { exact: true }).waitFor();
    await page.getByRole('combobox', { name: '{question}' }).getByText('inputs.question').waitFor();
    await page.getByRole('combobox', { name: 'Exact match with' }).getByText('expected').waitFor();
    await page.getByLabel('polite').check();
    await page.getByText(/^2 evaluations of 10 rows: 40 requests to models, about \$0\.\d+\.$/).waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
    await page.setViewportSize({ width: 1280, height: 800 });

    // The model takes its time from the eighth question on.
    const gate = Promise.withResolvers<void>();
    upstream.behave(async (request, res) => {
      if (chats(project) > 7) await gate.promise;
      return model(request, res);
    });
    await page.getByRole('button', { name: 'Start' }).click();
    await page.waitForURL(/runs=/);
    await expect.poll(() => chats(project)).toBeGreaterThan(7);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopping: answers that are on their way are still taken.').waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
    await page.setViewportSize({ width: 1280, height: 800 });
    gate.resolve();
    await page.getByText('Stopped. What was answered is kept').waitFor();
    const asked = chats(project);
    expect(asked).toBeLessThan(20);
    await page.reload();
    await page.getByText('Stopped. What was answered is kept').waitFor();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('Done.').waitFor();
    // Nothing was asked twice.
    expect(chats(project)).toBe(20);
    const table = page.getByRole('region', { name: 'Evaluations' });
    await table.getByRole('row', { name: /support v0 · gpt-4o-mini .*10 of 10 0\.50* 0\.50*$/ }).waitFor();
    await table
      .getByRole('row', { name: /support v1 · gpt-4o-mini .*10 of 10 1(\.0+)? 1(\.0+)?$/ })
      .waitFor();

    await page.getByRole('link', { name: 'Compare' }).click();
    await page.getByRole('heading', { name: 'Compare 2 evaluations' }).waitFor();
    await page.getByText('support v1 · gpt-4o-mini').first().waitFor();
    await page.getByText('Question 7').first().waitFor();

    const models = await callsIn(project, { op_names: ['openai.chat.completions.create'] });
    expect(models).toHaveLength(20);
    expect(
      new Set(models.map(({ attributes: { source, prompt } }) => JSON.stringify([source, prompt]))),
    ).toEqual(
      new Set(['0', '1'].map((version) => JSON.stringify(['evaluation', { name: 'support', version }]))),
    );
    const judges = await callsIn(project, { op_names: ['Evaluator.judge'] });
    expect(judges.map(({ attributes }) => attributes.source)).toEqual(Array(20).fill('judge'));
    const roots = await callsIn(project, { op_names: [`svc:///${project}/op/Evaluation.evaluate:*`] });
    expect(roots.map(({ output }) => output)).toContainEqual({
      exact_match: { mean: 0.5 },
      polite: { mean: 0.5 },
      model_latency: { mean: expect.any(Number) },
    });
  });

  it('goes on while its reader is elsewhere, and where the model fails on some rows', async () => {
    const project = await makeProject('failing');
    before.set(project, chats(''));
    const gate = Promise.withResolvers<void>();
    upstream.behave(async (request, res) => {
      await gate.promise;
      return /Question [37]/.test(request.text)
        ? json({ error: { message: 'I do not talk about this.' } }, 400)(request, res)
        : model(request, res);
    });
    const rest = '&prompt=support&versions=1&dataset=questions';
    const page = await open(project, rest, { expected: /400/ });
    await page.getByText(/^1 evaluation of 10 rows: 10 requests to models, about \$0\.\d+\.$/).waitFor();
    await page.getByRole('button', { name: 'Start' }).click();
    await page.waitForURL(/runs=/);
    // It goes on while somebody looks elsewhere.
    await page.getByRole('link', { name: 'Datasets' }).click();
    await page.getByRole('heading', { name: 'Datasets' }).waitFor();
    gate.resolve();
    await expect.poll(() => chats(project)).toBe(10);
    await page.goBack();
    await page.getByText('Done.').waitFor();
    await page.getByText('A row failed: The model answered 400: I do not talk about this.').waitFor();
    await page.getByRole('row', { name: /support v1 · gpt-4o-mini .*10 of 10 2 failed 0\.80*$/ }).waitFor();
    await page.getByRole('link', { name: 'Rows and scores' }).click();
    await page.getByRole('button', { name: 'Failed 2' }).waitFor();
  });

  it('pauses at a spending limit with the reason, and goes on when there is more', async () => {
    const project = await makeProject('limited');
    upstream.behave(model);
    const limit = (usd_per_day: number) =>
      create(project, 'limits', { _type: 'Limits', usd_per_day, saved_at: new Date().toISOString() });
    await limit(0.000_001);
    const page = await open(project, '&prompt=support&versions=[0]&dataset=questions', { expected: /429/ });
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByText(/limit of \$0\.000001 a day leaves/).waitFor();
    await page.getByText('Stopped. What was answered is kept').waitFor();
    await page.getByText('0 of 10').first().waitFor();
    await limit(100);
    await page.reload();
    // A changed limit counts within some seconds.
    await expect
      .poll(async () => {
        const more = page.getByRole('button', { name: 'Continue' });
        if (await more.isVisible()) await more.click();
        return page.getByText('Done.').isVisible();
      })
      .toBe(true);
    const rows = page.getByRole('row', { name: /support v0/ });
    expect(await rows.getByText('failed').count()).toBe(0);
    const requests = await callsIn(project, { op_names: [`svc:///${project}/op/support:v1`] });
    expect(requests.map(({ exception }) => exception ?? null)).toEqual(Array(10).fill(null));
  });

  it('says which models have no price, and leaves many rows to a program', async () => {
    const project = await makeProject('many');
    const rows = Array.from({ length: 201 }, (_, n) => ({ inputs: { question: `${n}` }, expected: '' }));
    const { digest } = await post<{ digest: string }>('/table/create', {
      table: { project_id: project, rows },
    });
    const table = `svc:///${project}/table/${digest}`;
    await create(project, 'many', { _type: 'Dataset', name: 'many', rows: table });
    const page = await open(project, '&prompt=support&versions=1&dataset=many');
    await page.getByText('201 rows').waitFor();
    await choose(page, 'Dataset', 'questions');
    await page.getByLabel('Models').fill('no-price');
    await page.keyboard.press('Enter');
    await page.getByText('10 requests to models, whose price is not known.').waitFor();
    await page.getByText('no-price has no price in dollars').waitFor();
    await choose(page, 'Dataset', 'many');
    await page.getByText("npx node clients/js/evaluate.ts --dataset 'many'").waitFor();
    expect(await page.getByRole('button', { name: 'Start' }).isDisabled()).toBe(true);
  });

  it('says to those who may only read what they lack', async () => {
    const page = await visit(`evaluate?project=${encodeURIComponent('page/evaluate')}`, { as: reader });
    await page.getByText('This needs the role inference and write on page/evaluate.').waitFor();
    expect(await page.getByRole('button', { name: 'Start' }).isDisabled()).toBe(true);
  });
});
