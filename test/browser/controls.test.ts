import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { report, turn } from './support/calls.ts';
import { focused } from './support/focus.ts';
import { useBrowser } from './support/visit.ts';

/* What views share: the menu of times, copying, the table of keys. */

const visit = useBrowser();
const project = 'page/controls';
const at = encodeURIComponent(project);
const list = `traces?project=${at}`;

beforeAll(async () => {
  await report(project, turn('c1', 0));
  await report(project, turn('c2', 3_600_000));
});

const names = (page: Page) => page.locator('.row-link').allTextContents();
const row = (page: Page, name: string) => page.getByRole('link', { name });

describe('the menu of times', () => {
  it('limits the list to a span that is typed, in the time of its reader', async () => {
    const page = await visit(list);
    await row(page, 'Turn c2').waitFor();
    const typed = (ms: number) =>
      page.evaluate<string>(`(() => {
        const date = new Date(Date.parse('2026-10-01T12:00:00Z') + ${ms});
        return new Date(date.getTime() - date.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
      })()`);
    await page.getByRole('button', { name: 'All time' }).click();
    await page.getByLabel('From', { exact: true }).fill(await typed(1_800_000));
    await page.getByLabel('To', { exact: true }).fill(await typed(7_200_000));
    await page.getByRole('button', { name: 'Apply' }).click();
    await row(page, 'Turn c1').waitFor({ state: 'detached' });
    await row(page, 'Turn c2').waitFor();
    expect(await names(page)).toEqual(['Turn c2']);
    const search = new URL(page.url()).searchParams;
    expect([search.get('from'), search.get('to')]).toEqual([
      '2026-10-01T12:30:00.000Z',
      '2026-10-01T14:00:00.000Z',
    ]);
  });

  it('shows the last hour, and all time again, without a trace in the URL', async () => {
    const page = await visit(list);
    await row(page, 'Turn c2').waitFor();
    await page.getByRole('button', { name: 'All time' }).click();
    await page.getByRole('button', { name: 'Last hour' }).click();
    await page.getByText('Nothing matches these filters.').waitFor();
    expect(page.url()).toContain('range=1h');
    await page.getByRole('button', { name: 'Last hour' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'All time' }).click();
    await row(page, 'Turn c1').waitFor();
    expect(page.url()).not.toContain('range');
  });
});

