import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { axeFaults } from './support/axe.ts';
import { chat, report, type SeededCall } from './support/calls.ts';
import { choose } from './support/choose.ts';
import { useBrowser } from './support/visit.ts';

/* What agents report of themselves: tools and agents by their names, kinds, and waits for people. */

const visit = useBrowser();
const project = 'page/agents';
/** An hour ago, as tests count their time: suggestions are counted in the last seven days. */
const recent = Date.now() - 3_600_000 - Date.parse('2026-10-01T12:00:00Z');

const question = { role: 'user', content: 'Refund order 4711.' };
const below = { trace: 'refund', parent: 'refund' };
const kindsBelow = ['workflow', 'plan', 'memory', 'guardrail', 'evaluator', 'retriever', 'embedding'];

const refund: readonly SeededCall[] = [
  {
    id: 'refund',
    op: 'invoke_agent gpt-5',
    thread: 'refunds',
    at: recent,
    ms: 14_200,
    attributes: {
      kind: 'agent',
      agent: { name: 'triage', version: '3' },
      prompt: { name: 'support', version: '7' },
      source: 'trial',
    },
    inputs: { question: question.content },
    output: 'It is refunded.',
  },
  {
    ...below,
    id: 'model',
    op: 'chat gpt-4o-mini',
    at: recent + 100,
    attributes: { kind: 'model', agent: { name: 'triage' } },
    ...chat([question], { content: 'Let me see.' }),
  },
  ...kindsBelow.map((kind, at) => ({
    ...below,
    id: kind,
    op: `the ${kind}`,
    at: recent + 200 + at,
    attributes: { kind },
  })),
  {
    ...below,
    id: 'handed-over',
    op: 'chat of another',
    at: recent + 400,
    attributes: { kind: 'model', agent: { name: 'cashier' } },
  },
  {
    ...below,
    id: 'approved',
    op: 'execute_tool refund',
    at: recent + 1000,
    ms: 13_000,
    attributes: { kind: 'tool', tool: { name: 'orders.refund' } },
    summary: { waited_ms: 12_000 },
  },
];

beforeAll(async () => {
  await report(project, [
    ...refund,
    {
      id: 'asked',
      op: 'tools/call refund',
      at: recent + 60_000,
      attributes: { kind: 'tool', tool: { name: 'orders.refund' } },
      summary: { waiting: true },
    },
    { id: 'unnamed', op: 'tool.search', at: recent + 61_000, attributes: { kind: 'tool' } },
    {
      id: 'writer',
      op: 'invoke_agent gpt-5',
      at: recent + 62_000,
      attributes: { kind: 'agent', agent: { name: 'writer' } },
    },
  ]);
});

const list = (search = '') => `traces?project=${encodeURIComponent(project)}&source=all${search}`;
const trace = (search = '') => `trace?project=${encodeURIComponent(project)}&trace=refund${search}`;
const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });
const line = (page: Page, name: string) => page.getByRole('treeitem').filter({ hasText: name });
const namesOn = (page: Page): Promise<string[]> => page.locator('.row-link').allInnerTexts();

