import { beforeAll, describe, expect, it } from 'vitest';
import { axeFaults } from './support/axe.ts';
import { post, report, type SeededCall } from './support/calls.ts';
import { focused } from './support/focus.ts';
import { reader, useBrowser } from './support/visit.ts';

const visit = useBrowser();
const project = 'page/evaluations';
const at = encodeURIComponent(project);
const count = 60;

const refTo = (path: string): string => `svc:///${project}/${path}`;
const op = (name: string): string => refTo(`op/${name}:v1`);

const makeExample = (n: number) => ({ inputs: { question: `Where is order ${n}?` }, expected: 'on its way' });

/** An evaluation as the examples report it. Of the hasty one, every third row is wrong, and one failed. */
const makeRun = (id: string, model: string, self: string, start: number, rows: number): SeededCall[] => {
  const calls = Array.from({ length: rows }, (_, n): SeededCall[] => {
    const failed = model === 'hasty' && n === 4;
    const wrong = failed || (model === 'hasty' && n % 3 === 0);
    const output = failed ? null : wrong ? 'I do not know.' : 'on its way';
    const row = { trace: id, parent: `${id}-${n}`, at: start + n };
    return [
      {
        id: `${id}-${n}`,
        trace: id,
        parent: id,
        at: start + n,
        op: op('Evaluation.predict_and_score'),
        inputs: { example: makeExample(n), model },
        output: {
          output,
          scores: { correct: wrong ? 0 : 1, length: output?.length ?? 0 },
          model_latency: 0.2,
        },
      },
      {
        ...row,
        id: `${id}-${n}-answer`,
        op: op('answer'),
        output,
        summary: { usage: { 'gpt-4o-mini': { requests: 1, prompt_tokens: 4000, completion_tokens: 100 } } },
        ...(failed && { exception: 'NoSuchOrder: 4\n  at answer' }),
      },
      ...(n < 7
        ? [
            {
              ...row,
              id: `${id}-${n}-correct`,
              op: op('correct'),
              output: { value: !wrong, reason: wrong ? 'It does not say where.' : 'It says where.' },
            },
          ]
        : []),
    ];
  }).flat();
  const mean = model === 'hasty' ? 0.65 : 1;
  const root: SeededCall = {
    id,
    op: op('Evaluation.evaluate'),
    at: start,
    ms: 5000,
    inputs: { self, model },
    output: { correct: { mean }, length: { mean: 10 }, model_latency: { mean: 0.2 } },
  };
  return [root, ...calls];
};

/** An evaluation as Weave's SDK for JavaScript reports it: refs to rows, and names of its own. */
const weaveRun = async (self: string, dataset: string, table: string): Promise<SeededCall[]> => {
  const { rows } = (await post('/table/query', { project_id: project, digest: table })) as {
    rows: { digest: string }[];
  };
  const [first, second] = rows.map(({ digest }) => `${dataset}/attr/rows/id/${digest}`);
  const row = (id: string, example: string | undefined, output: string | undefined): SeededCall => ({
    id,
    trace: 'woven',
    parent: 'woven',
    at: 20_000,
    op: op('Evaluation.predictAndScore'),
    inputs: { self, model: op('increment'), example },
    output: {
      model_success: output !== undefined,
      model_output: output,
      model_latency: 0.1,
      scores: output === undefined ? {} : { correct: { value: output === 'on its way', reason: 'exact' } },
    },
  });
  return [
    {
      id: 'woven',
      name: 'orders_increment',
      op: op('Evaluation.evaluate'),
      at: 20_000,
      ms: 900,
      inputs: { self, model: op('increment') },
      output: { correct: { true_count: 1, true_fraction: 0.5 }, model_output: {} },
    },
    row('woven-1', first, 'on its way'),
    row('woven-2', second, undefined),
  ];
};

