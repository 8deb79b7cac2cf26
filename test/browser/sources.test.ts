import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { newName } from '../support/run/new-name.ts';
import { post } from './support/calls.ts';
import { useBrowser } from './support/visit.ts';

const visit = useBrowser();

let project: string;
beforeAll(async () => {
  project = newName('page/sources');
  const now = Date.now();
  const start = (id: string, attributes: object, at: number) => ({
    mode: 'start',
    req: {
      start: {
        project_id: project,
        id,
        trace_id: id,
        op_name: id,
        attributes,
        started_at: new Date(now - 60_000 + at).toISOString(),
      },
    },
  });
  const batch = [
    start('served', {}, 0),
    start('judged', { source: 'judge' }, 1000),
    start('tried', { source: 'test' }, 2000),
  ];
  const end = { project_id: project, id: 'judged', ended_at: new Date(now).toISOString() };
  await post('/call/upsert_batch', { batch: [...batch, { mode: 'end', req: { end } }] });
  const score = (id: string, feedback_type: string, payload: object) => ({
    project_id: project,
    svc_ref: `svc:///${project}/call/${id}`,
    feedback_type,
    payload,
  });
  const batchOfScores = [
    score('served', 'correct', { value: false }),
    score('tried', 'correct', { value: true }),
    score('served', 'helpful', { value: 0.3 }),
    score('tried', 'helpful', { value: 0.8 }),
    score('tried', 'thumbs', { up: true }),
  ];
  await post('/feedback/batch/create', { batch: batchOfScores });
});

const link = (view: string, search = '') => `${view}?project=${encodeURIComponent(project)}${search}`;

const rowsOn = async (page: Page, names: readonly string[]): Promise<void> =>
  expect.poll(() => page.locator('.row-link').allInnerTexts()).toEqual(names);

const choose = async (page: Page, before: string, source: string): Promise<void> => {
  await page.getByRole('button', { name: `Source: ${before}` }).click();
  await page.getByRole('menuitemcheckbox', { name: source, exact: true }).click();
};

describe('the list', () => {
  it('shows production, and other sources when they are chosen, which the URL has', async () => {
    const page = await visit(link('traces'));
    await rowsOn(page, ['served']);
    await choose(page, 'Production', 'Judges');
    await rowsOn(page, ['judged']);
    expect(page.url()).toContain('source=judge');
    await choose(page, 'Judges', 'All sources');
    await rowsOn(page, ['tried', 'judged', 'served']);
  });

  it('is filtered by a score, which it then shows', async () => {
    const page = await visit(link('traces', '&source=all'));
    await page.getByRole('button', { name: '+ Filter' }).click();
    await page.getByRole('button', { name: 'Score', exact: true }).click();
    await page.getByRole('button', { name: 'correct: false' }).click();
    await page.getByText('correct is false').waitFor();
    await rowsOn(page, ['served']);
    await page.getByRole('columnheader', { name: 'correct' }).waitFor();
  });

  it('is filtered by a bound of a number, and by thumbs', async () => {
    const page = await visit(link('traces', '&source=all'));
    await page.getByRole('button', { name: '+ Filter' }).click();
    await page.getByRole('button', { name: 'Score', exact: true }).click();
    await page.getByRole('button', { name: 'helpful: above or below…' }).click();
    await page.getByRole('combobox', { name: 'Value' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.type('0.5');
    await page.getByRole('button', { name: 'Add filter' }).click();
    await page.getByText('helpful below 0.5').waitFor();
    await rowsOn(page, ['served']);
    const other = await visit(link('traces', '&source=all'));
    await other.getByRole('button', { name: '+ Filter' }).click();
    await other.getByRole('button', { name: 'Score', exact: true }).click();
    await other.getByRole('button', { name: 'thumbs: true' }).click();
    await other.getByText('thumbs is true').waitFor();
    await rowsOn(other, ['tried']);
  });
});

describe('the overview', () => {
  it('counts production, by any filter of the list, and tells sources apart', async () => {
    const page = await visit(link('overview'));
    const calls = (count: string) =>
      page.getByRole('list', { name: 'In all' }).getByRole('link', { name: `Calls ${count}` });
    await calls('1').waitFor();
    await choose(page, 'Production', 'All sources');
    await calls('3').waitFor();
    await page.getByRole('button', { name: 'Any status' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'running' }).click();
    await page.keyboard.press('Escape');
    expect(page.url()).toContain('status=');
    await calls('2').waitFor();
    await visit(link('overview', '&source=all&by=source')).then((other) =>
      other.getByRole('region', { name: 'Sources' }).getByRole('link', { name: 'judge' }).waitFor(),
    );
  });
});
