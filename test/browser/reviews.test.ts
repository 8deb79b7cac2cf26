import { beforeAll, describe, expect, it } from 'vitest';
import { newName } from '../support/run/new-name.ts';
import { sharedService, throughWeave } from '../support/service/service.ts';
import { axeFaults } from './support/axe.ts';
import { atPresent, post, report, turn } from './support/calls.ts';
import { choose } from './support/choose.ts';
import { focused } from './support/focus.ts';
import { reader, useBrowser, writer } from './support/visit.ts';

const visit = useBrowser();
let project: string;
let at: string;

const store = (object_id: string, val: object) =>
  post('/obj/create', { obj: { project_id: project, object_id, val } });

const ref = (field: string) => `svc:///${project}/object/${field}:latest`;

/** A queue of the traces whose question holds a word. */
const createQueue = (id: string, word: string, fields: object = {}) =>
  store(id, {
    _type: 'ReviewQueue',
    name: `Queue ${id}`,
    filter: { trace_roots_only: true },
    query: {
      $expr: { $contains: { input: { $getField: 'inputs.question' }, substr: { $literal: word } } },
    },
    fields: [ref('Correct'), ref('Tone'), ref('Stars'), ref('Why')],
    ...fields,
  });

/** What is stored of the answers on a call. */
const answersOn = async (call: string) => {
  const query = {
    $expr: { $eq: [{ $getField: 'svc_ref' }, { $literal: `svc:///${project}/call/${call}` }] },
  };
  const { result } = (await post('/feedback/query', { project_id: project, query })) as {
    result: { feedback_type: string; payload: { value: unknown }; svc_user_id: string }[];
  };
  return result.map(({ feedback_type, payload: { value } }) => [feedback_type, value]);
};

beforeAll(async () => {
  project = newName('page/reviews');
  at = encodeURIComponent(project);
  const specs = {
    Correct: { type: 'boolean' },
    Tone: { type: 'string', enum: ['polite', 'plain', 'rude'] },
    Stars: { type: 'integer', minimum: 1, maximum: 5 },
    Why: { type: 'string' },
  };
  for (const [name, field_schema] of Object.entries(specs))
    await store(name, { _type: 'AnnotationSpec', name, field_schema });
  const asked = (word: string, count: number) =>
    Array.from({ length: count }, (_, n) => ({
      id: `${word}-${n}`,
      at: n,
      inputs: { question: `${word} ${n}?` },
      output: `${word} answer ${n}`,
    }));
  await report(project, [
    ...asked('keyboard', 3),
    ...asked('pair', 4),
    ...asked('dataset', 2),
    ...turn('told', 5000),
  ]);
  await createQueue('keyboard', 'keyboard');
  await createQueue('pair', 'pair', { fields: [ref('Correct')], reviews: 2 });
  await createQueue('dataset', 'dataset', { fields: [ref('Why')] });
  await createQueue('told', 'order 4711', { fields: [ref('Correct')], assignees: ['local'] });
});