beforeAll(async () => {
  const rows = Array.from({ length: count }, (_, n) => makeExample(n));
  const create = async (object_id: string, val: object) => {
    const { digest } = (await post('/obj/create', { obj: { project_id: project, object_id, val } })) as {
      digest: string;
    };
    return refTo(`object/${object_id}:${digest}`);
  };
  const { digest } = (await post('/table/create', { table: { project_id: project, rows } })) as {
    digest: string;
  };
  const dataset = await create('orders', {
    _type: 'Dataset',
    name: 'orders',
    rows: refTo(`table/${digest}`),
  });
  const self = await create('orders-evaluation', { _type: 'Evaluation', name: 'shop', dataset });
  const column = { evaluation_object_ref: self, scorer_name: 'correct', summary_metric_path: 'mean' };
  await create('ranks', { _type: 'Leaderboard', name: 'ranks', columns: [column] });
  await report(project, [
    ...makeRun('careful', 'careful', self, 0, count),
    ...makeRun('hasty', 'hasty', self, 10_000, count - 1),
    ...(await weaveRun(self, dataset, digest)),
  ]);
  await create('polite', {
    _type: 'Evaluator',
    name: 'polite',
    on: 'call',
    sample_rate: 1,
    enabled: false,
    check: { contains: 'please' },
  });
  const judge = (call: string, value: boolean, reason: string) =>
    post('/feedback/create', {
      project_id: project,
      svc_ref: refTo(`call/${call}`),
      feedback_type: 'evaluation.polite',
      payload: { value, reason },
    });
  await judge('careful-0', true, 'It is kind.');
  await judge('hasty-0', false, 'It offers no help.');
});

const list = `evaluations?project=${at}&from=2026-09-01`;
const comparison = (...runs: string[]) =>
  `evaluation?project=${at}&runs=${encodeURIComponent(JSON.stringify(runs))}`;

