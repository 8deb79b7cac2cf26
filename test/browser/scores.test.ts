import { beforeAll, describe, expect, it } from 'vitest';
import { axeFaults } from './support/axe.ts';
import { atPresent, post, report } from './support/calls.ts';
import { useBrowser } from './support/visit.ts';

/* What feedback and evaluators say of a project, and figures by it. */

const visit = useBrowser();
const project = 'page/scores';
const at = encodeURIComponent(project);
const path = (type: string, field = 'value') => encodeURIComponent(`feedback.[${type}].payload.${field}`);

/** Calls of the last hour, each with its scores. */
const count = 8;

beforeAll(async () => {
  // In one bucket of the overview's charts, which have half an hour each.
  const halfHour = 1_800_000;
  const age = 2 * halfHour + (Date.now() % halfHour);
  const began = atPresent() - age;
  const users = ['ada', 'grace'];
  await report(
    project,
    Array.from({ length: count }, (_, i) => ({
      id: `scored-${i}`,
      name: `Answer ${i}`,
      op: i % 2 === 0 ? 'answer' : 'search',
      at: began + i * 60_000,
      attributes: { user: { id: users[i % 2] }, tags: i < 2 ? ['beta'] : [] },
      inputs: { question: `Question ${i}` },
      output: i === 5 ? 'a heron' : 'a duck',
    })),
  );
  const feedback = (i: number, feedback_type: string, payload: object) => ({
    project_id: project,
    svc_ref: `svc:///${project}/call/scored-${i}`,
    feedback_type,
    payload,
  });
  const batch = Array.from({ length: count }, (_, i) => [
    feedback(i, 'evaluation.helpful', { value: i / 10, reason: `Because of ${i}` }),
    feedback(i, 'thumbs', { up: i % 4 !== 0 }),
    ...(i < 4 ? [feedback(i, 'tone', { value: i === 0 ? 'curt' : 'kind' })] : []),
  ]).flat();
  await post('/feedback/batch/create', { batch });
  const judge = { _type: 'Evaluator', name: 'silent', on: 'call', sample_rate: 1, check: { contains: 'x' } };
  const val = { ...judge, enabled: false, saved_at: '2026-10-01T12:00:00Z' };
  await post('/obj/create', { obj: { project_id: project, object_id: 'silent', val } });
});

describe('the scores', () => {
  it('are listed with what they come to, evaluators without any too', async () => {
    const page = await visit(`scores?project=${at}`);
    await page.getByRole('row', { name: /^helpful mean 0.35 8 evaluator/ }).waitFor();
    await page.getByRole('row', { name: /^thumbs 75 % true 8 feedback/ }).waitFor();
    await page.getByRole('row', { name: /^tone 75 % kind 4 feedback/ }).waitFor();
    await page.getByRole('row', { name: /^silent none in this time 0 evaluator/ }).waitFor();
    expect(await page.locator('svg.trend').count()).toBe(3);
  });

  it('lead to a page of each: over time, its values, and the calls with the lowest', async () => {
    const page = await visit(`scores?project=${at}`);
    await page.getByRole('link', { name: 'helpful' }).click();
    await page.getByRole('heading', { name: 'helpful', exact: true }).waitFor();
    await page.getByRole('img', { name: /^Score over time. mean: at most 0.35/ }).waitFor();
    await page.getByRole('img', { name: /^Distribution over time. p10/ }).waitFor();
    const lowest = page.getByRole('region', { name: 'Lowest values' }).getByRole('row');
    await expect.poll(() => lowest.nth(1).innerText()).toMatch(/Question 0[\s\S]*Because of 0/);
    await page
      .getByRole('region', { name: 'Distribution', exact: true })
      .getByRole('link', { name: '0.3' })
      .click();
    await page.getByText('1 row', { exact: true }).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'All calls with this score' }).click();
    await page.getByText('8 rows', { exact: true }).waitFor();
    expect(await page.locator('.row-link').first().innerText()).toBe('Answer 0');
  });

  it('have a page of true and false, and of labels', async () => {
    const page = await visit(`scores?project=${at}&score=${path('thumbs', 'up')}`);
    await page.getByText('75 % true').waitFor();
    await page.getByRole('link', { name: 'false', exact: true }).click();
    await page.getByText('2 rows', { exact: true }).waitFor();
    const labels = await visit(`scores?project=${at}&score=${path('tone')}`);
    await labels.getByRole('heading', { name: 'Latest values' }).waitFor();
    await labels.getByRole('link', { name: 'curt', exact: true }).waitFor();
    const none = await visit(`scores?project=${at}&score=${path('nobody')}`);
    await none.getByText('No nobody in this time').waitFor();
  });

  it('have no fault that axe finds, in both themes, and fit a phone', async () => {
    const list = await visit(`scores?project=${at}`, { colorScheme: 'light' });
    await list.getByRole('row', { name: /^helpful/ }).waitFor();
    expect(await axeFaults(list)).toEqual({ light: [], dark: [], width: 360 });
    const one = await visit(`scores?project=${at}&score=${path('evaluation.helpful')}`, {
      colorScheme: 'light',
    });
    await one.getByText('Because of 0').waitFor();
    await one.locator('.chart canvas').nth(2).waitFor();
    expect(await axeFaults(one)).toEqual({ light: [], dark: [], width: 360 });
  });
});

