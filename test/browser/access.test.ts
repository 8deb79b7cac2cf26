import { beforeAll, describe, expect, it } from 'vitest';
import { axeFaults } from './support/axe.ts';
import { report, turn } from './support/calls.ts';
import { focused } from './support/focus.ts';
import { useBrowser } from './support/visit.ts';

const visit = useBrowser();
const project = 'page/access';
const at = encodeURIComponent(project);

beforeAll(async () => {
  await report(project, turn('a1', 0));
  await report(project, [{ id: 'long', name: 'A name that goes on and on '.repeat(8), at: 5000 }]);
  // A single project would be opened at once.
  await report('page/another', turn('another-1', 0));
});

/** What a view is, with something that is there once it stands. */
const views: readonly (readonly [string, string, string, boolean])[] = [
  ['the sign-in', '', 'input[name=key]', false],
  ['the projects', '', '.projects li', true],
  [
    'the traces',
    `traces?project=${at}&where=${encodeURIComponent('[{"path":"op_name","op":"exists","value":""}]')}`,
    '.row-link',
    true,
  ],
  ['a trace', `trace?project=${at}&trace=a1&call=a1&tab=data`, '.json-row', true],
  [
    'the issues',
    `issues?project=${at}&from=2026-10-01T00:00:00Z&to=2026-10-02T00:00:00Z`,
    '.issues-table',
    true,
  ],
  ['messages', `trace?project=${at}&trace=a1&call=a1-model-2`, '.message', true],
  ['an error', `trace?project=${at}&trace=a1&call=a1-tool&tab=error`, '.exception', true],
];

describe.each(views)('%s', (_, path, sign, signedIn) => {
  it('has no fault that axe finds, in light and in dark, and fits a phone', async () => {
    const page = await visit(path, { colorScheme: 'light', signedIn });
    await page.locator(sign).first().waitFor();
    expect(await axeFaults(page)).toEqual({ light: [], dark: [], width: 360 });
  });
});

/** What a view is called, by its address. */
const titles: readonly (readonly [string, string, boolean])[] = [
  ['', 'pennytrace', false],
  ['', 'Projects · pennytrace', true],
  [`traces?project=${at}`, 'Traces · page/access · pennytrace', true],
  [`issues?project=${at}`, 'Issues · page/access · pennytrace', true],
  [`threads?project=${at}`, 'Threads · page/access · pennytrace', true],
  [`thread?project=${at}&thread=thread-1`, 'thread-1 · Thread · page/access · pennytrace', true],
  [`trace?project=${at}&trace=nothing`, 'Trace · page/access · pennytrace', true],
  [`trace?project=${at}&trace=a1`, 'Turn a1 · page/access · pennytrace', true],
];