describe('evaluations', () => {
  it('are listed with their figures, found by a text, and compared by keyboard', async () => {
    const page = await visit(list);
    const hasty = page.getByRole('row', { name: /shop .* hasty orders/ });
    await hasty.getByText('$0.').waitFor();
    const cells = () => hasty.getByRole('cell').allInnerTexts();
    await expect
      .poll(cells)
      .toEqual([
        '',
        'shop',
        expect.stringContaining('1 Oct'),
        'hasty',
        expect.stringMatching(/^orders \S{7}$/),
        '0.65',
        '10',
        '59',
        '1',
        expect.stringMatching(/^\$0\.0/),
        '200 ms',
      ]);
    await page.getByRole('img', { name: 'correct of 3 evaluations over time' }).waitFor();
    const listed = page.getByRole('row').filter({ has: page.getByRole('checkbox') });
    const titles = () => listed.getByRole('link').allInnerTexts();
    await expect.poll(titles).toEqual(['orders_increment', 'shop', 'shop']);
    await page.getByRole('button', { name: 'Mean correct' }).click();
    await page.locator('th[aria-sort=descending]', { hasText: 'Mean correct' }).waitFor();
    await page.getByRole('row').nth(1).getByText('careful').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('HASTY');
    await page.keyboard.press('Enter');
    await page.getByText('1 evaluation', { exact: true }).waitFor();
    expect(await focused(page)).toBe('Search names and models');
    await page.goto(new URL(list, page.url()).href);
    await hasty.waitFor();
    for (const key of ['j', 'j', 'j', 'x', 'k', 'x', 'c']) await page.keyboard.press(key);
    await page.getByRole('heading', { name: 'Compare 2 evaluations' }).waitFor();
    expect(new URL(page.url()).searchParams.get('runs')).toBe('["careful","hasty"]');
  });

  it('are compared with the worst changes first, and say whether a difference could be chance', async () => {
    const page = await visit(comparison('careful', 'hasty'));
    const means = page.getByRole('row', { name: /^correct/ });
    await means.getByText(/−0.35.* hardly chance/).waitFor();
    await means
      .getByText(/^between −0\.\d+ and −0\.\d+ in 95\s% of the draws; every draw shows a fall$/)
      .waitFor();
    await page
      .getByRole('row', { name: /^Latency/ })
      .getByText('no row differs')
      .waitFor();
    await page.getByText('1 row is not in all of them').waitFor();
    const rows = page.getByRole('region', { name: 'Rows' }).getByRole('button');
    expect(await rows.first().innerText()).toContain('Where is order 0?');
    await rows.first().getByText('correct 0 worse (−1)').waitFor();
    expect(await rows.count()).toBeLessThan(30);
    await page.getByRole('button', { name: 'Worse 21' }).waitFor();
    await page.getByRole('button', { name: 'Failed 1' }).click();
    await expect.poll(() => rows.allInnerTexts()).toEqual([expect.stringContaining('Where is order 4?')]);
    await page.getByRole('button', { name: 'Not in all 1' }).click();
    await rows.getByText('not in this evaluation').waitFor();
    await page.getByRole('button', { name: /^All / }).click();
    // What is longer is worse, once somebody says so.
    await page.getByRole('button', { name: 'length: more is better' }).click();
    await page
      .getByRole('row', { name: /^length/ })
      .getByText('worse')
      .waitFor();
    await page.getByRole('button', { name: 'Use as baseline' }).click();
    await means.getByText(/\+0.35.* hardly chance/).waitFor();
    expect(new URL(page.url()).searchParams.get('runs')).toBe('["hasty","careful"]');
  });

  it('show a row with its outputs side by side and the reasons of its scores, and lead on', async () => {
    const page = await visit(comparison('careful', 'hasty'));
    await page.getByText('1 row is not in all of them').waitFor();
    for (const key of ['j', 'Enter']) await page.keyboard.press(key);
    const row = page.getByRole('region', { name: 'The row' });
    const outputs = row.getByRole('region', { name: 'Differences of the outputs' });
    await outputs.getByText('I do not know.').waitFor();
    // Which output is right is for the scores to say: neither is red or green.
    const colors = await page.evaluate<string[]>(`[...document.querySelectorAll('.diff .side')].map((side) =>
      [getComputedStyle(side).backgroundColor]
        .concat([...side.querySelectorAll('mark')].map((mark) => getComputedStyle(mark).color))
        .join(' '))`);
    expect(colors.length).toBeGreaterThan(1);
    expect(new Set(colors).size).toBe(1);
    await row.getByRole('row', { name: 'correct 1 It says where. 0 It does not say where.' }).waitFor();
    await row.getByRole('row', { name: 'polite 1 It is kind. 0 It offers no help.' }).waitFor();
    expect(new URL(page.url()).searchParams.get('row')).toBe('careful-0');
    await row.getByRole('button', { name: 'Add to dataset' }).nth(1).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Dataset').fill('hard');
    expect(JSON.parse(await dialog.getByLabel('Inputs').inputValue())).toEqual(makeExample(0).inputs);
    expect(await dialog.getByLabel('Expected output').inputValue()).toBe('on its way');
    await dialog.getByRole('button', { name: 'Add row' }).click();
    await dialog.getByRole('link', { name: 'Open hard' }).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page.reload();
    await row.getByRole('link', { name: 'Story' }).nth(1).click();
    await page.getByText('It does not say where.').first().waitFor();
    expect(page.url()).toContain('trace=hasty&call=hasty-0&as=story');
  });

  it('of Weave’s SDKs show, and their rows stand beside those of others', async () => {
    const page = await visit(comparison('careful', 'woven'));
    const rows = page.getByRole('region', { name: 'Rows' }).getByRole('button');
    await rows.filter({ hasText: 'B: failed' }).getByText('Where is order 1?').waitFor();
    await rows.filter({ hasText: 'Where is order 0?' }).getByText('correct 1').nth(1).waitFor();
    await page.getByText('1 row are too few to tell').waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    const places = await page
      .locator('.run-rows, .scroll-x')
      .evaluateAll((all) => all.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth));
    expect(Math.max(...places)).toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('link', { name: 'Choose others' }).click();
    const ranks = page.getByRole('region', { name: 'Leaderboard ranks' });
    await ranks.getByRole('row', { name: 'careful 1' }).waitFor();
    expect((await ranks.getByRole('row').allInnerTexts()).map((text) => text.split('\t', 1)[0])).toEqual([
      'Model',
      'careful',
      'hasty',
      expect.stringContaining('increment'),
    ]);
    const alone = await visit(`trace?project=${at}&trace=woven`);
    await alone.getByRole('link', { name: 'Rows and scores' }).click();
    await alone.getByRole('button', { name: 'Row 2 Where is order 1?' }).waitFor();
    await alone.getByRole('heading', { name: 'orders_increment' }).waitFor();
    expect(await alone.getByRole('button', { name: /^Row/ }).count()).toBe(2);
  });

  it('that are gone are said, and a key that may only read adds nothing', async () => {
    const gone = await visit(comparison('careful', 'nothing'));
    await gone.getByText('1 evaluation of this link cannot be found').waitFor();
    const page = await visit(`${comparison('hasty')}&row=hasty-0`, { as: reader });
    const row = page.getByRole('region', { name: 'The row' });
    await row.getByRole('link', { name: 'Trace' }).waitFor();
    expect(await row.getByRole('button', { name: 'Add to dataset' }).count()).toBe(0);
  });

  it('have no fault that axe finds, in light and in dark, and fit a phone', async () => {
    const page = await visit(list);
    await page.getByRole('row', { name: /hasty/ }).getByText('$0.').waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
    const compared = await visit(`${comparison('careful', 'hasty')}&row=careful-0`);
    await compared.getByRole('row', { name: /^polite 1/ }).waitFor();
    await compared.getByText('every draw shows a fall').first().waitFor();
    expect(await axeFaults(compared)).toEqual({ light: [], dark: [], width: 360 });
  });
});
