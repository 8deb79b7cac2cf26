import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newName } from '../support/run/new-name.ts';
import { newKey } from '../support/service/keys.ts';
import { startService, type TestService } from '../support/service/service.ts';
import { completion, json, startUpstream, type TestUpstream } from '../support/service/upstream.ts';
import { checking, politeness } from '../support/values/evaluators.ts';
import { axeFaults } from './support/axe.ts';
import { post as postShared } from './support/calls.ts';
import { choose } from './support/choose.ts';
import { useBrowser, type Visit } from './support/visit.ts';

const visit = useBrowser();
let service: TestService;
let upstream: TestUpstream;

/** A judge that thinks of what it sees: only what says "Go away" is not polite. */
const verdict = (polite: boolean) => ({
  ...completion({
    content: JSON.stringify({ reason: polite ? 'It greets.' : 'It is rude.', value: polite }),
  }),
  model: 'gpt-4o-mini',
  usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 },
});

beforeAll(async () => {
  upstream = await startUpstream((request, res) =>
    json(verdict(!request.text.includes('Go away')))(request, res),
  );
  service = await startService({
    settings: { evaluators: { concurrency: 2 } },
    inference: { baseUrl: upstream.baseUrl, key: 'k' },
    maxWindowMs: 50,
  });
});
afterAll(async () => {
  await service.stop();
  await upstream[Symbol.asyncDispose]();
});

const post = async (path: string, body: object): Promise<unknown> => {
  const answer = await service.post(path, body);
  expect(answer.status, `${path}: ${await answer.clone().text()}`).toBe(200);
  return answer.json();
};

/** Reports calls that end now: ids with their outputs. */
const report = (project_id: string, outputs: Readonly<Record<string, string>>) => {
  const now = new Date().toISOString();
  return post('/call/upsert_batch', {
    batch: Object.entries(outputs).flatMap(([id, output]) => {
      const at = { trace_id: id, op_name: 'chat', started_at: now, inputs: { question: `Question ${id}` } };
      return [
        { mode: 'start', req: { start: { project_id, id, ...at } } },
        { mode: 'end', req: { end: { project_id, id, ended_at: now, output, summary: {} } } },
      ];
    }),
  });
};

const feedbackIn = async (project_id: string): Promise<{ feedback_type: string }[]> =>
  ((await post('/feedback/query', { project_id })) as { result: { feedback_type: string }[] }).result;

const open = (project: string, rest = '', look: Visit = {}): Promise<Page> =>
  visit(`evaluators?project=${encodeURIComponent(project)}${rest}`, {
    base: `${service.url}/ui/`,
    as: service.key,
    ...look,
  });

