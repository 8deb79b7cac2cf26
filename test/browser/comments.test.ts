import { beforeAll, describe, expect, it } from 'vitest';
import { newName } from '../support/run/new-name.ts';
import { axeFaults } from './support/axe.ts';
import { post, report, turn } from './support/calls.ts';
import { reader, useBrowser, writer } from './support/visit.ts';

const visit = useBrowser();

/** Services without members do not know the path that lists them. */
const expected = /members\/query|404/;

/** A project with a turn on which others have commented. */
const seed = async () => {
  const project = newName('page/comments');
  await report(project, [...turn('c1', 0), ...turn('c2', 60_000)]);
  for (const [creator, note] of [
    ['ada', 'Why is this so *slow*?'],
    ['anna', 'See <img src=x onerror=alert(1)> [here](javascript:alert(1))'],
  ])
    await post('/feedback/create', {
      project_id: project,
      feedback_type: 'note',
      svc_ref: `svc:///${project}/call/c1`,
      payload: { note },
      creator,
    });
  const at = encodeURIComponent(project);
  return { project, at, path: `trace?project=${at}&trace=c1&call=c1&tab=comments` };
};

/** The payloads of the notes that a project has. */
const storedNotes = async (project: string) => {
  const query = { $expr: { $eq: [{ $getField: 'feedback_type' }, { $literal: 'note' }] } };
  const { result } = (await post('/feedback/query', { project_id: project, query })) as {
    result: { payload: object; svc_user_id: string }[];
  };
  return result.map(({ payload }) => payload);
};

describe('comments', () => {
  let seeded: Awaited<ReturnType<typeof seed>>;
  beforeAll(async () => {
    seeded = await seed();
  });

  it('are a thread on the call, as Markdown of which nothing runs', async () => {
    const page = await visit(seeded.path);
    const thread = page.getByRole('list', { name: 'Comments' }).getByRole('listitem');
    await thread.filter({ hasText: 'ada' }).locator('em').getByText('slow').waitFor();
    expect(await page.locator('.comment img, .comment a').count()).toBe(0);
    await page.getByText('2 comments').first().waitFor();
    await page.getByRole('treeitem').first().getByRole('img', { name: '2 comments' }).waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });

  it('are written, edited and deleted by who wrote them', async () => {
    const { project, path } = await seed();
    const page = await visit(path, { expected });
    await page.getByLabel('Comment', { exact: true }).fill('First **words**');
    await page.getByRole('button', { name: 'Comment', exact: true }).click();
    const own = page.getByRole('listitem').filter({ hasText: 'words' });
    await own.locator('strong').getByText('words').waitFor();
    await page.getByRole('button', { name: '3 comments' }).waitFor();
    await own.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Edit the comment').fill('Other words');
    await page.keyboard.press('Control+Enter');
    await own.getByText('edited').waitFor();
    expect(await storedNotes(project)).toContainEqual(
      expect.objectContaining({ note: 'Other words', edited: true }),
    );
    await own.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: '2 comments' }).waitFor();
    expect((await storedNotes(project)).length).toBe(2);
  });

  it('mention people, whom the keyboard finds, and who find them in the list', async () => {
    const { project, at, path } = await seed();
    const page = await visit(path, { expected });
    const box = page.getByLabel('Comment', { exact: true });
    await box.pressSequentially('Look, @an');
    await page.getByRole('option', { name: 'anna' }).waitFor();
    await page.keyboard.press('Escape');
    expect(await page.getByRole('option').count()).toBe(0);
    await box.pressSequentially('n');
    await box.fill('');
    await box.pressSequentially('Look, @a');
    await page.getByRole('option', { name: 'anna' }).waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
    await page.setViewportSize({ width: 1280, height: 800 });
    await box.press('ArrowDown');
    await page.getByRole('option', { name: 'anna', selected: true }).waitFor();
    await box.press('Enter');
    await box.pressSequentially('and @local.');
    await page.keyboard.press('Control+Enter');
    await page.locator('.comment .mention.own').getByText('@local').waitFor();
    await page.locator('.comment .mention').getByText('@anna').waitFor();
    expect(await storedNotes(project)).toContainEqual(
      expect.objectContaining({ note: 'Look, @anna and @local.', mentions: ['anna', 'local'] }),
    );
    const list = await visit(`traces?project=${at}`);
    await list.getByText('2 rows', { exact: true }).waitFor();
    await list.getByRole('button', { name: 'Any feedback' }).click();
    await list.getByRole('menuitemcheckbox', { name: 'mentions me' }).click();
    await list.getByText('1 row', { exact: true }).waitFor();
    expect(await list.locator('.row-link').allInnerTexts()).toEqual(['Turn c1']);
    // Who is called like the beginning of a name that is mentioned is not meant.
    const other = await visit(`traces?project=${at}&mentions=ann`);
    await other.getByText('0 rows').or(other.locator('.empty')).first().waitFor();
  });

  it('are led to by their links, also after they were edited', async () => {
    const { project, path } = await seed();
    const page = await visit(path);
    await page.getByLabel('Comment', { exact: true }).fill('Linked');
    await page.getByRole('button', { name: 'Comment', exact: true }).click();
    await page.getByRole('listitem').filter({ hasText: 'Linked' }).waitFor();
    const note = (await storedNotes(project)).find((payload) => 'comment' in payload);
    const id = (note as { comment: string }).comment;
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Edit the comment').fill('Linked again');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('edited').waitFor();
    const linked = await visit(`${path}&comment=${id}`);
    await linked.locator('.comment.linked .long-text').getByText('Linked').waitFor();
    const gone = await visit(`${path}&comment=gone`);
    await gone.getByText('The comment that the link leads to was deleted.').waitFor();
  });

  it('are read by who may not write, and changed by nobody else', async () => {
    const { path } = await seed();
    const page = await visit(path, { as: reader });
    await page.getByText('it cannot comment').waitFor();
    expect(await page.getByRole('button', { name: /^(Edit|Delete)$/ }).count()).toBe(0);
    const other = await visit(path, { as: writer });
    await other.getByLabel('Comment', { exact: true }).waitFor();
    expect(await other.getByRole('button', { name: /^(Edit|Delete)$/ }).count()).toBe(0);
  });

  it('that cannot be saved stay where they are written', async () => {
    const page = await visit(seeded.path, { expected: /feedback|503/ });
    await page.route('**/feedback/create', (route) => route.fulfill({ status: 503, body: '{}' }));
    await page.getByLabel('Comment', { exact: true }).fill('Not lost');
    await page.getByRole('button', { name: 'Comment', exact: true }).click();
    await page.getByRole('alert').getByText('The comment was not saved.').waitFor();
    expect(await page.getByLabel('Comment', { exact: true }).inputValue()).toBe('Not lost');
  });
});
