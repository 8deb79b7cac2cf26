import { beforeAll, describe, expect, it } from 'vitest';
import { axeFaults } from './support/axe.ts';
import { report, type SeededCall } from './support/calls.ts';
import { useBrowser } from './support/visit.ts';

/* What agents and tools of a project did, by name and version. */

const visit = useBrowser();
const project = 'page/agent-figures';
const minute = 60_000;

/** Runs of a version: each with a request to a model and a call of a tool, some of which fail and wait. */
const runs = (version: string, from: number, ms: number, failed: number): SeededCall[] =>
  Array.from({ length: 6 }, (_, at) => {
    const id = `run-${version}-${at}`;
    const agent = { name: 'coder', version };
    const start = from + at * minute;
    const below = { trace: id, parent: id };
    return [
      {
        id,
        op: 'invoke_agent',
        at: start,
        ms: ms + at,
        attributes: { kind: 'agent', agent },
        inputs: { question: `Task ${at} of ${version}` },
      },
      {
        ...below,
        id: `${id}-model`,
        op: 'chat',
        at: start + 1,
        ms: 50,
        attributes: { kind: 'model', agent, prompt: { name: 'coding', version: '3' } },
        inputs: {
          model: 'gpt-4o-mini',
          messages: [
            { role: 'user', content: 'Read it.' },
            { role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'Bash', arguments: '{}' } }] },
            { role: 'tool', tool_call_id: 'c', content: 'A long result of this tool. '.repeat(20) },
          ],
        },
        summary: {
          usage: {
            'gpt-4o-mini': {
              prompt_tokens: 1000,
              completion_tokens: 10,
              prompt_tokens_details: { cached_tokens: 400 },
            },
          },
        },
      },
      {
        ...below,
        id: `${id}-tool`,
        op: 'execute_tool Bash',
        at: start + 60,
        ms: 20 + at,
        attributes: { kind: 'tool', agent, tool: { name: 'Bash' } },
        ...(at < failed && { exception: `Error: exit code ${at}\nno such file` }),
        ...(at === 5 && { summary: { waited_ms: 5 } }),
      },
    ];
  }).flat();

beforeAll(async () => {
  await report(project, [
    ...runs('2.9', 0, 200, 1),
    ...runs('2.10', 20 * minute, 900, 4),
    {
      id: 'other',
      op: 'invoke_agent',
      at: 0,
      attributes: { kind: 'agent', agent: { name: 'Explore' }, release: 'r1' },
    },
  ]);
});

const day = 'from=2026-10-01T00%3A00%3A00Z&to=2026-10-02T00%3A00%3A00Z';
const link = (view: 'agents' | 'tools', search = '') =>
  `${view}?project=${encodeURIComponent(project)}&${day}${search}`;

