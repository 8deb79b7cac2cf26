import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { newName } from '../support/run/new-name.ts';
import { axeFaults } from './support/axe.ts';
import { atPresent, chat, post, report, type SeededCall } from './support/calls.ts';
import { choose } from './support/choose.ts';
import { reader, useBrowser, writer } from './support/visit.ts';

/* Prompts: versions, what their calls say, labels that move and move back, an editor, and a trial. */

const visit = useBrowser();
const project = 'page/prompt-figures';

const linkTo = (of: string, search = '') => `prompts?project=${encodeURIComponent(of)}${search}`;

/** Makes a version of a prompt, from its system message. */
const save = (of: string, name: string, system: string, more: object = {}) => {
  const messages = [
    { role: 'system', content: system },
    { role: 'user', content: '{question}' },
  ];
  return post('/prompt/create', { project_id: of, name, messages, ...more });
};

/** A project with a prompt of two versions, of which the first is in production. */
const makePrompt = async (): Promise<string> => {
  const of = newName('page/prompts');
  const config = { model: 'gpt-4o-mini', parameters: { temperature: 0.5 } };
  await save(of, 'support', 'You help {shop}.', { config, labels: ['production'] });
  await save(of, 'support', 'You help {shop}. Be brief.', { config });
  return of;
};

/** A call that was made of a version of a prompt. */
const callOf = (id: string, name: string, version: string, more: Partial<SeededCall> = {}): SeededCall => ({
  ...chat([{ role: 'user', content: 'Where is it?' }], { content: 'On its way.' }),
  id,
  op: 'model.chat',
  at: atPresent() - 3_600_000,
  attributes: { kind: 'model', prompt: { name, version } },
  ...more,
});

beforeAll(async () => {
  const config = { model: 'gpt-4o-mini' };
  for (const system of ['You help {shop}.', 'You help {shop}. Be brief.', 'You help {shop}. Be kind.'])
    await save(project, 'support', system, { config, labels: ['staging'] });
  await post('/prompt/labels', {
    project_id: project,
    name: 'support',
    label: 'production',
    version_index: 1,
  });
  await post('/prompt/create', { project_id: project, name: 'title', text: 'A title for {text}' });
  const sent = (shop: string) => [
    { role: 'system', content: `You help ${shop}.` },
    { role: 'user', content: 'Where is my order?' },
  ];
  await report(project, [
    { id: 'root', op: 'support.turn', at: atPresent() - 3_600_100, ms: 5000 },
    ...[0, 1].map((at) => callOf(`first-${at}`, 'support', '0', { ms: 400, trace: 'root', parent: 'root' })),
    ...[0, 1, 2, 3].map((at) =>
      callOf(`second-${at}`, 'support', '1', {
        ms: 100,
        ...(at === 0 && { exception: 'Overloaded' }),
        ...chat(sent('Wheels'), { content: 'Soon.' }),
      }),
    ),
    callOf('other', 'support', 'of-a-branch'),
    callOf('title', 'title', '0'),
    { id: 'evaluated', op: 'Evaluation.evaluate', name: 'Nightly', at: atPresent() - 3_600_100, ms: 5000 },
    callOf('row', 'support', '1', {
      trace: 'evaluated',
      parent: 'evaluated',
      attributes: { source: 'evaluation', prompt: { name: 'support', version: '1' } },
    }),
  ]);
  const verdict = (id: string, value: boolean) => ({
    project_id: project,
    svc_ref: `svc:///${project}/call/${id}`,
    feedback_type: 'evaluation.helpful',
    payload: { value },
  });
  const batch = [
    verdict('first-0', true),
    verdict('first-1', false),
    ...[0, 1, 2, 3].map((at) => verdict(`second-${at}`, true)),
  ];
  await post('/feedback/batch/create', { batch });
});

