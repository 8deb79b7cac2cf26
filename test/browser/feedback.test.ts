import { beforeAll, describe, expect, it } from 'vitest';
import { newName } from '../support/run/new-name.ts';
import { axeFaults } from './support/axe.ts';
import { post, report, turn } from './support/calls.ts';
import { focused } from './support/focus.ts';
import { useBrowser } from './support/visit.ts';

const visit = useBrowser();
let project: string;
let at: string;

/** Three turns, the second of which somebody disliked. */
const seed = async (project: string) => {
  await report(project, [...turn('f1', 0), ...turn('f2', 60_000), ...turn('f3', 120_000)]);
  await post('/feedback/create', {
    project_id: project,
    feedback_type: 'thumbs',
    svc_ref: `svc:///${project}/call/f2`,
    payload: { up: false, note: 'Wrong order' },
    creator: 'Ada',
  });
};

beforeAll(async () => {
  project = newName('page/feedback');
  at = encodeURIComponent(project);
  await seed(project);
});

/** The records on a call, as the service has them. */
const stored = async (id: string) => {
  const { result } = (await post('/feedback/query', {
    project_id: project,
    query: {
      $expr: {
        $eq: [{ $getField: 'svc_ref' }, { $literal: `svc:///${project}/call/${id}` }],
      },
    },
  })) as { result: { feedback_type: string; payload: unknown }[] };
  return result.map(({ feedback_type, payload }) => [feedback_type, payload]);
};

describe('feedback', () => {
  it('is given by thumbs, replaced by the other thumb, and taken back', async () => {
    const page = await visit(`trace?project=${at}&trace=f1`);
    const [up, down] = ['Thumbs up', 'Thumbs down'].map((name) => page.getByRole('button', { name }));
    await up?.click();
    await page.getByRole('tab', { name: 'Feedback 1' }).waitFor();
    expect(await stored('f1')).toEqual([['thumbs', { up: true }]]);
    await down?.click();
    await page.locator('button[aria-label="Thumbs down"][aria-pressed=true]').waitFor();
    expect(await stored('f1')).toEqual([['thumbs', { up: false }]]);
    await down?.click();
    await page.getByRole('tab', { name: 'Feedback', exact: true }).waitFor();
    expect(await stored('f1')).toEqual([]);
  });

  it('has a score and a correction, beside what others said', async () => {
    const page = await visit(`trace?project=${at}&trace=f2&tab=feedback`);
    await page.getByText('Thumbs down · Wrong order').waitFor();
    await page.getByLabel('Score').fill('0.25');
    await page.keyboard.press('Enter');
    await page.getByText('★ 0.25').waitFor();
    await page.getByLabel('Score').fill('0.5');
    await page.getByRole('button', { name: 'Replace the score' }).click();
    await page.getByText('★ 0.5').waitFor();
    await page.getByLabel('Correction').fill('You get your money back.');
    await page.getByRole('button', { name: 'Give the correction' }).click();
    await page.getByRole('tab', { name: 'Feedback 3' }).waitFor();
    expect(await stored('f2')).toEqual([
      ['thumbs', { up: false, note: 'Wrong order' }],
      ['score', { score: 0.5 }],
      ['correction', { correction: 'You get your money back.' }],
    ]);
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });

  it('is given and taken back by keyboard, which keeps the focus', async () => {
    const own = newName('page/feedback-by-keyboard');
    await report(own, turn('f4', 0));
    const page = await visit(`trace?project=${encodeURIComponent(own)}&trace=f4&tab=feedback`);
    await page.getByRole('button', { name: 'Thumbs up' }).focus();
    await page.keyboard.press('Space');
    await page.getByRole('tab', { name: 'Feedback 1' }).waitFor();
    await page.keyboard.press('Space');
    await page.getByRole('tab', { name: 'Feedback', exact: true }).waitFor();
    expect(await focused(page)).toBe('Thumbs up');
    await page.getByLabel('Correction').fill('Good');
    await page.getByRole('button', { name: 'Give the correction' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('tab', { name: 'Feedback 1' }).waitFor();
    expect(await focused(page)).toBe('Replace the correction');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('tab', { name: 'Feedback', exact: true }).waitFor();
    expect(await focused(page)).toBe('Give the correction');
  });

  it('is a column of the list, which is filtered by it, and changes with it', async () => {
    const listed = newName('page/feedback-column');
    const own = encodeURIComponent(listed);
    await seed(listed);
    await post('/feedback/create', {
      project_id: listed,
      feedback_type: 'score',
      svc_ref: `svc:///${listed}/call/f2`,
      payload: { score: 0.5 },
    });
    const page = await visit(`traces?project=${own}`);
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'Feedback' }).check();
    await page.keyboard.press('Escape');
    const row = page.getByRole('row').filter({ hasText: 'Turn f2' });
    await row.getByRole('img', { name: 'thumbs down' }).waitFor();
    await row.getByText('0.5').waitFor();
    await page.getByRole('link', { name: 'Turn f3' }).click();
    await page.getByRole('button', { name: 'Thumbs up' }).click();
    await page.getByRole('tab', { name: 'Feedback 1' }).waitFor();
    await page.goBack();
    await page
      .getByRole('row')
      .filter({ hasText: 'Turn f3' })
      .getByRole('img', { name: 'thumbs up' })
      .waitFor();
    await page.getByRole('button', { name: 'Any feedback' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'thumbs down' }).click();
    await page.getByText('1 row', { exact: true }).waitFor();
    expect(await page.locator('.row-link').allInnerTexts()).toEqual(['Turn f2']);
    const without = await visit(`traces?project=${own}&feedback=none`);
    await without.getByText('1 row', { exact: true }).waitFor();
    expect(await without.locator('.row-link').allInnerTexts()).toEqual(['Turn f1']);
  });

  it('that cannot be stored says so, and nothing changes', async () => {
    const page = await visit(`trace?project=${at}&trace=f1`, { expected: /feedback|503/ });
    await page.route('**/feedback/create', (route) => route.fulfill({ status: 503, body: '{}' }));
    await page.getByRole('button', { name: 'Thumbs up' }).click();
    await page.getByRole('alert').getByText('The feedback was not changed. The service is busy.').waitFor();
    expect(await page.locator('.call-pane button[aria-pressed=true]').count()).toBe(0);
  });
});
