import type { Page } from 'playwright-core';

/** The name of the button, link or field that has the focus; empty if none has it. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate(
    `(({ ariaLabel, innerText, labels, tagName }) =>
      tagName === 'BODY' ? '' : (ariaLabel ?? labels?.[0]?.innerText ?? innerText))(document.activeElement)`,
  );