/** The texts of a row of a table, cell by cell. */
const cells = async (page: Page, table: string, row: string): Promise<string[]> => {
  const found = page.getByRole('region', { name: table }).getByRole('row').filter({ hasText: row }).first();
  return (await found.getByRole('cell').allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
};

describe('the list of prompts', () => {
  it('has what the calls of the last days say of each, sorted and searched', async () => {
    const page = await visit(linkTo(project));
    await page.getByText('83 % true').waitFor();
    const row = await cells(page, 'Prompts', 'support');
    expect(row.slice(0, 3)).toEqual(['support', 'production v1 staging v2', '7']);
    expect(row.slice(5, 8)).toEqual(['1', 'helpful 83 % true', 'v2']);
    expect(row[3]).toMatch(/^\$0\.000\d$/);
    const names = page.getByRole('region', { name: 'Prompts' }).locator('tbody td:first-child');
    expect(await names.allInnerTexts()).toEqual(['support', 'title']);
    await page.getByRole('button', { name: 'Prompt', exact: true }).click();
    await page.waitForURL(/sort=-name/);
    expect(await names.allInnerTexts()).toEqual(['title', 'support']);
    await page.getByRole('searchbox', { name: 'Search prompts' }).fill('sup');
    await expect.poll(() => names.allInnerTexts()).toEqual(['support']);
    await page.waitForURL(/text=sup/);
    await page.getByRole('searchbox').fill('nothing');
    await page.getByText('No prompt has this in its name.').waitFor();
  });

  it('says what would be there, and how a program reads it', async () => {
    const page = await visit(linkTo(newName('page/no-prompts')));
    await page.getByRole('heading', { name: /has no prompts yet/ }).waitFor();
    await page.getByRole('region', { name: 'In a program' }).getByText('prompt/read?project_id').waitFor();
    await page.getByRole('link', { name: 'New prompt' }).click();
    await page.getByRole('form', { name: 'New prompt' }).waitFor();
  });

  it('is in the menu of commands, and in the objects', async () => {
    const page = await visit(`objects?project=${encodeURIComponent(project)}&object=support`);
    await page.getByRole('link', { name: 'Open in Prompts' }).click();
    await page.getByRole('heading', { name: 'support', level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or jump to' }).fill('prompts');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Prompts', level: 1 }).waitFor();
  });
});

describe('a prompt', () => {
  it('has the figures of each version beside those of the one before', async () => {
    const page = await visit(linkTo(project, '&prompt=support'));
    await page.getByText('100 % true').waitFor();
    const row = await cells(page, 'Versions', 'v1');
    expect(row[1]).toBe('production');
    expect(row[2]).toBe('4');
    expect(row[5]).toBe('100 ms −75 %');
    expect(row[6]).toBe('25 %');
    expect(row[7]).toMatch(/^helpful 100 % true ?×2.0$/);
    expect((await cells(page, 'Versions', 'v2'))[1]).toBe('staging latest');
    expect((await cells(page, 'Versions', 'of-a-branch'))[2]).toBe('1');
    const uses = page.getByRole('region', { name: 'Used in' });
    await uses.getByRole('link', { name: 'support.turn' }).waitFor();
    await uses.getByRole('link', { name: 'Nightly' }).waitFor();
    await page.getByRole('link', { name: '4 calls in Traces' }).click();
    await page.waitForURL(/traces/);
    await expect.poll(() => page.locator('.row-link').count()).toBe(4);
  });

  it('shows what differs between two versions, which the URL holds', async () => {
    const page = await visit(linkTo(project, '&prompt=support'));
    await page.getByRole('region', { name: 'Differences between v1 and v2' }).waitFor();
    await choose(page, 'Differences from', /^v0/);
    const changes = page.getByRole('region', { name: 'Differences between v0 and v2' });
    await changes.getByText('Be kind.').waitFor();
    await page.waitForURL(/base=v0/);
    await page.getByRole('region', { name: 'Versions' }).getByRole('link', { name: 'v1' }).click();
    await page.waitForURL(/version=v1/);
    await page.getByRole('region', { name: 'Differences between v0 and v1' }).waitFor();
    expect(
      await page.getByRole('region', { name: 'Version 1' }).locator('mark.variable').allInnerTexts(),
    ).toEqual(['{shop}', '{question}', 'shop', 'question']);
  });

  it('is linked to by its calls, and links back', async () => {
    const page = await visit(`trace?project=${encodeURIComponent(project)}&trace=second-1&call=second-1`);
    await page.getByRole('link', { name: 'prompt support v1' }).click();
    await page.getByRole('region', { name: 'Version 1' }).waitFor();
    await page.goto(new URL(linkTo(project, '&prompt=support&version=9'), page.url()).href);
    await page.getByRole('alert').getByText('support has no version 9').waitFor();
  });

  it('shows as Weave writes it, also when it is odd', async () => {
    const of = newName('page/weave-prompts');
    const create = (object_id: string, val: object) =>
      post('/obj/create', { obj: { project_id: of, object_id, val } });
    const classes = (name: string) => ({
      _type: name,
      _class_name: name,
      _bases: ['Prompt', 'Object', 'BaseModel'],
    });
    await create('text', { ...classes('StringPrompt'), content: 'Hi {name}' });
    await create('parts', {
      ...classes('MessagesPrompt'),
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Look at {it}' }] }],
    });
    await create('odd', { ...classes('MessagesPrompt'), messages: 'none', about: 'something odd' });
    const page = await visit(linkTo(of));
    const names = page.getByRole('region', { name: 'Prompts' }).locator('tbody td:first-child');
    await names.first().waitFor();
    expect((await names.allInnerTexts()).toSorted()).toEqual(['odd', 'parts', 'text']);
    await page.getByRole('link', { name: 'text' }).click();
    await page.locator('mark.variable', { hasText: '{name}' }).waitFor();
    await page.goto(new URL(linkTo(of, '&prompt=parts'), page.url()).href);
    await page.getByText('Look at {it}').waitFor();
    await page.goto(new URL(linkTo(of, '&prompt=odd'), page.url()).href);
    await page.getByText('neither messages nor a text').waitFor();
    await page.getByText('something odd').waitFor();
  });
});

describe('a version', () => {
  it('is made with a new prompt, and another one of it, if anything is changed', async () => {
    const of = newName('page/new-prompts');
    const page = await visit(linkTo(of, '&form=true'));
    await page.getByLabel('Name').fill('greeting');
    await page.getByLabel('Text of message 1').fill('You are {who}. Not {{shop}}.');
    await page.getByLabel('Text of message 2').fill('{question}');
    await page.getByText('is the text').waitFor();
    expect(await page.locator('.prompt-labels mark.variable').allInnerTexts()).toEqual(['who', 'question']);
    await page.getByLabel('Parameters, as JSON').fill('{');
    await page.getByRole('button', { name: 'Save prompt' }).click();
    await page.getByText('The parameters are not a JSON object.').waitFor();
    await page.getByLabel('Parameters, as JSON').fill('{"temperature": 0}');
    await page.getByRole('button', { name: 'Save prompt' }).click();
    await page.getByRole('region', { name: 'Version 0' }).waitFor();
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByText('Nothing is changed yet.').waitFor();
    await page.getByLabel('Text of message 1').fill('You are {who}, the {job}.');
    await page.getByRole('link', { name: 'Back, and keep the draft' }).click();
    await page.getByRole('link', { name: 'Edit' }).click();
    const text = page.getByLabel('Text of message 1');
    await text.waitFor();
    expect(await text.inputValue()).toBe('You are {who}, the {job}.');
    await page.getByRole('button', { name: 'Save version' }).click();
    await page
      .getByRole('region', { name: 'Differences between v0 and v1' })
      .getByText('the {job}')
      .waitFor();
    expect(await post('/prompt/read', { project_id: of, name: 'greeting' })).toMatchObject({
      version_index: 1,
      variables: ['who', 'job', 'question'],
      config: { parameters: { temperature: 0 } },
    });
  });

  it('is not saved over what somebody else saved, unless that is meant', async () => {
    const of = await makePrompt();
    const page = await visit(linkTo(of, '&prompt=support&version=v1&form=true'), { as: writer });
    await page.getByLabel('Text of message 1').fill('Mine.');
    await save(of, 'support', 'Theirs.');
    await page.getByRole('button', { name: 'Save version' }).click();
    await page.getByText(/saved v2 while you wrote/).waitFor();
    await page.getByRole('link', { name: 'See what v2 changed' }).click();
    await page.getByRole('region', { name: 'Differences between v1 and v2' }).getByText('Theirs.').waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Save version' }).click();
    await page.getByRole('button', { name: 'Save anyway' }).click();
    await page.getByRole('region', { name: 'Version 3' }).getByText('Mine.').first().waitFor();
    await page.getByRole('region', { name: 'Versions' }).getByText('writer').waitFor();
  });
});

describe('a label', () => {
  it('moves by the menu, and back by one click, from the toast or the history', async () => {
    const of = await makePrompt();
    const page = await visit(linkTo(of, '&prompt=support'), { expected: /422/ });
    const labelled = async (version: string) => (await cells(page, 'Versions', version))[1];
    await page.getByRole('button', { name: 'Labels of v1' }).click();
    expect(await page.getByRole('menuitemcheckbox', { name: /latest/ }).getAttribute('aria-disabled')).toBe(
      'true',
    );
    await page.getByRole('menuitemcheckbox', { name: /production/ }).click();
    await page.getByText('production is on v1 now.').waitFor();
    await expect.poll(() => labelled('v1')).toBe('production latest');
    await page.getByRole('button', { name: 'Move back', exact: true }).click();
    await page.getByText('production is on v0 now.').waitFor();
    await expect.poll(() => labelled('v0')).toBe('production');
    await page.getByRole('button', { name: 'Move back to v1: production' }).click();
    await expect.poll(() => labelled('v1')).toBe('production latest');
    expect(await post('/prompt/read', { project_id: of, name: 'support' })).toMatchObject({
      version_index: 1,
    });
    await page.getByRole('button', { name: 'Labels of v1' }).click();
    await page.getByRole('menuitem', { name: 'Another label…' }).click();
    await page.getByRole('dialog').getByLabel('Label').fill('v7');
    await page.keyboard.press('Enter');
    await page.getByText('The label was not moved.').waitFor();
  });

  it('that is protected is disabled with the reason, and readers see no buttons', async () => {
    const of = await makePrompt();
    const val = { _type: 'PromptLabels', protected: ['production'] };
    await post('/obj/create', { obj: { project_id: of, object_id: 'prompt-labels', val } });
    const page = await visit(linkTo(of, '&prompt=support'), { as: writer });
    await page.getByRole('button', { name: 'Labels of v1' }).click();
    const item = page.getByRole('menuitemcheckbox', { name: /production/ });
    await item.getByText('protected: takes the role admin').waitFor();
    expect(await item.getAttribute('aria-disabled')).toBe('true');
    await page.keyboard.press('Escape');
    await page.getByRole('region', { name: 'Moves of labels' }).getByText('protected').waitFor();
    const other = await visit(linkTo(of, '&prompt=support'), { as: reader });
    await other.getByRole('region', { name: 'Differences between v0 and v1' }).waitFor();
    for (const name of ['Labels of v1', 'Remove again: production'])
      expect(await other.getByRole('button', { name }).count()).toBe(0);
    expect(await other.getByRole('link', { name: 'Edit' }).count()).toBe(0);
  });
});

describe('a trial', () => {
  it('begins with the version, and takes the values of its variables from a call', async () => {
    const page = await visit(linkTo(project, '&prompt=support&version=2'));
    await page.getByRole('link', { name: 'Try v2' }).click();
    await page.getByLabel('Text of message 1').waitFor();
    expect(await page.getByRole('combobox', { name: 'Model' }).inputValue()).toBe('gpt-4o-mini');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('alert').getByText('Enter a value for the variable shop.').waitFor();
    await page.getByRole('combobox', { name: 'Values from' }).click();
    await page
      .getByRole('option', { name: /Where is my order/ })
      .first()
      .click();
    await expect
      .poll(() => page.getByRole('textbox', { name: 'question' }).inputValue())
      .toBe('Where is my order?');
    await page.getByRole('textbox', { name: 'shop' }).fill('Wheels & Co');
    const sent = page.waitForRequest(/chat.completions/);
    await page.getByRole('button', { name: 'Send' }).click();
    expect((await sent).headers()['x-prompt']).toBe('support:2');
    expect((await sent).postDataJSON()).toMatchObject({
      model: 'gpt-4o-mini',
      messages: [
        { role: 'system', content: 'You help Wheels & Co. Be kind.' },
        { role: 'user', content: 'Where is my order?' },
      ],
    });
    await page.getByText('finish: stop').waitFor();
    // What was changed is no longer the prompt, until it is saved.
    await page.getByLabel('Text of message 1').fill('You help {shop}. Be quick.');
    const changed = page.waitForRequest(/chat.completions/);
    await page.getByRole('button', { name: 'Send' }).click();
    expect((await changed).headers()).not.toHaveProperty('x-prompt');
    await page.getByText('finish: stop').waitFor();
  });

  it('that is saved names the version that it became', async () => {
    const of = await makePrompt();
    const page = await visit(`playground?project=${encodeURIComponent(of)}&prompt=support`);
    await page.getByLabel('Text of message 1').fill('You help {shop}. Be quick.');
    await page.getByRole('textbox', { name: 'shop' }).fill('Wheels & Co');
    await page.getByRole('textbox', { name: 'question' }).fill('Where is it?');
    await page.getByRole('button', { name: 'Save as a prompt' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved as a version of support.').waitFor();
    const sent = page.waitForRequest(/chat.completions/);
    await page.getByRole('button', { name: 'Send' }).click();
    expect((await sent).headers()['x-prompt']).toBe('support:2');
    await page.getByText('finish: stop').waitFor();
  });

  it('on a dataset begins with the version and the one in production', async () => {
    const page = await visit(linkTo(project, '&prompt=support&version=v2'));
    await page.getByRole('link', { name: 'Evaluate' }).click();
    await page.waitForURL(/evaluate.*prompt=support/);
    expect(new URL(page.url()).searchParams.get('versions')).toBe('[1,2]');
  });

  it('of a link to a call has its values at once', async () => {
    const page = await visit(
      `playground?project=${encodeURIComponent(project)}&prompt=support&version=v0&call=second-1`,
    );
    await page.getByRole('textbox', { name: 'shop' }).waitFor();
    expect(await page.getByRole('textbox', { name: 'shop' }).inputValue()).toBe('Wheels');
  });
});

describe('the views of prompts', () => {
  it.each([
    ['Prompts', ''],
    ['Moves of labels', '&prompt=support'],
  ])('show %s as cards on a phone, of which none is wider', async (table, search) => {
    const page = await visit(linkTo(project, search), { viewport: { width: 390, height: 800 } });
    await page
      .getByText(/% true/)
      .first()
      .waitFor();
    const region = page.getByRole('region', { name: table });
    await region.locator('tbody td').first().waitFor();
    expect(await region.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
    // What a card does not have, it does not name.
    expect(await region.locator('td > :empty').count()).toBe(0);
  });

  it.each([
    ['the list', '', 'table'],
    ['a prompt', '&prompt=support', '.diff'],
    ['the editor', '&prompt=support&version=v1&form=true', '.template-area'],
    ['a new prompt', '&form=true', '.template-area'],
  ])('%s has no fault that axe finds, in light and in dark, and fits a phone', async (_, search, sign) => {
    const page = await visit(linkTo(project, search));
    await page.locator(sign).first().waitFor();
    await page.waitForLoadState('networkidle');
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });
});
