import { beforeAll, describe, expect, it } from 'vitest';
import { newName } from '../support/run/new-name.ts';
import { axeFaults } from './support/axe.ts';
import { atPresent, post, report, turn } from './support/calls.ts';
import { choose } from './support/choose.ts';
import { focused } from './support/focus.ts';
import { key, reader, useBrowser } from './support/visit.ts';

const visit = useBrowser();
const project = 'page/playground';
const at = encodeURIComponent(project);

beforeAll(() => report(project, [...turn('p1', 0), ...turn('p2', atPresent())]));

const link = `playground?project=${at}&call=p1-model-1`;

describe('the playground', () => {
  it('sends a changed call again, shows the answer, and keeps it as a call', async () => {
    const page = await visit(`trace?project=${at}&trace=p1&call=p1-model-1`);
    await page.getByRole('link', { name: 'Open in the playground' }).click();
    await page.getByLabel('Text of message 2').fill('Where is order 4712?');
    await page.getByLabel('Model').fill('another-model');
    await page.keyboard.press('Control+Enter');
    await page.locator('.message .long-text').getByText('You said: Where is order 4712?').waitFor();
    await page.getByText('finish: stop').waitFor();
    const request = page.getByRole('region', { name: 'Differences of the request' });
    await request.locator('.added').getByText('another-model').waitFor();
    await request.locator('.removed').getByText('gpt-4o-mini').waitFor();
    const answer = page.getByRole('region', { name: 'Differences of the answer' });
    await answer.locator('.removed').getByText('calls: find_order').waitFor();
    await page.getByRole('link', { name: 'Open the recorded call' }).click();
    await page.getByRole('heading', { name: 'openai.chat.completions.create', level: 2 }).waitFor();
    await page.locator('.call-pane').getByText('Where is order 4712?', { exact: true }).waitFor();
    await page.goBack();
    await page.locator('.message .long-text').getByText('You said: Where is order 4712?').waitFor();
    expect(await page.getByLabel('Model').inputValue()).toBe('another-model');
  });

  it('streams, stops where one wants, and keeps what came', async () => {
    const page = await visit(`playground?project=${at}`);
    await page.getByLabel('Model').fill('echo');
    await page.getByLabel('Text of message 1').fill(`begin ${'word '.repeat(800)}end`);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('answering…').waitFor();
    await page.locator('.long-text').getByText('You said: begin word word').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('stopped; what arrived is kept').waitFor();
    expect(await page.getByText(/You said: begin word/).count()).toBe(1);
    expect(await page.getByText(/word end/).count()).toBe(1);
    await page.getByRole('button', { name: 'Continue from here' }).click();
    await page.getByLabel('Text of message 3').waitFor();
  });

  it('is used by keyboard, which keeps the focus', async () => {
    const page = await visit(`playground?project=${at}`);
    await page.getByLabel('Model').fill('echo');
    await page.getByLabel('Text of message 1').fill(`begin ${'word '.repeat(800)}end`);
    await page.getByRole('button', { name: 'Send' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('answering…').waitFor();
    expect(await focused(page)).toBe('Stop');
    await page.keyboard.press('Enter');
    await page.getByText('stopped; what arrived is kept').waitFor();
    expect(await focused(page)).toBe('Send');
    await page.getByLabel('Text of message 1').fill('Hi');
    await page.getByLabel('Model').press('Enter');
    await page.getByText('finish: stop').waitFor();
  });

  it('keeps the focus near when a message is removed', async () => {
    const page = await visit(link);
    await page.getByRole('button', { name: 'Remove message 1' }).press('Enter');
    expect(await focused(page)).toBe('Remove message 1');
    await page.keyboard.press('Enter');
    expect(await focused(page)).toBe('Add message');
  });

  it('suggests the models that the upstreams have', async () => {
    const models = { object: 'list', data: [{ id: 'eu.claude-of-a-rule', object: 'model' }] };
    const asked: (string | undefined)[] = [];
    const page = await visit('overview');
    await page.route('**/inference/v1/models', (route, request) => {
      asked.push(request.headers().authorization);
      return route.fulfill({ json: models });
    });
    await page.goto(new URL(link, page.url()).href);
    await page.getByRole('combobox', { name: 'Model' }).fill('claude');
    await page.getByRole('option', { name: 'eu.claude-of-a-rule' }).click();
    expect(await page.getByLabel('Model').inputValue()).toBe('eu.claude-of-a-rule');
    expect(asked).toEqual([expect.stringMatching(/^Bearer svc_/)]);
  });

  it('has a form for parameters, a list of models, and variants beside each other', async () => {
    const page = await visit(link);
    const sent = new Map<string, unknown>();
    page.on('request', (request) => {
      const body = request.url().includes('/inference/') && request.postDataJSON();
      if (body) sent.set(body.model, body);
    });
    await page.getByRole('combobox', { name: 'Model' }).fill('gpt-4o');
    await page.getByRole('option', { name: 'gpt-4o-mini' }).click();
    await page.getByLabel('Temperature').fill('0.25');
    await page.getByRole('button', { name: 'Add a variant' }).click();
    const second = page.getByRole('form', { name: 'Request 2' });
    await second.getByLabel('Temperature').fill('1');
    await second.getByLabel('Stop sequences').fill('END\nSTOP');
    await choose(second, 'Response format', 'json_object');
    await second.getByLabel('Model').fill('o3-mini');
    await choose(second, 'Reasoning effort', 'low');
    await page.getByRole('button', { name: 'Send all' }).click();
    for (const answer of ['Answer 1', 'Answer 2'])
      await page.getByRole('region', { name: answer }).getByText('finish: stop').waitFor();
    expect(sent.get('gpt-4o-mini')).toMatchObject({ temperature: 0.25 });
    expect(sent.get('o3-mini')).toMatchObject({
      temperature: 1,
      stop: ['END', 'STOP'],
      response_format: { type: 'json_object' },
      reasoning_effort: 'low',
    });
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
    await page.getByRole('button', { name: 'Remove variant 1' }).click();
    await expect.poll(() => page.getByLabel('Model').inputValue()).toBe('o3-mini');
  });

  it('opens a prompt, and saves what became of it as its next version', async () => {
    const own = newName('page/prompts');
    const value = {
      _type: 'MessagesPrompt',
      _class_name: 'MessagesPrompt',
      _bases: ['Prompt', 'Object', 'BaseModel'],
      name: 'support',
      description: null,
      messages: [{ role: 'system', content: 'Be brief.' }],
    };
    await post('/obj/create', { obj: { project_id: own, object_id: 'support', val: value } });
    const page = await visit(`playground?project=${encodeURIComponent(own)}`);
    await page.getByRole('button', { name: 'Open a prompt' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'support' }).click();
    await page.waitForURL(/prompt=support/);
    const text = page.getByLabel('Text of message 1');
    expect(await text.inputValue()).toBe('Be brief.');
    await text.fill('Be very brief.');
    await page.getByRole('button', { name: 'Save as a prompt' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved as a version of support.').waitFor();
    await page.waitForURL(/version=/);
    expect(await text.inputValue()).toBe('Be very brief.');
    await page.reload();
    await expect.poll(() => text.inputValue()).toBe('Be very brief.');
    const saved = { project_id: own, object_id: 'support', digest: 'v1' };
    await page.getByRole('link', { name: 'support v1', exact: true }).click();
    await page.getByRole('link', { name: 'v0', exact: true }).click();
    await page.getByRole('link', { name: 'Try v0' }).click();
    await text.waitFor();
    expect(await text.inputValue()).toBe('Be brief.');
    expect(await post('/obj/read', saved)).toMatchObject({
      obj: {
        base_object_class: 'Prompt',
        val: { messages: [{ role: 'system', content: 'Be very brief.' }] },
      },
    });
  });

  it('finds a draft again after a price was added, and none after signing out', async () => {
    const own = newName('page/drafts');
    await report(own, [{ id: 'draft-1', name: 'One' }]);
    const page = await visit(`playground?project=${encodeURIComponent(own)}`);
    const text = page.getByLabel('Text of message 1');
    await text.fill('Not sent yet');
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('link', { name: 'Prices' }).click();
    // The view before it has a model, too.
    await page.getByRole('heading', { name: 'Prices' }).waitFor();
    await page.getByRole('combobox', { name: 'Model' }).fill('echo');
    await page.getByLabel('Input, per million tokens').fill('1');
    await page.getByLabel('Output, per million tokens').fill('2');
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: 'echo', exact: true }).waitFor();
    await page.goBack();
    await page.goBack();
    await text.waitFor();
    await expect.poll(() => text.inputValue()).toBe('Not sent yet');
    await page.getByRole('button', { name: /^Signed in as/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('Key').fill(key);
    await page.keyboard.press('Enter');
    await text.waitFor();
    expect(await text.inputValue()).toBe('');
  });

  it('says what is wrong with a request before it is sent', async () => {
    const page = await visit(link);
    await page.getByText('All parameters as JSON').click();
    await page.getByLabel('Parameters, as JSON').fill('{"temperature": }');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('alert').getByText('The parameters are not a JSON object.').waitFor();
    await page.getByRole('button', { name: 'Remove message 2' }).click();
    await page.getByRole('button', { name: 'Start over' }).click();
    await page.getByLabel('Text of message 2').waitFor();
  });

  it('says what a key lacks that may not send requests', async () => {
    const page = await visit(link, { as: reader });
    await page.getByRole('alert').getByText(`lacks the role inference and write on ${project}`).waitFor();
    expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
  });

  it('says what a provider answers, and asks for no other key', async () => {
    const page = await visit(link, { expected: /401/ });
    const body = JSON.stringify({ error: { message: 'wrong key for upstream' } });
    await page.route('**/inference/v1/chat/**', (route) => route.fulfill({ status: 401, body }));
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('alert').getByText('The model answered 401: wrong key for upstream').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('asks for another key if the service takes this one no more, which is no answer of a model', async () => {
    const page = await visit(link, { expected: /401/ });
    const body = JSON.stringify({
      detail: [{ loc: ['header', 'authorization'], msg: 'a valid key is required', type: 'unauthorized' }],
      error: { message: 'a valid key is required', type: 'authentication_error', code: 'unauthorized' },
    });
    await page.route('**/inference/v1/chat/**', (route) => route.fulfill({ status: 401, body }));
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('dialog').waitFor();
    expect(await page.getByText(/The model answered/).count()).toBe(0);
  });

  it('has no fault that axe finds, in light and in dark, and fits a phone', async () => {
    const page = await visit(link);
    await page.getByRole('button', { name: 'Send' }).waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });
});
