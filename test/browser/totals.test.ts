import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { axeFaults } from './support/axe.ts';
import { chat, post, report, type SeededCall } from './support/calls.ts';
import { sendCapture } from './support/captures.ts';
import { pageUrl, useBrowser } from './support/visit.ts';

/* What a trace adds up to by agent and tool, its loops, and what filled the windows of its requests. */

const visit = useBrowser();
const project = 'page/totals';

const noFaults = { light: [], dark: [], width: 360 };

const open = (trace: string, more = '', of = project): Promise<Page> =>
  visit(`trace?project=${encodeURIComponent(of)}&trace=${trace}${more}`);

const question = { role: 'user', content: 'Where is order 4711?' };
const tool = (name: string) => ({
  type: 'function',
  function: { name, description: `It is about ${name}. `.repeat(40), parameters: { type: 'object' } },
});
const tools = ['find_order', 'cancel_order', 'refund_order', 'write_letter'].map(tool);
const below = { trace: 'circles', parent: 'circles' };

/** The request so many calls of the tool after the first. */
const request = (at: number): SeededCall => {
  const looked = Array.from({ length: at }, (_, i) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: `t${i}`, function: { name: 'find_order', arguments: '{"id":4711}' } }],
    },
    { role: 'tool', tool_call_id: `t${i}`, content: 'Nothing was found. '.repeat(20) },
  ]).flat();
  const { inputs, output } = chat([question, ...looked], { content: 'Let me look again.' });
  return {
    ...below,
    id: `request-${at}`,
    op: 'chat',
    at: 200 * at + 10,
    attributes: { kind: 'model' },
    inputs: { ...inputs, tools },
    output,
    summary: {
      usage: {
        m: {
          prompt_tokens: 1000 + 100 * at,
          prompt_tokens_details: { cached_tokens: at > 0 ? 500 : 0 },
          completion_tokens: 20,
          completion_tokens_details: { reasoning_tokens: 12 },
        },
      },
    },
  };
};

const circles: readonly SeededCall[] = [
  {
    id: 'circles',
    op: 'answer',
    ms: 2000,
    attributes: { kind: 'agent', agent: { name: 'desk' } },
    inputs: { question: question.content },
    output: 'I do not know.',
  },
  ...[0, 1, 2, 3].map(request),
  ...[0, 1, 2].map((at) => ({
    ...below,
    id: `find-${at}`,
    op: 'execute_tool',
    at: 200 * at + 150,
    ms: 30,
    attributes: { kind: 'tool', tool: { name: 'find_order' } },
    inputs: { id: 4711 },
    output: `Nothing was found. ${at}`,
    ...(at === 1 && { exception: 'TimeoutError: too slow' }),
  })),
  { ...below, id: 'late', parent: 'find-2', op: 'lookup', at: 560, ms: 10 },
  {
    ...below,
    id: 'approved',
    op: 'execute_tool',
    at: 900,
    ms: 1000,
    attributes: { kind: 'tool', tool: { name: 'cancel_order' } },
    summary: { waited_ms: 900 },
  },
];

beforeAll(async () => {
  await post('/cost/create', {
    project_id: project,
    costs: { m: { prompt_token_cost: 0.001, completion_token_cost: 0.01, effective_date: '2026-01-01' } },
  });
  await report(project, circles);
});

describe('loops', () => {
  it('are one line of the tree, which unfolds by pointer and by keyboard', async () => {
    const page = await open('circles');
    const folded = page.getByRole('treeitem', { name: /find_order.*3 × the same arguments/ });
    await folded.waitFor();
    const lines = page.getByRole('treeitem');
    await expect.poll(() => lines.count()).toBe(7);
    await folded.getByText('3 × the same arguments').click();
    await expect.poll(() => lines.count()).toBe(10);
    await folded.getByText('3 × the same arguments').click();
    await expect.poll(() => lines.count()).toBe(7);
    await folded.click();
    // A key is for the line that is selected, which the URL says a moment later.
    await folded.and(page.locator('[aria-selected=true]')).waitFor();
    await page.getByRole('tree').press('ArrowRight');
    await expect.poll(() => lines.count()).toBe(10);
    await page.getByRole('tree').press('ArrowLeft');
    await expect.poll(() => lines.count()).toBe(7);
    // What fails in a loop is found, and a link leads to what is below it.
    await page.getByRole('tree').press('e');
    await expect.poll(() => lines.count()).toBe(10);
    const linked = await open('circles', '&call=late');
    await linked.getByRole('treeitem', { name: 'lookup' }).waitFor();
    await linked.getByRole('button', { name: '1 loop' }).click();
    await expect.poll(() => new URL(linked.url()).searchParams.get('call')).toBe('find-0');
    expect(await axeFaults(linked)).toEqual(noFaults);
  });

  it('are one place of the story', async () => {
    const page = await open('circles', '&as=story');
    const places = page.getByRole('article', { name: 'find_order' });
    const badge = page.getByRole('button', { name: '3 × the same arguments' });
    await badge.waitFor();
    expect(await places.count()).toBe(1);
    await badge.click();
    await expect.poll(() => places.count()).toBeGreaterThan(2);
  });
});