describe('the agents of a project', () => {
  it('are listed with their figures and what the newest version made worse, sorted and searched', async () => {
    const page = await visit(link('agents'));
    const row = page.getByRole('row', { name: /^coder 2\.10 12 5 · 14 % 905 ms \$\d\.\d+ 40 % 2/ });
    await row.getByText(/slower ×4\.4/).waitFor();
    await row.getByText(/more errors ×4\.0/).waitFor();
    await page.getByRole('row', { name: /^Explore r1 release 1/ }).waitFor();
    const names = () => page.locator('.agents-table tbody td:first-child').allInnerTexts();
    expect(await names()).toEqual(['coder', 'Explore']);
    await page.getByRole('button', { name: 'Agent', exact: true }).click();
    await page.getByRole('button', { name: 'Agent', exact: true }).click();
    await page.waitForURL(/sort=name/);
    expect(await names()).toEqual(['coder', 'Explore']);
    await page.getByRole('searchbox', { name: 'Search agents' }).fill('expl');
    await expect.poll(names).toEqual(['Explore']);
    await page.getByRole('searchbox', { name: 'Search agents' }).fill('nobody');
    await page.getByText('No agent has this in its name.').waitFor();
  });

  it('have a page each, with versions, tools, prompts, and calls to look at', async () => {
    const page = await visit(link('agents'));
    await page.getByRole('link', { name: 'coder', exact: true }).click();
    await page.getByRole('heading', { name: 'coder', level: 1 }).waitFor();
    const tiles = page.getByRole('list', { name: 'In all' });
    await tiles.getByRole('link', { name: /Errors 5 · 14 % of 36 calls/ }).waitFor();
    await tiles.getByRole('listitem').filter({ hasText: 'Input from cache40 %of 12,000 tokens' }).waitFor();
    await page.getByRole('img', { name: /^Runs over time\. calls: at most 12/ }).waitFor();
    await page.getByRole('img', { name: /^Latency of runs over time\. p50: at most/ }).waitFor();
    const since = page.getByRole('region', { name: 'Since the version before' });
    await since.getByText('2.10, compared with 2.9').waitFor();
    await since.getByRole('link', { name: /slower/ }).waitFor();
    const versions = page.getByRole('region', { name: 'Versions', exact: true });
    await versions.scrollIntoViewIfNeeded();
    await versions.getByRole('row', { name: /^2\.10 6 4 · 22 % 90\d ms/ }).waitFor();
    await versions.getByRole('row', { name: /^2\.9 6 1 · 5\.6 % 20\d ms/ }).waitFor();
    const tools = page.getByRole('region', { name: 'Tools', exact: true });
    await tools.scrollIntoViewIfNeeded();
    await tools
      .getByRole('row', { name: /^Bash 12 5 · 42 % 2\d ms 25 ms ≈ \d\d % · ≈ \$0\.00\d\d/ })
      .waitFor();
    await page.getByText('estimated from the context of at most 12 requests').waitFor();
    const prompts = page.getByRole('region', { name: 'Prompts', exact: true });
    await prompts.scrollIntoViewIfNeeded();
    await prompts.getByRole('row', { name: /^coding v3 12/ }).waitFor();
    await page.locator('.when-seen').last().scrollIntoViewIfNeeded();
    const slowest = page.getByRole('region', { name: 'Slowest runs' });
    expect(await slowest.getByRole('link').first().innerText()).toBe('Task 5 of 2.10');
    const dearest = page.getByRole('region', { name: 'Most expensive traces' });
    await expect.poll(() => dearest.getByRole('listitem').count()).toBe(5);
    await dearest.getByText('$0.0001').first().waitFor();
    const errors = page.getByRole('region', { name: 'Most common errors' });
    await errors.getByRole('listitem').filter({ hasText: 'no such file' }).getByText('5').waitFor();
    await errors.getByRole('link').first().click();
    await page.getByRole('tab', { name: 'Error', selected: true }).waitFor();
  });

  it('have the calls below them that do not name them', async () => {
    const own = 'page/nameless-agents';
    const below = { trace: 'turn', parent: 'turn' };
    await report(own, [
      { id: 'turn', op: 'agent.turn', inputs: { question: 'Where is it?' } },
      { ...below, id: 'search', op: 'tool.search', exception: 'KeyError: 4711' },
      { ...below, id: 'deep', op: 'step' },
      { trace: 'turn', parent: 'deep', id: 'model', op: 'tool.read', exception: 'KeyError: 12' },
    ]);
    const page = await visit(`agents?project=${encodeURIComponent(own)}&${day}`);
    await page.getByRole('row', { name: /^agent\.turn 1 2 · 50 %/ }).waitFor();
    await page.getByRole('link', { name: 'agent.turn' }).click();
    await page.locator('.when-seen').last().scrollIntoViewIfNeeded();
    const errors = page.getByRole('region', { name: 'Most common errors' });
    await expect.poll(() => errors.getByRole('listitem').count()).toBe(2);
    await errors.getByText('In the traces of its latest 100 runs.').waitFor();
    await page.getByRole('region', { name: 'Slowest runs' }).getByText('Where is it?').waitFor();
    const tools = page.getByRole('region', { name: 'Tools', exact: true });
    await tools.getByRole('link', { name: 'tool.search' }).click();
    await page.getByRole('img', { name: /^Errors over time\. errors: at most 1/ }).waitFor();
  });

  it('say how often they went in circles, and lead to these issues', async () => {
    const own = 'page/agents-in-circles';
    const below = { trace: 'circles', parent: 'circles', op: 'execute_tool Grep' };
    await report(own, [
      {
        id: 'circles',
        op: 'invoke_agent',
        ms: 2000,
        attributes: { kind: 'agent', agent: { name: 'seeker' } },
      },
      ...[0, 1, 2].map((at) => ({
        ...below,
        id: `grep-${at}`,
        at: 100 + at * 200,
        attributes: { kind: 'tool', tool: { name: 'Grep' } },
        inputs: { pattern: 'refund' },
        output: `Nothing yet, ${at}`,
      })),
      { id: 'straight', op: 'invoke_agent', attributes: { kind: 'agent', agent: { name: 'walker' } } },
    ]);
    const page = await visit(`agents?project=${encodeURIComponent(own)}&${day}`);
    const loops = page.getByRole('row', { name: /^seeker/ }).getByRole('link', { name: '1 loop' });
    await loops.waitFor();
    expect(
      await page
        .getByRole('row', { name: /^walker/ })
        .getByRole('link', { name: /loop/ })
        .count(),
    ).toBe(0);
    await page.getByRole('link', { name: 'seeker', exact: true }).click();
    const tile = page
      .getByRole('list', { name: 'In all' })
      .getByRole('listitem')
      .filter({ hasText: 'Loops1' });
    await tile.getByRole('link', { name: 'Issues' }).click();
    await page.getByRole('heading', { name: 'Issues', level: 1 }).waitFor();
    const { searchParams } = new URL(page.url());
    expect([searchParams.get('kind'), searchParams.get('agent')]).toEqual(['loop', 'seeker']);
    await page.getByText('Grep').first().waitFor();
    // Issues are of production alone.
    const trials = await visit(`agents?project=${encodeURIComponent(own)}&${day}&source=all`);
    await trials.getByRole('row', { name: /^seeker/ }).waitFor();
    expect(await trials.getByRole('columnheader', { name: 'Loops' }).count()).toBe(0);
  });

  it('lead from what became worse to its calls', async () => {
    const page = await visit(link('agents', '&agent=coder'));
    const since = page.getByRole('region', { name: 'Since the version before' });
    await since.getByRole('link', { name: /more errors/ }).click();
    await page.getByText('4 rows', { exact: true }).waitFor();
  });

  it('say how agents come to be, and that one is not there', async () => {
    const none = await visit(`agents?project=${encodeURIComponent('page/agentless')}`);
    await none.getByRole('heading', { name: 'page/agentless has no agents in this time' }).waitFor();
    const page = await visit(link('agents', '&agent=nobody'));
    await page.getByText('No call of this time is one of nobody').waitFor();
    await page.getByRole('link', { name: 'All agents' }).waitFor();
  });

  it.each(['', '&agent=coder'])('have no fault that axe finds, and fit a phone: %s', async (search) => {
    const page = await visit(link('agents', search), { colorScheme: 'light' });
    await page.getByText('2.10').first().waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });
});

