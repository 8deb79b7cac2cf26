import { beforeAll, describe, expect, it } from 'vitest';
import { post, report } from './support/calls.ts';
import { useBrowser } from './support/visit.ts';

const visit = useBrowser();
const project = 'page/hostile';

const markup = '<img src=x onerror="window.hacked=1"><script>window.hacked=2</script>';
const bidi = '\u202e\u2066reversed';
const schemes = '[a](javascript:window.hacked=3) javascript:window.hacked=4 data:text/html,<script>';
const hostile = `${markup}${bidi}${schemes}`;

/** Objects within objects, as deep as the service takes them. */
const deep = (levels: number): object => {
  let value: object = { end: markup };
  for (let level = 0; level < levels; level++) value = { in: value };
  return value;
};

beforeAll(async () => {
  await report(project, [
    {
      id: hostile.slice(0, 200),
      op: hostile,
      name: hostile,
      thread: `thread ${markup}`,
      attributes: { [markup]: hostile, __proto__text: markup },
      inputs: {
        model: markup,
        messages: [
          { role: markup, content: hostile },
          {
            role: 'user',
            content: [{ type: 'image_url', image_url: { url: 'https://example.com/spy.png' } }],
          },
          {
            role: 'user',
            content: [{ type: 'image_url', image_url: { url: 'javascript:window.hacked=5' } }],
          },
        ],
      },
      output: { choices: [{ message: { role: 'assistant', content: hostile } }] },
      exception: hostile,
      summary: { usage: { [markup]: { total_tokens: 5 } } },
    },
    { id: 'deep', name: 'Deep', at: 1, inputs: deep(500) },
    { id: 'long', name: 'Long', at: 2, inputs: { text: 'x'.repeat(2_000_000), end: 'here' } },
    {
      id: 'keys',
      name: 'Keys',
      at: 3,
      inputs: Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`key-${at}`, at])),
    },
  ]);
});

const list = `traces?project=${encodeURIComponent(project)}`;

describe('a call full of markup', () => {
  it('shows as text, in the list and in every tab', async () => {
    const page = await visit(`${list}&all=true&columns=${encodeURIComponent('["attributes","inputs"]')}`);
    await page.locator('.row-link').getByText(markup).press('Enter');
    for (const tab of ['Error', 'Messages', 'Data', 'Usage', 'Feedback']) {
      await page.getByRole('tab', { name: tab }).click();
      await page.getByRole('tabpanel', { name: tab }).waitFor();
      expect(await page.evaluate('window.hacked')).toBeUndefined();
      expect(await page.locator('#view img, #view script, #view a[href^="javascript"]').count()).toBe(0);
    }
    await page.getByRole('heading', { name: markup, level: 1 }).waitFor();
  });
});

describe('a thread full of markup', () => {
  it('shows as text, in the list of threads and as a chat', async () => {
    const page = await visit(`threads?project=${encodeURIComponent(project)}`);
    await page.getByRole('link', { name: markup }).first().press('Enter');
    await page.getByRole('heading', { name: markup, level: 1 }).waitFor();
    await page.getByText('reversed').first().waitFor();
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.locator('#view img, #view script, #view a[href^="javascript"]').count()).toBe(0);
  });
});

describe('a value of 100,000 levels', () => {
  it('is shown level by level, and freezes nothing', async () => {
    const page = await visit(list);
    const levels = 100_000;
    const inputs = `${'{"in":'.repeat(levels)}"end"${'}'.repeat(levels)}`;
    // The service takes no more than 511 levels, but the page need not rely on it.
    await page.route('**/call/read', async (route) => {
      if (route.request().postDataJSON().id !== 'deep') return route.fallback();
      const answer = await route.fetch();
      const { call } = (await answer.json()) as { call: object };
      const text = JSON.stringify({ call: { ...call, inputs: 'HERE' } }).replace('"HERE"', inputs);
      return route.fulfill({ status: 200, contentType: 'application/json', body: text });
    });
    await page.getByRole('link', { name: 'Deep' }).click();
    await page.getByRole('heading', { name: 'inputs' }).waitFor();
    await page.locator('.json-row').nth(30).waitFor();
    expect(await page.locator('*').count()).toBeLessThan(2000);
    await page.getByRole('searchbox', { name: 'Search in inputs' }).fill('end');
    await page.getByText('1 found').waitFor();
  });
});

describe('objects and models full of markup', () => {
  it('show as text, in the list of objects, their differences and the playground', async () => {
    const object_id = 'hostile';
    for (const val of [{ [markup]: hostile }, { [markup]: `${hostile}2` }])
      await post('/obj/create', { obj: { project_id: project, object_id, val } });
    const page = await visit(`objects?project=${encodeURIComponent(project)}&object=hostile`);
    await page
      .getByRole('region', { name: /Differences/ })
      .getByText(markup)
      .first()
      .waitFor();
    const id = encodeURIComponent(hostile.slice(0, 200));
    await page.goto(new URL(`playground?project=${encodeURIComponent(project)}&call=${id}`, page.url()).href);
    await page.getByLabel('Text of message 1').waitFor();
    expect(await page.getByLabel('Model').inputValue()).toBe(markup);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('You said:').first().waitFor();
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.locator('#view img, #view script, #view a[href^="javascript"]').count()).toBe(0);
  });
});

describe('content without measure', () => {
  /** Opens the data of a call, which leaves the document small. */
  const open = async (id: string) => {
    const page = await visit(`trace?project=${encodeURIComponent(project)}&trace=${id}&tab=data`);
    await page.getByRole('heading', { name: 'inputs' }).waitFor();
    await page.locator('.json-row').first().waitFor();
    expect(await page.locator('*').count()).toBeLessThan(2000);
    expect(await page.locator('.long-text').count()).toBe(0);
    return page;
  };

  it('opens where it is deep, and leaves the document small', async () => {
    await open('deep');
  });

  it('of many keys opens, leaves the document small, and is found by a search', async () => {
    const page = await open('keys');
    await page.getByRole('searchbox', { name: 'Search in inputs' }).fill('key-99999');
    await page.getByText('1 found').waitFor();
    await page.getByText('inputs.key-99999').waitFor();
  });

  it('of a long text leaves the document small, and opens the text piece by piece', async () => {
    const page = await open('long');
    await page.getByRole('button', { name: '2,000,000 characters' }).click();
    await page.getByRole('button', { name: /Show more: 1,996,000 of 2,000,000/ }).click();
    await page.getByRole('button', { name: /Show more: 1,896,000/ }).waitFor();
  });
});