describe('a list', () => {
  it('has tools and agents by their names, and who waits for a person', async () => {
    const page = await visit(list());
    await row(page, 'orders.refund').getByText('waits for a person').waitFor();
    expect(await namesOn(page)).toEqual(['writer', 'tool.search', 'orders.refund', 'triage']);
    const all = await visit(list('&all=true'));
    const approved = row(all, 'waited 12.0 s');
    await approved.getByTitle('13.0 s, 12.0 s of it waiting').waitFor();
    await approved.getByText('orders.refund').waitFor();
    await all.getByRole('columnheader', { name: 'Agent' }).waitFor();
    await row(all, 'chat of another').getByText('cashier').waitFor();
    await all.setViewportSize({ width: 390, height: 800 });
    await row(all, 'waited 12.0 s').waitFor();
  });

  it.each([
    ['Tool', 'orders.refund 2', 'Tool is orders.refund', ['orders.refund', 'orders.refund']],
    ['Tool', 'tool.search 1', 'Operation is tool.search', ['tool.search']],
    ['Agent', 'triage 2', 'Agent is triage', ['chat gpt-4o-mini', 'triage']],
    ['Kind', 'guardrail 1', 'Kind is guardrail', ['the guardrail']],
    ['Prompt', 'support 1', 'Prompt is support', ['triage']],
  ])('is filtered by %s: %s', async (facet, value, chip, names) => {
    const page = await visit(list());
    await page.getByRole('button', { name: '+ Filter' }).click();
    const form = page.getByRole('dialog', { name: 'New filter' });
    await form.getByRole('button', { name: facet, exact: true }).click();
    await form.getByRole('button', { name: value }).click();
    await page.getByText(chip).waitFor();
    await page.getByText(names.length === 1 ? '1 row' : `${names.length} rows`, { exact: true }).waitFor();
    expect(await namesOn(page)).toEqual(names);
  });

  it('is filtered by waits', async () => {
    const where = (path: string, op: string, value: string) =>
      `&all=true&where=${encodeURIComponent(JSON.stringify([{ path, op, value }]))}`;
    const waited = await visit(list(where('summary.svc.waited_ms', 'above', '1000')));
    await waited.getByText('Waited for a person (ms) above 1000').waitFor();
    await waited.getByText('1 row', { exact: true }).waitFor();
    const waiting = await visit(list(where('summary.svc.waiting', 'is', 'true')));
    await waiting.getByText('Waits for a person is true').waitFor();
    await waiting.getByText('1 row', { exact: true }).waitFor();
  });
});

describe('a trace', () => {
  it('tells its latency and the wait apart, and says which agent a call is of', async () => {
    const page = await visit(trace('&call=approved'));
    await line(page, 'orders.refund').getByText('waited 12.0 s').waitFor();
    await line(page, 'triage').getByTitle('14.2 s, 12.0 s of it waiting; ').first().waitFor();
    await page.getByText('14.2 s, 12.0 s of it waiting', { exact: true }).waitFor();
    await line(page, 'chat of another').getByText('cashier').waitFor();
    expect(await line(page, 'chat gpt-4o-mini').getByText('triage').count()).toBe(0);
    for (const kind of kindsBelow) await line(page, `the ${kind}`).getByRole('img', { name: kind }).waitFor();
    const call = page.getByRole('region', { name: 'Selected call' });
    await call.getByRole('heading', { name: 'orders.refund' }).waitFor();
    await call.getByText('13.0 s, 12.0 s of it waiting').waitFor();
    await call.getByText('execute_tool refund').first().waitFor();
    await page.getByRole('button', { name: 'Story' }).click();
    await page.getByRole('article', { name: 'orders.refund' }).getByText('waited 12.0 s').waitFor();
  });

  it('that waits for a person says so at its head and its call', async () => {
    const page = await visit(`trace?project=${encodeURIComponent(project)}&trace=asked`);
    await line(page, 'orders.refund').getByText('waits for a person').waitFor();
    expect(await page.getByText('waits for a person').count()).toBe(3);
  });

  it('has no fault that axe finds, in both themes, and fits a phone', async () => {
    const page = await visit(trace('&call=approved'), { colorScheme: 'light' });
    await line(page, 'waited 12.0 s').waitFor();
    await page.getByRole('tab', { name: 'Data' }).waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });
});

it('a turn of a thread says how much of it was waiting', async () => {
  const page = await visit(`thread?project=${encodeURIComponent(project)}&thread=refunds`);
  await page.getByRole('article', { name: 'Turn 1: triage' }).getByText('12.0 s of it waiting').waitFor();
});

it.each([
  ['Tools', /orders.refund 2/],
  ['Agents', /triage 2/],
  ['Prompts', /support 1/],
  ['Kinds', /Guardrails 1/],
])('the overview tells %s apart', async (dimension, figures) => {
  const page = await visit(`overview?project=${encodeURIComponent(project)}&source=all`);
  await choose(page, 'Group by', dimension);
  await page.getByRole('row', { name: figures }).getByRole('link').click();
  await page.getByText(/^\d rows?$/).waitFor();
});