describe('the title', () => {
  it.each(titles)('of %j is %j', async (path, title, signedIn) => {
    const page = await visit(path, { signedIn });
    await expect.poll(() => page.title()).toBe(title);
  });

  it('follows its reader from view to view, and to the sign-in', async () => {
    const page = await visit(`traces?project=${at}`);
    const isNow = (title: string) => expect.poll(() => page.title()).toBe(`${title}pennytrace`);
    await page.getByRole('link', { name: 'Turn a1' }).press('Enter');
    await isNow('Turn a1 · page/access · ');
    await page.goBack();
    await isNow('Traces · page/access · ');
    await page.goForward();
    await isNow('Turn a1 · page/access · ');
    await page.getByRole('button', { name: /Signed in as/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await isNow('');
  });
});

it('the title stays when the view is left for another one whose name it shared', async () => {
  const page = await visit(`evaluators?project=${at}&form=true`);
  await expect.poll(() => page.title()).toBe('New evaluator · page/access · pennytrace');
  await page
    .getByRole('navigation', { name: 'Breadcrumb' })
    .getByRole('link', { name: 'Evaluators' })
    .click();
  await expect.poll(() => page.title()).toBe('Evaluators · page/access · pennytrace');
});

describe('on a phone', () => {
  it('goes from the tree to a call and back', async () => {
    const page = await visit(`trace?project=${at}&trace=a1`, { viewport: { width: 360, height: 740 } });
    await page.getByRole('treeitem').nth(1).click();
    await page.getByRole('tab', { name: 'Messages' }).waitFor();
    expect(await page.getByRole('tree').isVisible()).toBe(false);
    await page.getByRole('button', { name: '← Tree' }).click();
    await page.getByRole('treeitem').nth(1).waitFor();
  });

  it('goes back from a call to the tree, and from there to the list', async () => {
    const page = await visit(`traces?project=${at}`, { viewport: { width: 360, height: 740 } });
    await page.getByRole('link', { name: 'Turn a1' }).press('Enter');
    await page.getByRole('treeitem').nth(1).click();
    await page.getByRole('tab', { name: 'Data' }).click();
    await page.waitForURL(/tab=data/);
    await page.goBack();
    await page.getByRole('treeitem', { selected: true }).getByText('model.chat').waitFor();
    expect(await page.getByRole('tab', { name: 'Data' }).isVisible()).toBe(false);
    await page.goBack();
    await page.getByRole('link', { name: 'Turn a1' }).waitFor();
  });

  it('shows the call that a link has a tab of, and its tree', async () => {
    const viewport = { width: 360, height: 740 };
    const page = await visit(`trace?project=${at}&trace=a1&tab=feedback`, { viewport });
    await page.getByRole('tab', { name: 'Feedback', selected: true }).waitFor();
    await page.getByRole('button', { name: '← Tree' }).click();
    await page.getByRole('treeitem').nth(1).waitFor();
  });
});

it('the first Tab reaches the link over the views, and the second the logo', async () => {
  const page = await visit(`traces?project=${at}`);
  await page.locator('.table-row').first().waitFor();
  await page.keyboard.press('Tab');
  expect(await focused(page)).toBe('Skip to the content');
  await page.keyboard.press('Tab');
  expect(await focused(page)).toBe('pennytrace: all projects');
});

it('a phone has the views in a drawer, which closes with a link or Escape', async () => {
  const page = await visit(`prices?project=${at}`, { viewport: { width: 320, height: 700 } });
  await page.getByRole('heading', { name: 'Prices', exact: true }).waitFor();
  expect(await page.getByRole('link', { name: 'Objects' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Menu' }).click();
  const drawer = page.getByRole('dialog', { name: 'Menu' });
  await drawer.getByRole('link', { name: 'Objects' }).click();
  await page.waitForURL(/\/objects\?project=/);
  await drawer.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Menu' }).click();
  await drawer.waitFor();
  await page.keyboard.press('Escape');
  await drawer.waitFor({ state: 'detached' });
  expect(await focused(page)).toBe('Menu');
});

describe('the side bar', () => {
  it('is narrow or wide as somebody chose, and stays so', async () => {
    const page = await visit(`prices?project=${at}`);
    const width = () => page.locator('.side-bar').evaluate((bar) => bar.getBoundingClientRect().width);
    await page.getByRole('button', { name: 'Collapse the side bar' }).click();
    await page.getByRole('button', { name: 'Expand the side bar' }).waitFor();
    expect(await width()).toBeLessThan(60);
    await page.reload();
    await page.getByRole('link', { name: 'Objects' }).click();
    await page.waitForURL(/\/objects\?project=/);
    expect(await width()).toBeLessThan(60);
    await page.getByRole('button', { name: 'Expand the side bar' }).click();
    expect(await width()).toBeGreaterThan(200);
  });

  it('marks the present view, and the breadcrumb leads back to its list', async () => {
    const page = await visit(`trace?project=${at}&trace=a1`);
    const crumbs = page.getByRole('navigation', { name: 'Breadcrumb' });
    await crumbs.getByText('Turn a1').waitFor();
    await crumbs.getByRole('link', { name: 'Traces' }).click();
    await page.getByRole('link', { name: 'Turn a1' }).waitFor();
    const views = page.getByRole('navigation', { name: 'Views' });
    expect(await views.locator('[aria-current=page]').allTextContents()).toEqual(['Traces']);
  });
});

it.each(['traces', 'trace', 'thread', 'prices'])(
  'a link to %s without a project leads to all projects',
  async (path) => {
    const page = await visit(path);
    await page.getByText('The link may be incomplete').waitFor();
    await page.getByRole('link', { name: 'Your projects' }).click();
    await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
  },
);

it('the theme can be chosen, and is kept', async () => {
  const page = await visit(`traces?project=${at}`, { colorScheme: 'light' });
  const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
  const light = await background();
  await page.getByRole('button', { name: 'Theme' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Dark' }).click();
  const dark = await background();
  expect(dark).not.toBe(light);
  await page.reload();
  await page.getByRole('button', { name: 'Theme' }).waitFor();
  expect(await background()).toBe(dark);
});
