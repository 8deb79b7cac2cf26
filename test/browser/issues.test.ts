import { beforeAll, describe, expect, it } from 'vitest';
import { axeFaults } from './support/axe.ts';
import { post, report, type SeededCall } from './support/calls.ts';
import { choose } from './support/choose.ts';
import { reader, useBrowser } from './support/visit.ts';

/* What went wrong in a project, grouped, and what people decide on it. */

const visit = useBrowser();
const project = 'page/issues';
const hour = 3_600_000;
const day = 'from=2026-10-01T00%3A00%3A00Z&to=2026-10-03T00%3A00%3A00Z';
const link = (search = '', of = project) => `issues?project=${encodeURIComponent(of)}&${day}${search}`;

/** Failures of a tool, each with a customer of its own. */
const failures = (count: number, release: string, at: number): SeededCall[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `${release}-${i}`,
    op: 'find_order',
    at: at + i * 60_000,
    attributes: { kind: 'tool', tool: { name: 'find_order' }, release, user: { id: `customer-${i}` } },
    inputs: { order: `W${i}` },
    exception: `OrderNotFound: no order W${100_000 + i}\n  at findOrder (orders.ts:17)`,
  }));

/** A trace that looks the same thing up three times. */
const loop = (at: number): SeededCall[] => [
  { id: 'looping', op: 'agent', at, attributes: { kind: 'agent', release: '2.0' } },
  ...Array.from({ length: 3 }, (_, i) => ({
    id: `again-${i}`,
    trace: 'looping',
    parent: 'looping',
    op: 'find_parts',
    at: at + i * 1000,
    attributes: { kind: 'tool', tool: { name: 'find_parts' }, release: '2.0' },
    inputs: { fits: 'Deore' },
    output: { parts: [] },
  })),
];

const calls = [...failures(4, '1.0', 0), ...failures(1, '2.0', 6 * hour), ...loop(6 * hour + 10_000)];

beforeAll(async () => {
  await report(project, calls);
});

/** The issue of failures of a project. */
const onlyIssue = async (of: string): Promise<{ issue_id: string }> => {
  const { issues } = (await post('/issues/query', {
    project_id: of,
    start: '2026-10-01T00:00:00Z',
    end: '2026-10-03T00:00:00Z',
    filter: { kinds: ['error'] },
  })) as { issues: { issue_id: string }[] };
  const [first] = issues;
  if (!first || issues.length > 1) throw new Error(`${of} has ${issues.length} issues of failures`);
  return { issue_id: first.issue_id };
};

const title = 'OrderNotFound: no order <id>';

describe('the issues of a project', () => {
  it('are listed with their counts, users, releases and states, sorted, searched and filtered', async () => {
    const page = await visit(link());
    await page.getByRole('row', { name: /^OrderNotFound: no order <id> find_order Error 5 / }).waitFor();
    const row = page.getByRole('row', { name: /OrderNotFound/ });
    await row.getByRole('img', { name: '5 times, at most 4 at once' }).waitFor();
    await row.getByText('2.0').waitFor();
    await row.getByText('+1').waitFor();
    await page
      .getByRole('row', { name: /^Called again with the same arguments new find_parts Loop 1/ })
      .waitFor();
    await page.getByRole('button', { name: 'Open 2' }).waitFor();
    const titles = () => page.locator('.issues-table tbody td:first-child a').allInnerTexts();
    await page.getByRole('button', { name: 'Count', exact: true }).click();
    await page.waitForURL(/sort=-count/);
    await expect.poll(titles).toEqual([title, 'Called again with the same arguments']);
    await choose(page, 'Kind', 'Loop');
    await expect.poll(titles).toEqual(['Called again with the same arguments']);
    await choose(page, 'Kind', 'Any kind');
    await choose(page, 'Agent', 'Loops in agent');
    await expect.poll(titles).toEqual(['Called again with the same arguments']);
    await choose(page, 'Agent', 'Any agent');
    await choose(page, 'Release', '1.0');
    await expect.poll(titles).toEqual([title]);
    await choose(page, 'Release', 'Any release');
    await choose(page, 'Since', 'New since 2.0');
    await expect.poll(titles).toEqual(['Called again with the same arguments']);
    await choose(page, 'Since', 'New since yesterday');
    await page.getByText('Nothing is new.').waitFor();
    await page.getByRole('button', { name: 'Show all issues' }).click();
    await page.getByRole('searchbox', { name: 'Search issues' }).fill('ORDER');
    await expect.poll(titles).toEqual([title]);
  });

  it('say how they come to be where there are none', async () => {
    const page = await visit(link('', 'page/issueless'));
    await page.getByRole('heading', { name: 'page/issueless has no issues in this time' }).waitFor();
  });

  it('are in the side bar', async () => {
    const page = await visit(`traces?project=${encodeURIComponent(project)}`);
    await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Issues' }).click();
    await page.getByRole('heading', { name: 'Issues', level: 1 }).waitFor();
  });

  it('have no fault that axe finds, and fit a phone', async () => {
    const page = await visit(link(), { colorScheme: 'light' });
    await page.getByRole('row', { name: /OrderNotFound/ }).waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });
});