describe('an evaluator', () => {
  it('is made and tried in the page, switched on, and judges what ends from then on', async () => {
    const project = newName('judged/made');
    await report(project, { a: 'Hello', b: 'Go away', c: 'Good day' });
    await report(project, { other: 'Hello' });
    const page = await open(project);
    await page.getByRole('link', { name: 'New evaluator' }).click();
    await page.getByLabel('Name', { exact: true }).fill('polite');
    await page.getByRole('button', { name: '+ Filter' }).click();
    const filter = page.getByRole('dialog', { name: 'New filter' });
    await filter.getByLabel('Column or path').fill('inputs.question');
    await choose(filter, 'Operator', 'is not');
    await filter.getByLabel('Value').fill('Question other');
    await filter.getByRole('button', { name: 'Add filter' }).click();
    await filter.waitFor({ state: 'detached' });
    await page.getByLabel('Model').fill('gpt-4o-mini');
    await page.getByLabel('Text of message 1').fill('Is this polite? ');
    await page.getByRole('button', { name: '{{output}}', exact: true }).press('Enter');
    await expect
      .poll(() => page.getByLabel('Text of message 1').inputValue())
      .toBe('Is this polite? {{output}}');
    await page.getByRole('button', { name: 'Try on 5 recent calls' }).press('Enter');
    const tried = page.getByRole('region', { name: 'Verdicts of the trial' });
    const row = tried.getByRole('row', { name: /Question b/ });
    await row.getByText('It is rude.').waitFor();
    await row.getByText('$0.0002').waitFor();
    expect(await tried.getByRole('row').count()).toBe(1 + 3);
    await page
      .getByText('Tested on the latest 3 matching calls, for $0.0006. No verdict was stored.')
      .waitFor();
    expect(await feedbackIn(project)).toEqual([]);
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
    await page.setViewportSize({ width: 1280, height: 800 });
    // Looking at a call on the way loses nothing.
    await row.getByRole('link').click();
    await page.getByRole('treeitem').first().waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Save and turn on' }).press('Enter');
    await page.getByText('There is no verdict in the last 7 days.').waitFor();
    // What ends in its first five seconds may be passed over.
    const latest = page.getByRole('region', { name: 'Latest verdicts' });
    const judged = latest.getByRole('row', { name: /Question new.* false It is rude\./ });
    let made = 0;
    const reportAndLook = async () => {
      await report(project, { [`new${made++}`]: 'Go away!' });
      return judged.count();
    };
    await expect.poll(reportAndLook, { interval: 1000 }).toBeGreaterThan(0);
    await latest.getByRole('link', { name: '$0.0002' }).first().waitFor();
    await page.getByText(/^\$0\.\d+ of \$1\.00 today$/).waitFor();
  });

  it('judges existing calls at a price that is said before, and is compared with people', async () => {
    const project = newName('judged/existing');
    await report(project, { a: 'Hello', b: 'Go away', c: 'Good day' });
    const val = politeness({ enabled: false });
    await post('/obj/create', { obj: { project_id: project, object_id: 'polite', val } });
    for (const [call, up] of Object.entries({ a: true, b: false, c: false }))
      await post('/feedback/create', {
        project_id: project,
        svc_ref: `svc:///${project}/call/${call}`,
        feedback_type: 'thumbs',
        payload: { up },
      });
    const page = await open(project);
    await page.getByRole('link', { name: 'polite' }).press('Enter');
    await page.getByRole('button', { name: 'Judge existing calls' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Judge existing calls' });
    await dialog.getByText('This evaluator is off. Turn it on first.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Judge by polite').press('Space');
    await page.getByText('on', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Judge existing calls' }).press('Enter');
    await dialog
      .getByText(/^3 calls of the latest 3 matching calls will be judged, for about \$0\.0003\.$/)
      .waitFor();
    await dialog.getByRole('button', { name: 'Judge 3 calls' }).press('Enter');
    const agreement = page.getByRole('region', { name: 'Agreement with people' });
    await agreement.getByText('67 %: 2 of 3 opinions say the same.').waitFor();
    const disagreements = page.getByRole('region', { name: 'Disagreements' });
    expect(await disagreements.getByRole('row').allInnerTexts()).toEqual([
      expect.stringContaining('Person'),
      expect.stringMatching(/Question c.*true.*thumbs down/s),
    ]);
    await agreement.getByLabel('True, or a high number, means bad').press('Space');
    await agreement.getByText('33 %: 1 of 3 opinions say the same.').waitFor();
    const results = page.getByRole('region', { name: 'Results' });
    await results.getByRole('button', { name: 'false' }).press('Enter');
    await page.getByRole('heading', { name: 'Latest verdicts: false' }).waitFor();
    const latest = page.getByRole('region', { name: 'Latest verdicts' });
    expect(await latest.getByRole('row').count()).toBe(1 + 1);
    await page.locator('.chart canvas').first().waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });

  it('is listed with what it said, and is switched by keyboard and changed', async () => {
    const project = newName('judged/listed');
    const val = checking({ contains: 'Hello' }, { name: 'greets', sample_rate: 0.5, enabled: false });
    await report(project, { a: 'Hello', b: 'Go away', c: 'Good day' });
    await post('/obj/create', { obj: { project_id: project, object_id: 'greets', val } });
    const call_ids = ['a', 'b', 'c'];
    const elsewhere = { filter: { op_names: ['another'] } };
    const narrow = politeness({ name: 'narrow', max_usd_per_day: 0.00001, ...elsewhere });
    await post('/obj/create', { obj: { project_id: project, object_id: 'narrow', val: narrow } });
    const scorer_refs = ['greets', 'narrow'].map((name) => `svc:///${project}/object/${name}:latest`);
    await post('/calls/score', { project_id: project, call_ids, scorer_refs });
    await expect.poll(async () => (await feedbackIn(project)).length).toBe(6);
    const page = await open(project);
    const failed = page.getByRole('row', { name: /narrow/ });
    await failed.getByText("the evaluator's limit of $0.00001 a day leaves $0.00001").waitFor();
    const row = page.getByRole('row', { name: /greets/ });
    await row.getByText('50 % of calls').waitFor();
    await row.getByText('check: contains “Hello”').waitFor();
    await row.getByText('33 % true').waitFor();
    await row.getByLabel('Judge by greets').press('Space');
    await row.getByText('on', { exact: true }).waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
    await page.setViewportSize({ width: 1280, height: 800 });
    await row.getByRole('link', { name: 'greets' }).click();
    await page.getByRole('link', { name: 'Edit' }).click();
    expect(await page.getByLabel('Text', { exact: true }).inputValue()).toBe('Hello');
    await page.getByLabel('Sample rate, in %').fill('12.5');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('12.5 % of calls, all sources').waitFor();
    const { obj } = (await post('/obj/read', {
      project_id: project,
      object_id: 'greets',
      digest: 'latest',
    })) as {
      obj: { val: object };
    };
    expect(obj.val).toMatchObject({ ...val, sample_rate: 0.125, enabled: true });
  });

  it('tells its verdicts from what a client wrote', async () => {
    const project = newName('judged/forged');
    await report(project, { a: 'Hello', b: 'Hello' });
    const val = checking({ contains: 'Hello' }, { name: 'greets', enabled: false });
    const saved = (await post('/obj/create', { obj: { project_id: project, object_id: 'greets', val } })) as {
      digest: string;
    };
    const runnable_ref = `svc:///${project}/object/greets:${saved.digest}`;
    await post('/calls/score', { project_id: project, call_ids: ['a'], scorer_refs: [runnable_ref] });
    await expect.poll(async () => (await feedbackIn(project)).length).toBe(1);
    await post('/feedback/create', {
      project_id: project,
      svc_ref: `svc:///${project}/call/b`,
      runnable_ref,
      feedback_type: 'evaluation.greets',
      payload: { value: true, reason: 'forged' },
    });
    const page = await open(project);
    await page.getByRole('link', { name: 'greets' }).press('Enter');
    const latest = page.getByRole('region', { name: 'Latest verdicts' });
    const forged = latest.getByRole('row', { name: /forged/ });
    await forged.getByText('written by a client').waitFor();
    await latest.getByRole('row', { name: /Question a.* true/ }).waitFor();
    expect(await latest.getByText('written by a client').count()).toBe(1);
    await forged.getByRole('link').first().click();
    await page.getByRole('tab', { name: /Feedback/ }).click();
    await page.getByText('written by a client').waitFor();
  });

  it('with a judge says before one types that it takes the role admin', async () => {
    const project = newName('judged/roles');
    const val = politeness({ enabled: false });
    await post('/obj/create', { obj: { project_id: project, object_id: 'polite', val } });
    const page = await open(project, '', { as: await newKey(service, { scope: '*', role: 'write' }) });
    await page.getByRole('link', { name: 'polite' }).waitFor();
    expect(await page.getByLabel('Judge by polite').count()).toBe(0);
    await page.getByRole('link', { name: 'New evaluator' }).click();
    await page.getByRole('button', { name: 'LLM judge' }).click();
    await page.getByText('you need the role admin').waitFor();
    expect(await page.getByRole('button', { name: 'Try on 5 recent calls' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    expect(await page.getByRole('button', { name: 'Try on 5 recent calls' }).isDisabled()).toBe(false);
    const reader = await open(project, '', { as: await newKey(service, { scope: '*', role: 'read' }) });
    await reader.getByText('This key can view evaluators.').waitFor();
    expect(await reader.getByRole('link', { name: 'New evaluator' }).count()).toBe(0);
  });

  it('that cannot judge says how the setting is switched on', async () => {
    await postShared('/obj/create', {
      obj: { project_id: 'page/evaluators', object_id: 'polite', val: politeness() },
    });
    const page = await visit('evaluators?project=page%2Fevaluators&evaluator=polite&form=true');
    await page.getByText('EVALUATORS=1 npm start').waitFor();
    expect(await page.getByRole('button', { name: 'Try on 5 recent calls' }).isDisabled()).toBe(true);
  });
});

it('nothing failed, or was refused', () => {
  expect(service.logged.filter((line) => /"level":"error"|refused:/.test(line))).toEqual([]);
});
