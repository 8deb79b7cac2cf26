import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { report, turn } from './support/calls.ts';
import { pageUrl, useBrowser } from './support/visit.ts';

/* Buttons whose menus and forms load when the view already stands. */

const visit = useBrowser();
const project = 'page/buttons';
beforeAll(() => report(project, turn('b1', 100_000)));

/** The list of traces. What menus and popups are made of waits for the release. */
const heldList = async (): Promise<{ readonly page: Page; readonly release: () => Promise<void> }> => {
  // Without the page's scripts, which would load what is to be held.
  const page = await visit('robots.txt', { expected: /robots/ });
  const { promise: released, resolve } = Promise.withResolvers<void>();
  await page.route(/overlays/, async (route) => {
    await released;
    await route.continue();
  });
  const loaded = [/overlays/].map((file) => page.waitForResponse(file));
  await page.goto(`${pageUrl}traces?project=${encodeURIComponent(project)}`);
  await page.getByRole('link', { name: 'Turn b1' }).waitFor();
  const release = async () => {
    resolve();
    for (const response of await Promise.all(loaded)) {
      await response.finished();
      await page.evaluate(
        `import(${JSON.stringify(response.url())}).then(() => new Promise(requestAnimationFrame))`,
      );
    }
  };
  return { page, release };
};

const buttons = [
  ['+ Filter', (page: Page) => page.getByLabel('Column or path')],
  ['Any status', (page: Page) => page.getByRole('menuitemcheckbox', { name: 'error', exact: true })],
] as const;

describe.each(buttons)('%s', (name, opened) => {
  it('opens when it is pressed before what it opens has loaded, and let go after that', async () => {
    const { page, release } = await heldList();
    await page.getByRole('button', { name }).hover();
    await page.mouse.down();
    await release();
    await page.mouse.up();
    await opened(page).waitFor();
  });

  it('opens by keyboard once what it opens has loaded, and has the focus again when it closes', async () => {
    const { page, release } = await heldList();
    await page.getByRole('button', { name }).focus();
    await page.keyboard.press('Enter');
    await release();
    await opened(page).waitFor();
    await page.keyboard.press('Escape');
    await opened(page).waitFor({ state: 'detached' });
    expect(await page.getByRole('button', { name }).evaluate((button) => button.matches(':focus'))).toBe(
      true,
    );
  });
});

it('what is typed before a form has loaded is not for the rows behind it', async () => {
  const { page, release } = await heldList();
  await page.getByRole('button', { name: '+ Filter' }).click();
  await page.keyboard.type('jx?');
  await release();
  await page.getByLabel('Column or path').waitFor();
  expect(await page.locator('.table-row.active').count()).toBe(0);
  expect(await page.getByRole('dialog', { name: 'Keyboard' }).count()).toBe(0);
});

it('a menu opens with the arrow keys, which then do nothing else', async () => {
  const { page, release } = await heldList();
  await release();
  await page.getByRole('button', { name: 'Any status' }).focus();
  await page.keyboard.press('ArrowDown');
  await page.getByRole('menuitemcheckbox', { name: 'error', exact: true }).waitFor();
  expect(await page.locator('[aria-rowindex="2"].table-row').count()).toBe(1);
  expect(await page.locator('.table-row.active').count()).toBe(0);
});

it('a dialog focuses its first control, and not what closes it', async () => {
  const page = await visit(`traces?project=${encodeURIComponent(project)}`);
  await page.getByRole('link', { name: 'Turn b1' }).waitFor();
  await page.getByRole('button', { name: 'Export' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'JSON Lines' }).and(page.locator(':focus')).waitFor();
  expect(await dialog.getByRole('button', { name: 'Close' }).and(page.locator(':focus')).count()).toBe(0);
});