describe('the tools of a project', () => {
  it('are listed with their agents and figures, and have a page each', async () => {
    const page = await visit(link('tools'));
    await page.getByRole('row', { name: /^Bash coder 12 5 · 42 % 2\d ms 25 ms 2/ }).waitFor();
    await page.getByRole('link', { name: 'Bash', exact: true }).click();
    await page.getByRole('heading', { name: 'Bash', level: 1 }).waitFor();
    await page.getByRole('listitem').filter({ hasText: 'Waits for people2waited 10 ms' }).waitFor();
    await page.getByRole('img', { name: /^Errors over time\. errors: at most 5/ }).waitFor();
    await page.locator('.when-seen').last().scrollIntoViewIfNeeded();
    const slowest = page.getByRole('region', { name: 'Slowest calls' });
    await expect.poll(() => slowest.getByRole('listitem').count()).toBe(5);
    await page.getByRole('region', { name: 'Most common errors' }).getByText('no such file').waitFor();
    await page
      .getByRole('region', { name: 'Agents', exact: true })
      .getByRole('link', { name: 'coder' })
      .click();
    await page.getByRole('heading', { name: 'coder', level: 1 }).waitFor();
    expect(page.url()).toContain('from=2026-10-01');
  });

  it('are narrowed to a time by a drag, as charts are', async () => {
    const page = await visit(link('tools', '&tool=Bash'));
    const plot = page.getByRole('img', { name: /^Calls over time/ }).locator('.u-over');
    const box = await plot.boundingBox();
    if (!box) throw new Error('no chart');
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.25, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.75, y, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/from=2026-10-01T0[56]/);
  });

  it.each(['', '&tool=Bash'])('have no fault that axe finds, and fit a phone: %s', async (search) => {
    const page = await visit(link('tools', search), { colorScheme: 'light' });
    await page.getByRole('row', { name: /42 %/ }).first().waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });
});