describe('tokens', () => {
  it('say which were cached and which were reasoning', async () => {
    const page = await open('circles');
    const head = page.locator('.view-head');
    await head.getByText('1.5K cached, 48 reasoning').waitFor();
    expect(await page.getByRole('treeitem').first().textContent()).toContain('1.5K cached, 48 reasoning');
    await page.getByRole('treeitem', { name: 'chat' }).nth(1).click();
    await page.locator('.call-head').getByText('500 cached, 12 reasoning').waitFor();
    await page.goto(
      `${pageUrl}traces?project=${encodeURIComponent(project)}&from=2026-10-01T00:00:00Z&to=2026-10-02T00:00:00Z`,
    );
    await page
      .getByRole('row', { name: /answer|desk/ })
      .getByText('1.5K cached, 48 reasoning')
      .waitFor();
  });
});

describe('totals', () => {
  it('are by agent and by tool, as links have them', async () => {
    const page = await open('circles');
    await page.getByRole('button', { name: '1 agent', exact: true }).click();
    const totals = page.getByRole('region', { name: 'Totals of the trace' });
    const desk = totals.getByRole('row', { name: /desk/ });
    await desk.waitFor();
    expect(await desk.textContent()).toContain('1.5K cached, 48 reasoning');
    expect(await desk.textContent()).toContain('900 ms');
    expect(new URL(page.url()).searchParams.get('totals')).toBe('agents');
    await totals.getByRole('button', { name: 'Tools' }).click();
    await totals.getByRole('row', { name: /find_order 3 1/ }).waitFor();
    await totals.getByRole('button', { name: 'cancel_order' }).click();
    await expect.poll(() => page.getByRole('treeitem').count()).toBe(2);
    expect(new URL(page.url()).searchParams.get('only')).toBe('tool:cancel_order');
    await totals.getByRole('button', { name: 'Close totals' }).click();
    await totals.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: '2 tools' }).click();
    await totals.getByRole('row', { name: /find_order 3 1/ }).waitFor();
    expect(await axeFaults(page)).toEqual(noFaults);
  });

  it('tell how the windows of a trace grew, and what would save most', async () => {
    const page = await open('circles', '&totals=context');
    const totals = page.getByRole('region', { name: 'Totals of the trace' });
    await totals
      .getByText(/^Would save most: the schemas of 2 tools that were never called: \d+ % of the input, \$/)
      .waitFor();
    await totals.getByRole('img', { name: 'The window of 4 requests, up to 1,300 tokens' }).waitFor();
    await totals.getByText('4 requests in figures').click();
    await totals
      .getByRole('row', { name: /1,100 500 1,000 500/ })
      .getByRole('button')
      .click();
    await expect.poll(() => new URL(page.url()).searchParams.get('call')).toBe('request-1');
    expect(await axeFaults(page)).toEqual(noFaults);
  });

  it('of a request are a bar with its parts in its panel', async () => {
    const page = await open('circles', '&call=request-2');
    await page.getByRole('tab', { name: 'Context' }).click();
    const panel = page.getByRole('tabpanel');
    await panel.getByRole('img', { name: /^Definitions of tools \d+ %/ }).waitFor();
    await panel.getByText('500 from the cache').waitFor();
    await panel.getByRole('row', { name: /^refund_order \d+/ }).waitFor();
    expect(await axeFaults(page)).toEqual(noFaults);
  });
});

describe.each([
  ['claude-code-spans-and-logs', /claude|Explore|general-purpose/i, true],
  ['codex-spans-and-logs', /codex/i, true],
  ['langgraph-interrupt-resume', /./, false],
])('a trace of %s', (name, agent, hasContext) => {
  it('has totals by agent, by tool and of its windows', async () => {
    const trace = await sendCapture(name, `page/${name}`);
    const page = await open(trace, '&totals=agents', `page/${name}`);
    const totals = page.getByRole('region', { name: 'Totals of the trace' });
    await totals.getByRole('row', { name: agent }).first().waitFor();
    await totals.getByRole('button', { name: 'Tools' }).click();
    await totals.getByRole('columnheader', { name: 'Time of a call' }).waitFor();
    await totals.getByRole('button', { name: 'Context' }).click();
    if (hasContext) await totals.getByText('parts are estimated').waitFor();
    expect(await axeFaults(page)).toEqual(noFaults);
  });
});
