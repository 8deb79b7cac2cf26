import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Only the violations leave the browser: what axe finds in order is a long list. */
const faultsScript = (
  rules = '',
) => `axe.run({ resultTypes: ['violations'], ${rules} }).then(({ violations }) =>
  violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200))));`;

/**
 * What axe finds on a page in both themes, which differ in nothing but colors, and how wide the page
 * is on a phone of 360 pixels.
 */
export const axeFaults = async (page: Page): Promise<{ light: string[]; dark: string[]; width: unknown }> => {
  // Through the debugger's own door: the policy of the page would stop any other script.
  await page.evaluate(axe);
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await page.evaluate<string[]>(faultsScript());
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await page.evaluate<string[]>(faultsScript("runOnly: ['color-contrast']"));
  await page.setViewportSize({ width: 360, height: 740 });
  return { light, dark, width: await page.evaluate('document.documentElement.scrollWidth') };
};
