import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { CallRow } from '../../web/api/contract.ts';
import { toContext, toTraceAgents } from '../../web/session/shared-totals.ts';
import { allowLinks, makeLink, tokenOf } from '../support/endpoints/sharing.ts';
import { newName } from '../support/run/new-name.ts';
import { axeFaults } from './support/axe.ts';
import { post, report, turn } from './support/calls.ts';
import { sendCapture } from './support/captures.ts';
import { pageUrl, url, useBrowser, writer } from './support/visit.ts';

const visit = useBrowser();

/** A project with a trace, whose calls hold what must not run. */
const seed = async (): Promise<{ readonly project: string; readonly trace: string }> => {
  const project = newName('page/shared');
  const [root, ...below] = turn('s1', 0);
  if (!root) throw new Error('a turn has a root');
  const hostile = '<img src=x onerror=alert(1)><script>alert(1)</script> [a](javascript:alert(1))';
  await report(project, [
    root,
    ...below,
    {
      id: 'hostile',
      trace: 's1',
      parent: 's1',
      at: 850,
      name: hostile,
      inputs: { text: hostile, question: hostile },
      output: hostile,
    },
  ]);
  return { project, trace: `trace?project=${encodeURIComponent(project)}&trace=s1` };
};

/** Requests of a page, by what they ask for. */
const requestsOf = (page: Page): string[] => {
  const requests: string[] = [];
  page.on('request', (request) => requests.push(`${request.method()} ${new URL(request.url()).pathname}`));
  return requests;
};

