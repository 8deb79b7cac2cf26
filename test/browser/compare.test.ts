import { beforeAll, describe, expect, it } from 'vitest';
import { axeFaults } from './support/axe.ts';
import { report, turn } from './support/calls.ts';
import { useBrowser } from './support/visit.ts';

const visit = useBrowser();
const project = 'page/compare';
const at = encodeURIComponent(project);

/** A text that is longer than any window, of which every second line is its own. */
const linesOf = (name: string): string =>
  Array.from({ length: 300 }, (_, at) => (at % 2 === 0 ? `${name} ${at}` : `the same ${at}`)).join('\n');

beforeAll(async () => {
  const [root, ...calls] = turn('c2', 60_000);
  await report(project, [
    ...turn('c1', 0),
    { ...root, id: 'c2', inputs: { question: 'Where is my parcel 4711?' }, ms: 1200 },
    ...calls.filter(({ id }) => id !== 'c2-tool'),
    { id: 'listed', output: '# Offers\n\n- a **red** one\n- a blue one' },
    { id: 'running', ms: null },
    { id: 'long-1', output: linesOf('one') },
    { id: 'long-2', output: linesOf('other') },
    { id: 'typed', at: -2000, inputs: { order: 4711 }, output: true },
    { id: 'texts', at: -1000, inputs: { order: '4711' }, output: 'true' },
  ]);
});

describe('a comparison', () => {
  it('of two traces is reached from the list by keyboard, and marks what differs', async () => {
    const page = await visit(`traces?project=${at}`);
    // Rows come one after the other, and `j` goes no further than the last.
    await page.getByRole('link', { name: 'Turn c1' }).waitFor();
    for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key);
    await page.getByRole('button', { name: 'Compare the two' }).waitFor();
    await page.keyboard.press('c');
    await page
      .getByRole('row', { name: /Latency 1.20 s 900 ms/ })
      .and(page.locator('.differs'))
      .waitFor();
    const inputs = page.getByRole('region', { name: 'Differences of inputs' });
    expect(await inputs.locator('mark').allInnerTexts()).toEqual(['parcel', 'order']);
    await page.getByRole('region', { name: 'Steps' }).getByText('only here: tool.find_order').waitFor();
    await page.getByRole('button', { name: 'Swap' }).click();
    await page.getByRole('row', { name: /Latency 900 ms 1.20 s/ }).waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });

  it('of a call is begun beside it, with a call of the same operation', async () => {
    const page = await visit(`trace?project=${at}&trace=c1&call=c1-model-1`);
    await page.getByRole('link', { name: 'Compare', exact: true }).click();
    const offered = page.getByRole('region', { name: 'Compare with' });
    await offered.getByRole('link').nth(2).waitFor();
    expect(await offered.getByRole('link').count()).toBe(3);
    await offered.getByRole('link').first().click();
    const answers = page.getByRole('region', { name: 'Differences of the answer' });
    await answers.getByText('It is on its way.').waitFor();
    await answers.getByText('calls: find_order').waitFor();
    expect(await page.getByText('index: 0').count()).toBe(0);
    await page.getByRole('region', { name: 'Differences of the messages' }).waitFor();
    await page.getByText('All of output as data').click();
    await page
      .getByRole('region', { name: 'Differences of output as data' })
      .getByText('choices:')
      .first()
      .waitFor();
  });

  it('marks a value whose type alone differs', async () => {
    const page = await visit(`compare?project=${at}&left=typed&right=texts`);
    await page.getByRole('region', { name: 'Differences of inputs' }).getByText('"4711"').waitFor();
    await page.getByRole('region', { name: 'Differences of the answer' }).getByText('"true"').waitFor();
  });

  it('of Markdown reads as such until its differences are asked for, and says what still runs', async () => {
    const page = await visit(`compare?project=${at}&left=listed&right=c1`);
    await page.getByRole('listitem').getByText('a blue one').waitFor();
    await page.getByText('It is on its way.').waitFor();
    await page.getByLabel('Highlight differences').check();
    await page.getByRole('region', { name: 'Differences of the answer' }).getByText('# Offers').waitFor();
    const running = await visit(`compare?project=${at}&left=running&right=c1`);
    await running.getByText('It still runs.').waitFor();
    expect(await running.getByRole('region', { name: 'Answers' }).locator('.added').count()).toBe(0);
  });

  it('that is longer than the window scrolls below the head of the page, which stays', async () => {
    const page = await visit(`compare?project=${at}&left=long-1&right=long-2`);
    const differences = page.getByRole('region', { name: 'Differences of the answer' });
    await differences.getByText('other 298').waitFor();
    await page.getByRole('heading', { name: 'Answers' }).hover();
    for (let times = 0; times < 2; times++) await page.mouse.wheel(0, 100_000);
    await page.getByText('All of attributes as data').hover();
    const scrolled = 'document.getElementById("view").scrollTop > 1000';
    expect(await page.evaluate(scrolled)).toBe(true);
    expect(
      await page.evaluate(
        '[document.scrollingElement.scrollHeight - innerHeight, document.scrollingElement.scrollTop]',
      ),
    ).toEqual([0, 0]);
    expect(await page.getByRole('navigation', { name: 'Breadcrumb' }).boundingBox()).toMatchObject({
      y: expect.toSatisfy((y: number) => y >= 0 && y < 60),
    });
  });

  it('with a call that is gone says so', async () => {
    const page = await visit(`compare?project=${at}&left=c1&right=nothing`);
    await page.getByText('One of the calls does not exist').waitFor();
  });
});
