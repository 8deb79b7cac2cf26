import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { newName } from '../support/run/new-name.ts';
import { axeFaults } from './support/axe.ts';
import { chat, post, report } from './support/calls.ts';
import { choose } from './support/choose.ts';
import { focused } from './support/focus.ts';
import { reader, useBrowser } from './support/visit.ts';

const visit = useBrowser();
const project = 'page/objects';
const at = encodeURIComponent(project);

const versions = [
  { model: 'm', system: 'You help.' },
  { model: 'm', system: 'You help.\nBe brief.' },
  { model: 'other', system: 'You help.\nBe very brief.' },
];

beforeAll(async () => {
  for (const val of versions)
    await post('/obj/create', { obj: { project_id: project, object_id: 'prompt', val } });
  await post('/obj/create', { obj: { project_id: project, object_id: 'another', val: 1 } });
  await report(project, [
    { id: 'priced', op: 'model.chat', ...chat([{ role: 'user', content: 'Hi' }], { content: 'Hello' }) },
  ]);
});

describe('objects', () => {
  it('are listed, and show what their versions changed', async () => {
    const page = await visit(`objects?project=${at}`);
    await page.getByRole('link', { name: 'prompt 3 versions' }).click();
    const differences = page.getByRole('region', { name: 'Differences between v1 and v2' });
    await differences.locator('.added').getByText('very').waitFor();
    await differences.locator('.removed').getByText('model: m', { exact: false }).waitFor();
    await choose(page, 'Differences from', /^v0/);
    await page.getByRole('region', { name: 'Differences between v0 and v2' }).waitFor();
    expect(page.url()).toContain('base=');
    await page.getByRole('link', { name: 'v1', exact: true }).click();
    const earlier = page.getByRole('region', { name: 'Differences between v0 and v1' });
    await earlier.locator('.added').getByText('Be brief.').waitFor();
    await earlier.locator('.removed').getByText('system: You help.').waitFor();
  });

  it('are in groups by their class', async () => {
    const mixed = 'page/mixed-objects';
    const create = (object_id: string, val: object) =>
      post('/obj/create', { obj: { project_id: mixed, object_id, val } });
    await create('b-prompt', { _type: 'Prompt', content: 'Hi' });
    await create('a-field', { _type: 'AnnotationSpec', name: 'Good', field_schema: { type: 'boolean' } });
    await create('c-value', { a: 1 });
    const page = await visit(`objects?project=${encodeURIComponent(mixed)}`);
    await page.getByRole('region', { name: 'Prompts' }).getByRole('link', { name: 'b-prompt' }).waitFor();
    expect(await page.locator('.object-groups h2').allInnerTexts()).toEqual([
      'Prompts',
      'Other values',
      'Review fields',
    ]);
  });

  it('without another version show their value alone', async () => {
    const page = await visit(`objects?project=${at}&object=another`);
    await page.getByRole('heading', { name: 'another v0' }).waitFor();
    await page.locator('.json-row').waitFor();
    expect(await page.getByText('Differences from').count()).toBe(0);
  });

  it('far down a long list appear where one sees them', async () => {
    const many = 'page/many-objects';
    for (let number = 10; number < 50; number += 1)
      await post('/obj/create', { obj: { project_id: many, object_id: `prompt-${number}`, val: number } });
    for (const viewport of [
      { width: 1280, height: 800 },
      { width: 375, height: 740 },
    ]) {
      const page = await visit(`objects?project=${encodeURIComponent(many)}`, { viewport });
      for (const name of ['prompt-10', 'prompt-49', 'prompt-30']) {
        await page.getByRole('link', { name }).click();
        const heading = page.getByRole('heading', { name: `${name} v0` });
        await heading.waitFor();
        const top = await heading.evaluate((element) => element.getBoundingClientRect().top);
        expect(top).toBeGreaterThan(0);
        expect(top).toBeLessThan(viewport.height - 50);
      }
    }
  });

  it('of a project without any say how to store one', async () => {
    const page = await visit(`objects?project=${encodeURIComponent('page/no-objects')}`);
    await page.getByText('page/no-objects has no objects yet').waitFor();
  });

  it('have no fault that axe finds, in light and in dark, and fit a phone', async () => {
    const page = await visit(`objects?project=${at}&object=prompt`);
    await page.locator('.json-row').first().waitFor();
    await page.locator('.diff-line').first().waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });
});

/** Adds a price to the project that the page shows, by its form. */
const addPrice = async (page: Page, model = 'gpt-4o-mini') => {
  await page.getByRole('combobox', { name: 'Model' }).fill(model);
  await page.getByLabel('Input, per million tokens').fill('1000');
  await page.getByLabel('Output, per million tokens').fill('2000');
  await page.getByLabel('Effective from').fill('2026-01-01T00:00');
  await page.keyboard.press('Enter');
  await page.getByRole('cell', { name: '1000' }).waitFor();
};