describe('a queue', () => {
  it('is made on the page, with a filter and a new field, and changed', async () => {
    // Who has reported of late is suggested.
    await report(project, [{ id: 'late', at: atPresent() }]);
    const page = await visit(`reviews?project=${at}`);
    await page.getByRole('button', { name: 'New queue' }).click();
    const form = page.getByRole('form', { name: 'New queue' });
    await form.getByLabel('Name', { exact: true }).fill('Failed');
    await form.getByRole('button', { name: 'Traces', exact: true }).click();
    await page.getByRole('menuitemcheckbox', { name: 'All calls' }).click();
    await form.getByRole('button', { name: 'Any status', exact: true }).click();
    await page.getByRole('menuitemcheckbox', { name: 'error', exact: true }).click();
    await page.keyboard.press('Escape');
    await form.getByRole('checkbox', { name: 'Correct (yes or no)' }).check();
    await form.getByLabel('Name of the field').fill('Cause');
    await choose(form, 'Answer type', 'labels');
    await form.getByLabel('Labels').fill('data, model, ');
    await form.getByRole('button', { name: 'Create field' }).click();
    await form.getByRole('checkbox', { name: 'Cause (data, model)', checked: true }).waitFor();
    await form.getByRole('button', { name: 'Save the queue' }).click();
    const shown = page.getByRole('region', { name: 'Queue' });
    await shown.getByText('all calls · production · error').waitFor();
    await page.getByRole('link', { name: 'Failed 1 open · 0 done' }).waitFor();
    await shown.getByRole('button', { name: 'Edit' }).click();
    const edit = page.getByRole('form', { name: 'Edit the queue' });
    await edit.getByRole('button', { name: 'error', exact: true }).waitFor();
    await edit.getByLabel('Reviews per call').fill('2');
    const reviewers = edit.getByRole('combobox', { name: 'Reviewers' });
    await reviewers.fill('loc');
    // Anybody else may be typed.
    await page.getByRole('option', { name: 'local', exact: true }).click();
    await reviewers.fill('cleo@example.com');
    await reviewers.press('Enter');
    await reviewers.fill('dora');
    await reviewers.press('Enter');
    await edit.getByRole('button', { name: 'Remove dora' }).click();
    await edit.getByRole('button', { name: 'Save the queue' }).click();
    await shown.getByText('2 reviews each').waitFor();
    const filter = { base_object_classes: ['ReviewQueue'], latest_only: true };
    const { objs } = (await post('/objs/query', { project_id: project, filter })) as {
      objs: { val: { name: string } }[];
    };
    const refTo = (field: string) => expect.stringContaining(`/object/${field}:`);
    expect(objs.find(({ val }) => val.name === 'Failed')?.val).toMatchObject({
      reviews: 2,
      assignees: ['local', 'cleo@example.com'],
      fields: [refTo('Correct'), refTo('Cause')],
      query: { $expr: { $and: [{ $in: [{ $getField: 'summary.svc.status' }, [{ $literal: 'error' }]] }] } },
    });
  });

  it('takes y and n for the field that asks for them, whichever is selected', async () => {
    const page = await visit(`reviews?project=${at}&queue=keyboard&review=true`);
    const form = page.getByLabel('Your review');
    await form.and(page.locator(':focus')).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('n');
    await form.getByRole('button', { name: 'n No', pressed: true }).waitFor();
    // Another key for the same field, which is no longer selected, corrects it.
    await page.keyboard.press('y');
    await form.getByRole('button', { name: 'y Yes', pressed: true }).waitFor();
  });

  it('is reviewed by the keyboard alone, with skip and undo', async () => {
    const page = await visit(`reviews?project=${at}&queue=keyboard&review=true`);
    const progress = page.getByRole('status');
    await progress.getByText('0 reviewed, 3 left').waitFor();
    const question = page
      .locator('.review-story:not(.ahead)')
      .getByText(/^keyboard \d\?$/)
      .first();
    const first = `keyboard-${(await question.innerText()).match(/\d/)?.[0]}`;
    await page.getByLabel('Your review').and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('Answer at least one field').waitFor();
    for (const key of ['y', '2']) await page.keyboard.press(key);
    expect(await focused(page)).toContain('Stars');
    await page.keyboard.type('9');
    await page.keyboard.press('Enter');
    await page.getByText('Stars should be at most 5.').waitFor();
    await page.keyboard.press('Backspace');
    await page.keyboard.type('4');
    await page.keyboard.press('Tab');
    await page.keyboard.type('It is so');
    await page.keyboard.press('Enter');
    await progress.getByText('1 reviewed, 2 left').waitFor();
    const given = [
      ['annotation.Correct', true],
      ['annotation.Tone', 'plain'],
      ['annotation.Stars', 4],
      ['annotation.Why', 'It is so'],
    ];
    expect((await answersOn(first)).toSorted()).toEqual(given.toSorted());
    await page.keyboard.press('s');
    await progress.getByText('1 reviewed, 1 left, 1 skipped').waitFor();
    await page.keyboard.press('u');
    await progress.getByText('1 reviewed, 2 left').waitFor();
    await page.keyboard.press('u');
    await progress.getByText('0 reviewed, 3 left').waitFor();
    expect(await answersOn(first)).toEqual([]);
    // What was filled in is there again.
    await page.getByRole('button', { name: 'y Yes', pressed: true }).waitFor();
    expect(await page.getByLabel('Why').inputValue()).toBe('It is so');
    await page.keyboard.press('Enter');
    await progress.getByText('1 reviewed, 2 left').waitFor();
    for (const left of [1, 0]) {
      for (const key of ['n', 'Escape', 'Enter']) await page.keyboard.press(key);
      await progress.getByText(`reviewed, ${left} left`).waitFor();
    }
    await page.getByText('You have reviewed everything in this queue.').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).getByText('skip the call').waitFor();
  });

  it('has each call reviewed by as many people as it asks for, and says how far they agree', async () => {
    const answers = ['y', 'y', 'n', 'y'];
    const review = async (getKey: (call: number) => string, as?: string) => {
      const page = await visit(`reviews?project=${at}&queue=pair&review=true`, as ? { as } : {});
      for (let left = 4; left > 0; left--) {
        await page
          .getByRole('status')
          .getByText(`${4 - left} reviewed, ${left} left`)
          .waitFor();
        const story = page
          .locator('.review-story:not(.ahead)')
          .getByText(/^pair \d\?$/)
          .first();
        const call = Number((await story.innerText()).match(/\d/)?.[0]);
        for (const key of [getKey(call), 'Enter']) await page.keyboard.press(key);
      }
      await page.getByText('You have reviewed everything in this queue.').waitFor();
      return page;
    };
    await review((call) => answers[call] ?? '');
    // The other one differs once.
    const page = await review((call) => (call === 3 ? 'n' : (answers[call] ?? '')), writer);
    await page.getByRole('button', { name: 'Back to the queue' }).click();
    await page.getByRole('link', { name: 'Queue pair 0 open · 4 done' }).waitFor();
    await page.getByRole('row', { name: 'Correct 4 75 % 0.53' }).waitFor();
    await page.getByRole('row', { name: /pair 3\? (yes|no) \(\w+\), (yes|no) \(\w+\)/ }).waitFor();
  });

  it('has its reviewed calls added to a dataset, with an answer as what is expected', async () => {
    const page = await visit(`reviews?project=${at}&queue=dataset&review=true`);
    for (const left of [1, 0]) {
      await page.getByLabel('Why').fill(`better ${left}`);
      await page.keyboard.press('Enter');
      await page.getByRole('status').getByText(`, ${left} left`).waitFor();
    }
    await page.getByRole('button', { name: 'Back to the queue' }).click();
    await page.getByRole('button', { name: 'Add all 2 to dataset' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add to dataset' });
    await dialog.getByLabel('Dataset', { exact: true }).fill('reviewed');
    await choose(dialog, 'What is expected', 'Why');
    await dialog.getByRole('button', { name: /^dataset \d\? better 0$/ }).waitFor();
    await dialog.getByRole('button', { name: 'Add 2 rows' }).click();
    await dialog.getByRole('link', { name: 'Open reviewed' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Take back' }).first().click();
    await page.getByRole('link', { name: 'Queue dataset 1 open · 1 done' }).waitFor();
  });

  it('shows what was answered among the feedback on a call', async () => {
    await post('/feedback/create', {
      project_id: project,
      svc_ref: `svc:///${project}/call/pair-0`,
      feedback_type: 'annotation.Correct',
      payload: { value: true },
      annotation_ref: ref('Correct'),
    });
    const page = await visit(`trace?project=${at}&trace=pair-0&tab=feedback`);
    const record = page.getByRole('listitem').filter({ hasText: 'annotation.Correct' }).last();
    await record.getByText('yes', { exact: true }).waitFor();
  });

  it('is reviewed with fields as Weave’s SDK stores them', async () => {
    const service = await sharedService();
    const weave = throughWeave(service);
    const own = newName('acme/reviews');
    const made = async (object_id: string, val: object) => {
      const answer = await weave.post('/obj/create', { obj: { project_id: own, object_id, val } });
      return `weave:///${own}/object/${object_id}:${((await answer.json()) as { digest: string }).digest}`;
    };
    const sdk = { _class_name: 'AnnotationSpec', _bases: ['Object', 'BaseModel'], description: null };
    const spec = {
      _type: 'AnnotationSpec',
      name: 'Tone',
      unique_among_creators: false,
      op_scope: null,
      ...sdk,
    };
    const tone = await made('tone', { ...spec, field_schema: { type: 'string', enum: ['kind', 'rude'] } });
    const started_at = new Date().toISOString();
    const start = {
      project_id: own,
      id: 'w',
      trace_id: 'w',
      op_name: 'chat',
      started_at,
      attributes: {},
      inputs: {},
    };
    await weave.post('/call/start', { start });
    const page = await visit(`reviews?project=${encodeURIComponent(own)}`, {
      base: `${service.url}/ui/`,
      as: weave.key,
    });
    await page.getByRole('button', { name: 'New queue' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Running');
    await page.getByRole('button', { name: 'Any status', exact: true }).click();
    await page.getByRole('menuitemcheckbox', { name: 'running' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('checkbox', { name: 'Tone (kind, rude)' }).check();
    await page.getByRole('button', { name: 'Save the queue' }).click();
    await page.getByText('traces · production · running').waitFor();
    await page.getByRole('link', { name: 'Review 1' }).click();
    await page.getByLabel('Your review').and(page.locator(':focus')).waitFor();
    for (const key of ['2', 'Enter']) await page.keyboard.press(key);
    await page.getByText('You have reviewed everything in this queue.').waitFor();
    const { result } = (await (await weave.post('/feedback/query', { project_id: own })).json()) as {
      result: object[];
    };
    expect(result).toMatchObject([
      {
        weave_ref: `weave:///${own}/call/w`,
        feedback_type: 'annotation.tone',
        payload: { value: 'rude' },
        annotation_ref: tone,
      },
    ]);
  });

  it('is not reviewed by a key that may only read, nor by whom it does not name', async () => {
    const page = await visit(`reviews?project=${at}&queue=told`, { as: reader });
    await page.getByText('Reviewing takes a key with the role write').waitFor();
    expect(await page.getByRole('button', { name: /New queue|Edit|Delete/ }).count()).toBe(0);
    const other = await visit(`reviews?project=${at}&queue=told`, { as: writer });
    await other.getByText('You are not a reviewer of this queue').waitFor();
    expect(await other.getByRole('link', { name: /^Review \d/ }).count()).toBe(0);
  });

  it('has no fault that axe finds, in light and in dark, and fits a phone', async () => {
    const page = await visit(`reviews?project=${at}&queue=pair`);
    await page.getByRole('region', { name: 'Queue' }).getByText('Correct').first().waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
    const reviewing = await visit(`reviews?project=${at}&queue=told&review=true`);
    await reviewing.getByText('Where is my order 4711?').first().waitFor();
    expect(await axeFaults(reviewing)).toEqual({ light: [], dark: [], width: 360 });
    const form = await visit(`reviews?project=${at}`);
    await form.getByRole('button', { name: 'New queue' }).click();
    await form.getByLabel('Name of the field').waitFor();
    expect(await axeFaults(form)).toEqual({ light: [], dark: [], width: 360 });
  });
});