describe('an issue', () => {
  it('leads to the agents that are in a loop', async () => {
    const page = await visit(link('&kind=loop'));
    await page.getByRole('link', { name: 'Called again with the same arguments' }).click();
    const agents = page.getByRole('region', { name: 'Agents' });
    await agents.getByText('1', { exact: true }).waitFor();
    await agents.getByRole('link', { name: 'agent' }).click();
    await page.waitForURL(/\/agents\?.*agent=agent/);
  });

  it('has a page with its course, calls and releases, which lead to the calls', async () => {
    const page = await visit(link());
    await page.getByRole('link', { name: title }).click();
    await page.getByRole('heading', { name: title, level: 1 }).waitFor();
    await page.getByText('seen 5 times in 5 traces by 4 users').waitFor();
    await page.getByRole('img', { name: /^Occurrences over time\. occurrences: at most 4/ }).waitFor();
    const latest = page.getByRole('region', { name: 'Latest calls' });
    await expect.poll(() => latest.getByRole('listitem').count()).toBe(3);
    const releases = page.getByRole('region', { name: 'Releases' });
    expect(await releases.getByRole('link').allInnerTexts()).toEqual(['2.0', '1.0']);
    await page.getByRole('link', { name: 'Show its calls' }).click();
    await page.getByText('5 rows', { exact: true }).waitFor();
    await page.goBack();
    await releases.getByRole('link', { name: '1.0' }).click();
    await page.getByText('4 rows', { exact: true }).waitFor();
  });

  it('has no fault that axe finds, and fits a phone', async () => {
    const page = await visit(link(), { colorScheme: 'light' });
    await page.getByRole('link', { name: title }).click();
    await page.locator('.chart canvas').waitFor();
    await page.getByRole('region', { name: 'Latest calls' }).getByRole('listitem').first().waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });

  it('is resolved, taken back, ignored, reopened, assigned and noted', async () => {
    const own = 'page/decided-issues';
    await report(own, failures(2, '1.0', 0));
    await post('/issues/update', { project_id: own, ...(await onlyIssue(own)), state: 'open', note: null });
    const page = await visit(link('', own));
    await page.getByRole('link', { name: title }).click();
    const facts = page.locator('.issue-page > .facts');
    await page.getByRole('button', { name: 'Resolve' }).click();
    await facts.getByText('resolved').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await facts.getByText('open').waitFor();
    await page.getByRole('button', { name: 'Ignore' }).click();
    await facts.getByText('ignored').waitFor();
    await page.getByRole('button', { name: 'Reopen' }).click();
    await facts.getByText('open').waitFor();
    await page.getByRole('button', { name: 'Assign', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Assign the issue' });
    await dialog.getByRole('combobox', { name: 'Assignee' }).fill('ada@example.com');
    await dialog.getByRole('button', { name: 'Assign', exact: true }).click();
    await facts.getByText('assigned to ada').waitFor();
    await page.getByRole('button', { name: 'Add a note' }).click();
    await page.getByRole('textbox', { name: 'What others should know' }).fill('The shop forgot W1001.');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('region', { name: 'Note' }).getByText('The shop forgot W1001.').waitFor();
    await page.goBack();
    await page.getByRole('row', { name: /OrderNotFound.* ada$/ }).waitFor();
  });

  it('becomes rows of a dataset, an evaluator, and a text for a coding agent', async () => {
    const page = await visit(link());
    await page.getByRole('link', { name: title }).click();
    await page.getByRole('button', { name: 'Give to a coding agent' }).click();
    const dialog = page.getByRole('dialog', { name: 'For a coding agent' });
    const { issue_id } = await onlyIssue(project);
    await dialog.getByText(`find_issues {"project_id":"${project}"`).waitFor();
    await dialog.getByText(issue_id).waitFor();
    await dialog.getByText(/get_trace \{"project_id":"page\/issues","trace_id":"2\.0-0"/).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Add examples to dataset' }).click();
    await page.getByRole('list', { name: 'New rows' }).getByText('W0').first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Watch with an evaluator' }).click();
    const form = page.getByRole('region', { name: 'New evaluator' });
    expect(await form.getByRole('textbox', { name: 'Name' }).inputValue()).toBe(title);
    expect(await form.getByRole('textbox', { name: 'Text of message 1' }).inputValue()).toContain(title);
  });

  it('says that it was not seen in a time, and to readers nothing that they cannot do', async () => {
    const none = await visit(link(`&issue=${'0'.repeat(32)}`));
    await none.getByText('This issue was not seen in this time.').waitFor();
    const { issue_id } = await onlyIssue(project);
    const page = await visit(link(`&issue=${issue_id}`), { as: reader });
    await page.getByRole('link', { name: 'Show its calls' }).waitFor();
    expect(await page.getByRole('button', { name: /Resolve|Assign|note|dataset/ }).count()).toBe(0);
  });
});