/** The calls that a link brings. */
const callsOf = async (token: string): Promise<CallRow[]> => {
  const answer = await fetch(`${url}/shared/read`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  const lines = (await answer.text()).split('\n').filter(Boolean);
  return lines.flatMap((line) => (JSON.parse(line) as { readonly call?: CallRow }).call ?? []);
};

describe('a public link', () => {
  let link: string;
  beforeAll(async () => {
    const { project } = await seed();
    await post('/obj/create', allowLinks(project).body);
    await post('/obj/create', makeLink(project, 'link', 's1').body);
    link = `${pageUrl}shared#${tokenOf(project, 'link')}`;
  });

  it('is created where it says what it shows, is listed, and ends when it is revoked', async () => {
    const { trace } = await seed();
    const page = await visit(trace);
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    await page.getByRole('checkbox', { name: 'Public links in this project' }).click();
    await page.getByText('5 calls of this trace').waitFor();
    await page.getByRole('button', { name: 'Create link' }).click();
    const own = await page.getByLabel('The link').inputValue();
    expect(own.startsWith(`${pageUrl}shared#`)).toBe(true);
    await page.getByText('It is shown this once').waitFor();
    const reader = await visit('/health', { signedIn: false, expected: /404/ });
    await reader.goto(own);
    await reader.getByText('Shared by a public link').waitFor();
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('cell', { name: 'revoked' }).waitFor();
    await reader.reload();
    await reader.getByRole('alert').getByText('This link does not work').waitFor();
    expect(await axeFaults(reader)).toEqual({ light: [], dark: [], width: 360 });
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });

  it('shows the trace without a key, by one request', async () => {
    const page = await visit('/health', { signedIn: false });
    const requests = requestsOf(page);
    await page.goto(link);
    await page.getByText('Shared by a public link').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Turn s1' }).waitFor();
    expect(await page.title()).toBe('Turn s1 · pennytrace');
    await page.getByRole('treeitem', { name: 'model.chat' }).first().click();
    await page.getByText('You are the support of a shop.').waitFor();
    expect(await page.getByRole('link').count()).toBe(0);
    expect(await page.getByRole('tab').allInnerTexts()).toEqual(['Messages', 'Data', 'Usage', 'Context']);
    await page.getByRole('tab', { name: 'Usage' }).click();
    await page.getByText('gpt-4o-mini').first().waitFor();
    await page.getByRole('button', { name: 'Story' }).click();
    await page.getByText('It is on its way.').first().waitFor();
    await page.getByLabel('Search in the tree').fill('refund');
    await page.getByText('0 found').waitFor();
    await page.getByLabel('Search in the tree').fill('4711');
    await page.getByText('4 found').waitFor();
    const asked = requests.filter((request) => !/^GET .*\/ui\//.test(request));
    expect(asked).toEqual(['POST /shared/read']);
    expect(await page.getByRole('link').count()).toBe(0);
    expect(new URL(page.url()).hash).toBe(new URL(link).hash);
  });

  it('adds up the trace by agent and tool, and tells what filled its windows, from what it brought', async () => {
    const page = await visit('/health', { signedIn: false });
    const requests = requestsOf(page);
    await page.goto(link);
    await page.getByTitle('Totals by tool').click();
    const totals = page.getByRole('region', { name: 'Totals of the trace' });
    await totals.getByRole('row', { name: /tool\.find_order 1 1 / }).waitFor();
    await totals.getByRole('button', { name: 'Agents', exact: true }).click();
    await totals.getByRole('row', { name: /^Turn s1 .*300 4 2 1 1/ }).waitFor();
    await totals.getByRole('button', { name: 'Context', exact: true }).click();
    await totals.getByText('2 requests in figures').click();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
    await page.getByRole('treeitem', { name: 'model.chat' }).first().click();
    await page.getByRole('tab', { name: 'Context' }).click();
    await page.getByText('120 tokens of input').waitFor();
    expect(requests.filter((request) => !/^GET .*\/ui\//.test(request))).toEqual(['POST /shared/read']);
  });

  it.each(['google-adk-multi-agent', 'openai-agents-handoff', 'claude-code-background-agent'])(
    'has the totals of %s that the service has',
    async (name) => {
      const own = newName(`page/${name}`);
      const trace = await sendCapture(name, own);
      await post('/obj/create', allowLinks(own).body);
      await post('/obj/create', makeLink(own, 'link', trace).body);
      const calls = await callsOf(tokenOf(own, 'link'));
      const asked = { project_id: own, trace_ids: [trace] };
      expect(toTraceAgents(trace, calls)).toEqual(await post('/trace/agents', asked));
      const ids = calls.map(({ id }) => id);
      const contexts = await post('/call/context', { project_id: own, ids });
      expect({ contexts: calls.flatMap((call) => toContext(call) ?? []) }).toEqual(contexts);
    },
  );

  it('opens the call that its address has after a reload', async () => {
    const page = await visit('/health', { signedIn: false });
    await page.goto(link);
    await page.getByRole('treeitem', { name: 'tool.find_order' }).click();
    await page.getByRole('tabpanel').getByText('OrderNotFound: 4711').waitFor();
    await page.reload();
    await page.getByRole('tabpanel').getByText('OrderNotFound: 4711').waitFor();
  });

  it('runs nothing of what calls hold', async () => {
    const page = await visit('/health', { signedIn: false });
    await page.goto(link);
    await page.getByRole('treeitem').last().click();
    await page.getByText('<img src=x').first().waitFor();
    expect(await page.locator('main img, main script, main a').count()).toBe(0);
  });

  it('is used by keyboard, in both themes, and on a phone', async () => {
    const page = await visit('/health', { signedIn: false });
    await page.goto(link);
    await page.getByRole('treeitem').first().waitFor();
    await page.keyboard.press('j');
    await page.locator('.tree-row.selected').getByText('model.chat').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    await page.keyboard.press('Escape');
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
    const phone = await visit('/health', { signedIn: false, viewport: { width: 390, height: 844 } });
    await phone.goto(link);
    await phone.getByRole('treeitem', { name: 'tool.find_order' }).click();
    await phone.getByRole('tabpanel').getByText('OrderNotFound: 4711').waitFor();
    await phone.goBack();
    await phone.getByRole('treeitem', { name: 'tool.find_order' }).waitFor();
  });

  it('that is cut off says so', async () => {
    const page = await visit('/health', { signedIn: false, expected: /404/ });
    await page.goto(`${pageUrl}shared`);
    await page.getByText('This link is incomplete').waitFor();
    await page.goto(`${pageUrl}shared#WyJhIl0`);
    await page.getByText('This link does not work').waitFor();
  });

  it('is for who may write, if an admin allows it', async () => {
    const own = await seed();
    const page = await visit(own.trace, { as: writer });
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    await page.getByText('An admin of the project can allow them here.').waitFor();
    expect(await page.getByRole('button', { name: 'Create link' }).count()).toBe(0);
    const val = { _type: 'Sharing', public_links: true };
    await post('/obj/create', { obj: { project_id: own.project, object_id: 'sharing', val } });
    await page.reload();
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    await page.getByRole('button', { name: 'Create link' }).click();
    await page.getByLabel('The link').waitFor();
    expect(await page.getByRole('dialog').getByRole('checkbox').count()).toBe(0);
  });
});
