import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { allowLinks, makeLink, tokenOf } from '../support/endpoints/sharing.ts';
import { newName } from '../support/run/new-name.ts';
import { axeFaults } from './support/axe.ts';
import { post, report, turn } from './support/calls.ts';
import { pageUrl, useBrowser, writer } from './support/visit.ts';

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
    expect(await page.getByRole('tab').allInnerTexts()).toEqual(['Messages', 'Data', 'Usage']);
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