describe('the calendar', () => {
  it('chooses a span by two days, also by keyboard', async () => {
    const page = await visit(`${list}&from=2026-10-01T00:00:00.000Z`);
    await row(page, 'Turn c2').waitFor();
    await page.getByRole('button', { name: /^\d+ (Sep|Oct).* – …$/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('October 2026').waitFor();
    const bounds = () =>
      Promise.all(['From', 'To'].map((name) => dialog.getByLabel(name, { exact: true }).inputValue()));
    const [begin = ''] = await bounds();
    await dialog.getByRole('button', { name: 'October 12, 2026' }).click();
    expect(await bounds()).toEqual([begin, '2026-10-13 00:00']);
    await dialog.getByRole('button', { name: 'October 12, 2026' }).focus();
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => focused(page)).toBe('October 19, 2026');
    await page.keyboard.press('Enter');
    // One day alone is that day.
    expect(await bounds()).toEqual(['2026-10-19 00:00', '2026-10-20 00:00']);
    await dialog.getByRole('button', { name: 'October 21, 2026' }).click();
    expect(await bounds()).toEqual(['2026-10-19 00:00', '2026-10-22 00:00']);
    expect(await dialog.locator('.calendar [aria-pressed="true"]').allInnerTexts()).toEqual(['19', '21']);
    await dialog.getByRole('button', { name: 'Previous month' }).click();
    await dialog.getByText('September 2026').waitFor();
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('Nothing matches these filters.').waitFor();
    expect(page.url()).toMatch(/from=2026-10-1[89].*to=2026-10-2[12]/);
  });

  it.each(['yesterday', '2026-13-45 10:00', '2026-02-30 10:00', '2026-10-01 25:00'])(
    'refuses %s, which is no time, and says what is one',
    async (text) => {
      const page = await visit(list);
      await page.getByRole('button', { name: 'All time' }).click();
      const from = page.getByLabel('From', { exact: true });
      await from.fill(text);
      await page.getByRole('button', { name: 'Apply' }).click();
      const message = await page.evaluate('document.querySelector(".time-fields input").validationMessage');
      expect(message).toMatch(/such as 2026-10-01 12:30/);
      expect(page.url()).not.toContain('from=');
      await from.fill('2026-10-01 10:00');
      await page.getByRole('button', { name: 'Apply' }).click();
      await page.waitForURL(/from=/);
    },
  );
});

describe('the menu of commands', () => {
  it('leads to views, ids and searches by the keyboard, and gives the focus back', async () => {
    const page = await visit(list);
    await row(page, 'Turn c2').waitFor();
    await page.keyboard.press('Control+k');
    const menu = page.getByRole('dialog', { name: 'Commands' });
    await menu.getByRole('option', { name: 'Overview', exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await page.keyboard.type('price');
    await menu.getByRole('option', { name: 'Prices', exact: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Prices', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Search or jump to' }).click();
    await page.keyboard.type('c1-tool');
    await menu.getByRole('option', { name: 'Open the call c1-tool' }).click();
    await page.waitForURL(/\/trace\?.*call=c1-tool/);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('where is my order');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/traces\?.*text=where/);
  });
});

it('a theme that is chosen by a command is ticked in the menu of themes', async () => {
  const page = await visit(list);
  await row(page, 'Turn c2').waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('option', { name: 'Theme: dark' }).click();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Theme', exact: true }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Dark', checked: true }).waitFor();
  expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
});

describe('copying', () => {
  const callLink = `trace?project=${at}&trace=c1&call=c1-model-1&tab=data`;

  it('puts ids, values and paths into the clipboard, and says so', async () => {
    const page = await visit(callLink);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
    await page.getByRole('button', { name: 'Copy id' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await copied()).toBe('c1-model-1');
    const menu = page.getByRole('button', { name: 'Value of inputs.model', exact: true });
    await menu.click();
    await page.getByRole('menuitem', { name: 'Copy value' }).click();
    await expect.poll(copied).toBe('gpt-4o-mini');
    await menu.click();
    await page.getByRole('menuitem', { name: 'Copy path' }).click();
    await expect.poll(copied).toBe('inputs.model');
    await page.context().clearPermissions();
  });

  it('says that it cannot if the browser keeps the clipboard back', async () => {
    const page = await visit(callLink);
    await page.getByRole('tab', { name: 'Data' }).waitFor();
    await page.evaluate(
      `Object.defineProperty(navigator.clipboard, 'writeText', { value: () => Promise.reject(new Error()) })`,
    );
    await page.getByRole('button', { name: 'Copy id' }).click();
    await page.getByRole('button', { name: 'Cannot copy' }).waitFor();
  });
});

describe('the keys of a view', () => {
  it('go on after a click on a checkbox', async () => {
    const page = await visit(list);
    await row(page, 'Turn c2').waitFor();
    await page.getByRole('checkbox', { name: 'Select Turn c2' }).click();
    await page.keyboard.press('j');
    await page.locator('.table-row.active').getByText('Turn c2').waitFor();
  });

  it('are listed on request, and rest while they are', async () => {
    const page = await visit(list);
    await row(page, 'Turn c2').waitFor();
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Keyboard' });
    await dialog.getByText('compare the two selected rows').waitFor();
    await page.keyboard.press('j');
    expect(await page.locator('.table-row.active').count()).toBe(0);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.keyboard.press('j');
    await page.locator('.table-row.active').getByText('Turn c2').waitFor();
    await page.keyboard.press('/');
    expect(await focused(page)).toBe('Search in all calls');
    await page.keyboard.type('j');
    await expect.poll(() => page.locator('.table-row.active').getByText('Turn c2').isVisible()).toBe(true);
  });
});