describe('the overview', () => {
  const link = (search = '') => `overview?project=${at}&range=24h${search}`;

  it('has charts of scores, which follow its filters', async () => {
    const page = await visit(link());
    const scores = page.getByRole('region', { name: 'Scores' });
    await scores.scrollIntoViewIfNeeded();
    await page.getByRole('img', { name: /^helpful over time. mean: at most 0.35/ }).waitFor();
    await page.getByRole('img', { name: /^thumbs over time. true: at most 75 %/ }).waitFor();
    const where = encodeURIComponent(JSON.stringify([{ path: 'op_name', op: 'is', value: 'answer' }]));
    const filtered = await visit(link(`&where=${where}`));
    await filtered.getByRole('region', { name: 'Scores' }).scrollIntoViewIfNeeded();
    await filtered.getByRole('img', { name: /^helpful over time. mean: at most 0.3$/ }).waitFor();
    await filtered.getByRole('link', { name: 'All scores' }).click();
    await filtered.getByRole('heading', { name: 'Scores', level: 1 }).waitFor();
  });

  it('groups its figures by a score', async () => {
    const page = await visit(link());
    await page.getByRole('button', { name: 'Score', exact: true }).click();
    await page
      .getByRole('dialog', { name: 'Group by a score' })
      .getByRole('button', { name: 'tone 4' })
      .click();
    await page.getByRole('row', { name: /^kind 3/ }).waitFor();
    await page.getByRole('row', { name: /^without this score 4/ }).waitFor();
    await page.getByLabel('One line per group').check();
    await page.getByRole('img', { name: /^Calls over time. kind: at most/ }).waitFor();
    await page.getByRole('link', { name: 'curt', exact: true }).click();
    await page.getByText('1 row', { exact: true }).waitFor();
  });

  it.each([
    ['a score', [{ path: 'feedback.[evaluation.helpful].payload.value', op: 'above', value: '0.45' }], '', 3],
    ['a tag', [{ path: 'attributes.tags', op: 'contains', value: '"beta"' }], '', 2],
    ['an end user', [{ path: 'attributes.user.id', op: 'is', value: 'grace' }], '', 4],
    ['a user', [{ path: 'svc_user_id', op: 'is', value: 'local' }], '', 8],
    ['a source', [], '&source=%22all%22', 8],
    ['a text', [], '&text=heron', 1],
  ] as const)('counts what %s lets through', async (_, where, more, calls) => {
    const conditions = where.length > 0 ? `&where=${encodeURIComponent(JSON.stringify(where))}` : '';
    const page = await visit(link(`${conditions}${more}`));
    await page
      .getByRole('list', { name: 'In all' })
      .getByRole('link', { name: new RegExp(`^Calls ${calls} `) })
      .waitFor();
  });
});
