import { beforeAll, describe, expect, it } from 'vitest';
import { axeFaults } from './support/axe.ts';
import { report, type SeededCall } from './support/calls.ts';
import { sendCapture } from './support/captures.ts';
import { useBrowser } from './support/visit.ts';

/* Sessions of coding agents as threads: what an agent did in one, and groups by where they took place. */

const visit = useBrowser();
const project = 'page/coding';

const vcs = (repository: string, branch: string) => ({
  otel: { resource: { vcs: { repository: { name: repository }, ref: { head: { name: branch } } } } },
});

/** A session with an edit. */
const session = (id: string, repository: string, branch: string, user: string, at: number): SeededCall[] => {
  const agent = { agent: { name: 'claude-code' } };
  const attributes = { ...agent, ...vcs(repository, branch), user: { id: user } };
  return [
    {
      id,
      thread: id,
      op: 'claude_code.interaction',
      at,
      ms: 500,
      attributes: { ...attributes, kind: 'agent' },
      inputs: { messages: [{ role: 'user', content: `Mend ${id}` }] },
    },
    {
      id: `${id}-edit`,
      trace: id,
      parent: id,
      thread: id,
      turn: id,
      op: 'claude_code.tool',
      at: at + 10,
      attributes: { ...attributes, kind: 'tool', tool: { name: 'Edit' } },
      inputs: { file_path: '/srv/cart.ts', old_string: 'a\nb', new_string: 'a\nc\nd' },
    },
  ];
};

const places = 'page/places';

beforeAll(async () => {
  await sendCapture('claude-code-spans-and-logs', project);
  await sendCapture('codex-logs', project);
  await report(places, [
    ...session('one', 'acme/shop', 'main', 'ada', 0),
    ...session('two', 'acme/reports', 'main', 'ada', 60_000),
    ...session('three', 'acme/shop', 'fix', 'ben', 120_000),
    { id: 'plain', thread: 'plain', at: 180_000, inputs: { question: 'Hello?' } },
  ]);
});

const thread = (id: string, of = project) => `thread?project=${encodeURIComponent(of)}&thread=${id}`;
const claude = 'eeb5112e-ffe2-468e-b3ab-bc485303289a';

describe('a session', () => {
  it('of Claude Code says what each sub-agent and tool did and cost', async () => {
    const page = await visit(thread(claude));
    await page.getByText('What it did, and where the money went').click();
    const agents = page.getByRole('region', { name: 'By agent' });
    await agents.getByRole('row', { name: /^claude-code 4 5 2 .* \$0\.\d+$/ }).waitFor();
    await agents.getByRole('row', { name: /^policy-reader 2 1 /i }).waitFor();
    const tools = page.getByRole('region', { name: 'By tool' });
    await tools.getByRole('row', { name: /^orders\.refund 1 1 / }).waitFor();
    await tools.getByRole('row', { name: /^Agent 1 / }).waitFor();
    await page.getByText('No file was written, as far as its calls say.').waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });

  it('of Codex has the command that failed, which leads to its call', async () => {
    const page = await visit(`threads?project=${encodeURIComponent(project)}`);
    await page.getByRole('link', { name: /Count the books/ }).press('Enter');
    await page.getByText('What it did, and where the money went').click();
    const failed = page.getByRole('region', { name: 'Failed commands' });
    await failed.getByRole('heading', { name: '1 command failed' }).waitFor();
    await failed.getByRole('link', { name: 'cat nosuch-shelf.txt' }).click();
    await page.getByRole('treeitem', { selected: true }).getByText('exec_command').waitFor();
  });

  it('has the files that were written, with their lines', async () => {
    const page = await visit(thread('one', places));
    await page.getByText('What it did, and where the money went').click();
    await page.getByRole('heading', { name: '1 file written, +2 −1 lines' }).waitFor();
    await page.getByRole('row', { name: '/srv/cart.ts 1 +2 −1' }).waitFor();
  });

  it('says in its head where it took place, if its telemetry does', async () => {
    const page = await visit(thread('three', places));
    const head = page.locator('.facts').first();
    await head.getByText('acme/shop').waitFor();
    expect(await head.innerText()).toMatch(/Repository\s+acme\/shop\s+Branch\s+fix/);
    await page.goto(page.url().replace('three', 'plain'));
    await page.getByRole('article').getByText('Hello?').waitFor();
    expect(await head.getByText('Repository').count()).toBe(0);
  });

  it('is none if it is no coding agent', async () => {
    const page = await visit(thread('plain', places));
    await page.getByRole('article').getByText('Hello?').waitFor();
    expect(await page.getByText('What it did').count()).toBe(0);
  });
});

describe('the list of threads', () => {
  const list = (search = '') => `threads?project=${encodeURIComponent(places)}${search}`;

  it('is grouped by repository, branch and user, and gone through by keys as it stands', async () => {
    const page = await visit(list());
    await page.getByRole('row', { name: /Mend three three acme\/shop fix ben/ }).waitFor();
    await page.getByRole('combobox', { name: 'Group by' }).click();
    await page.getByRole('option', { name: 'Repository' }).click();
    await page.waitForURL(/by=repository/);
    const groups = () => page.locator('.thread-group h2').allInnerTexts();
    await expect.poll(groups).toEqual(['acme/shop', 'acme/reports', 'No repository']);
    const shop = page.getByRole('region', { name: 'acme/shop' });
    await shop.getByText('2 threads').waitFor();
    expect(await shop.locator('tbody tr').count()).toBe(2);
    // The third row is the first of the second group.
    await page.locator('h1').click();
    for (const press of ['j', 'j', 'j']) await page.keyboard.press(press);
    await page
      .getByRole('region', { name: 'acme/reports' })
      .locator('tr.active')
      .getByText('Mend two')
      .waitFor();
    const other = await visit(list('&by=branch'));
    await expect
      .poll(() => other.locator('.thread-group h2').allInnerTexts())
      .toEqual(['acme/shop · fix', 'acme/reports · main', 'acme/shop · main', 'No branch']);
    const users = await visit(list('&by=user'));
    await expect
      .poll(() => users.locator('.thread-group h2').allInnerTexts())
      .toEqual(['ben', 'ada', 'No user']);
  });

  it('shows a thread of a group beside it, and has no fault that axe finds', async () => {
    const page = await visit(list('&by=repository'), { viewport: { width: 1440, height: 900 } });
    await page.getByRole('link', { name: 'Mend two' }).click();
    await page.waitForURL(/peek=two/);
    const pane = page.getByRole('complementary', { name: 'Thread beside the list' });
    await pane.getByText('Mend two').first().waitFor();
    await page.keyboard.press('Escape');
    await pane.waitFor({ state: 'detached' });
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });
});