const openPrices = async (page: Page) => {
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('link', { name: 'Prices' }).click();
  await page.getByRole('heading', { name: 'Prices' }).waitFor();
};

/** A project with a call of a model. */
const projectWithCall = async (name: string): Promise<string> => {
  const project = newName(name);
  await report(project, [{ id: 'call', op: 'model.chat', ...chat([], {}) }]);
  return project;
};

describe('prices', () => {
  it('are added, count for the calls that are there, and are removed', async () => {
    const project = await projectWithCall('page/priced');
    const page = await visit(`prices?project=${encodeURIComponent(project)}`);
    await page.getByText(`${project} has no prices of its own`).waitFor();
    await page.getByLabel('Model').fill('gpt-4o-mini');
    await page.getByRole('button', { name: 'Add price' }).click();
    await page.getByRole('alert').getByText('Enter both prices as numbers').waitFor();
    await addPrice(page);
    await page.getByRole('link', { name: 'Traces', exact: true }).click();
    // 120 tokens of a dollar for 1,000, and 30 of two.
    await page.getByText('$0.1800').waitFor();
    await openPrices(page);
    await page.getByRole('button', { name: 'Remove the price of gpt-4o-mini' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText(`${project} has no prices of its own`).waitFor();
  });

  it('count in a list that was shown before', async () => {
    const project = await projectWithCall('page/priced-later');
    const page = await visit(`traces?project=${encodeURIComponent(project)}`);
    await page.getByRole('link', { name: 'model.chat' }).waitFor();
    expect(await page.getByText('$0.1800').count()).toBe(0);
    await openPrices(page);
    await addPrice(page);
    await page.getByRole('link', { name: 'Traces', exact: true }).click();
    await page.getByText('$0.1800').waitFor();
  });

  it('are shown if they were added while the list of prices was on its way', async () => {
    const project = await projectWithCall('page/priced-meanwhile');
    const page = await visit(`traces?project=${encodeURIComponent(project)}`);
    await page.getByRole('link', { name: 'model.chat' }).waitFor();
    const added = page.waitForResponse('**/cost/create');
    let isFirst = true;
    await page.route('**/cost/query', async (route) => {
      const response = await route.fetch();
      // The first answer is from before the price, and comes after it.
      if (isFirst) {
        isFirst = false;
        await added;
      }
      await route.fulfill({ response });
    });
    await openPrices(page);
    await addPrice(page);
    expect(isFirst).toBe(false);
  });

  it('give the focus to the next when one is removed', async () => {
    const priced = newName('page/focus');
    const terms = { prompt_token_cost: 0.01, completion_token_cost: 0.02 };
    await post('/cost/create', { project_id: priced, costs: { one: terms, two: terms } });
    const page = await visit(`prices?project=${encodeURIComponent(priced)}`);
    for (const [name, next] of [
      ['one', 'Remove the price of two'],
      ['two', 'Model'],
    ]) {
      await page.getByRole('button', { name: `Remove the price of ${name}` }).press('Enter');
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).press('Enter');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await focused(page)).toBe(next);
    }
  });

  it('are shown in their unit, and are no dollars', async () => {
    const priced = newName('page/units');
    const root = { id: 'in-euros', op: 'model.chat', ...chat([], {}) };
    await report(priced, [root, { ...root, id: 'below', parent: root.id, trace: root.id }]);
    await post('/cost/create', {
      project_id: priced,
      costs: {
        'gpt-4o-mini': {
          prompt_token_cost: 0.01,
          prompt_token_cost_unit: 'EUR',
          completion_token_cost: 0.02,
          completion_token_cost_unit: 'credits',
          effective_date: '2026-01-01T00:00:00Z',
        },
      },
    });
    const page = await visit(`traces?project=${encodeURIComponent(priced)}`);
    await page.getByText('€2.40 + 1.20 credits').waitFor();
    await page.getByRole('link', { name: 'model.chat' }).click();
    await page.locator('.view-head').getByText('€2.40 + 1.20 credits').waitFor();
    await page
      .getByRole('treeitem')
      .last()
      .getByText('€1.20 + 0.6000 credits')
      .waitFor({ state: 'attached' });
  });

  it('cannot be added with a key that may only read', async () => {
    const page = await visit(`prices?project=${at}`, { as: reader });
    await page.getByText('You may not add prices').waitFor();
    expect(await page.getByRole('button', { name: 'Add price' }).count()).toBe(0);
  });

  it('have no fault that axe finds, in light and in dark, and fit a phone', async () => {
    const priced = newName('page/prices');
    await post('/cost/create', {
      project_id: priced,
      costs: { 'my-model': { prompt_token_cost: 1.5e-7, completion_token_cost: 6e-7 } },
    });
    const page = await visit(`prices?project=${encodeURIComponent(priced)}`);
    await page.getByRole('cell', { name: '0.15' }).waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });
});
