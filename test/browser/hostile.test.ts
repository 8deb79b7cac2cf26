import { beforeAll, describe, expect, it } from 'vitest';
import { report } from './support/calls.ts';
import { useBrowser } from './support/visit.ts';

const visit = useBrowser();
const project = 'page/hostile';

const markup = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
const bidi = '\u202e\u2066reversed';
const schemes = '[a](javascript:document.title=3) javascript:document.title=4 data:text/html,<script>';
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
            content: [{ type: 'image_url', image_url: { url: 'javascript:document.title=5' } }],
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
    await page.getByRole('link', { name: markup }).click();
    for (const tab of ['Error', 'Messages', 'Data', 'Usage', 'Feedback']) {
      await page.getByRole('tab', { name: tab }).click();
      await page.getByRole('tabpanel', { name: tab }).waitFor();
      expect(await page.title()).toBe('pennytrace');
      expect(await page.locator('#view img, #view script, #view a[href^="javascript"]').count()).toBe(0);
    }
    await page.getByRole('heading', { name: markup, level: 1 }).waitFor();
  });
});

describe('content without measure', () => {
  it.each([
    ['Deep', 'deep'],
    ['Long', 'long'],
    ['Keys', 'keys'],
  ])('%s: opens, and leaves the document small', async (_, id) => {
    const page = await visit(`trace?project=${encodeURIComponent(project)}&trace=${id}&tab=data`);
    await page.getByRole('heading', { name: 'inputs' }).waitFor();
    await page.locator('.json-row').first().waitFor();
    expect(await page.locator('*').count()).toBeLessThan(2000);
    expect(await page.locator('.long-text').count()).toBe(0);
  });

  it('is found by a search', async () => {
    const page = await visit(`trace?project=${encodeURIComponent(project)}&trace=keys&tab=data`);
    await page.getByRole('searchbox', { name: 'Search in inputs' }).fill('key-99999');
    await page.getByText('1 found').waitFor();
    await page.getByText('inputs.key-99999').waitFor();
  });

  it('opens a long text piece by piece', async () => {
    const page = await visit(`trace?project=${encodeURIComponent(project)}&trace=long&tab=data`);
    await page.getByRole('button', { name: '2,000,000 characters' }).click();
    await page.getByRole('button', { name: /Show more: 1,996,000 of 2,000,000/ }).click();
    await page.getByRole('button', { name: /Show more: 1,896,000/ }).waitFor();
  });
});
