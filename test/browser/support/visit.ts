import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest';

const { url, key, reader } = inject('page');

/** Where the page is, with its slash. */
export const pageUrl = `${url}/ui/`;
export { key, reader, url };

/** What a visitor comes with. */
export interface Visit extends Pick<BrowserContextOptions, 'colorScheme' | 'viewport'> {
  /** Whether they have signed in before, in this tab. @default true */
  readonly signedIn?: boolean;
  /** The key that they signed in with. @default - one that may do everything */
  readonly as?: string;
  /** Troubles that belong to the test. @default - none */
  readonly expected?: RegExp;
  /** @default - the page of the service itself */
  readonly base?: string;
}

/**
 * Has the browser tell of what the policy stopped. A text, because the tests are checked without
 * the DOM's types.
 */
const tellOfViolations = `document.addEventListener('securitypolicyviolation', (event) =>
  console.error('policy: ' + event.violatedDirective + ' stopped ' + event.blockedURI));`;

/** Notes everything that must not happen while somebody uses the page. */
const watch = (page: Page, troubles: string[]): void => {
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      troubles.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => troubles.push(`error: ${error.message}`));
  page.on('requestfailed', (request) => {
    // The page aborts what nobody waits for any more.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') troubles.push(`failed: ${request.url()}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) troubles.push(`status ${response.status()}: ${response.url()}`);
  });
};

/** Has a test file use the browser. Each visit ends with its test, and must go without trouble. */
export const useBrowser = (): ((path: string, visit?: Visit) => Promise<Page>) => {
  let browser: Browser;
  const visits: { readonly page: Page; readonly troubles: string[]; readonly expected?: RegExp }[] = [];
  beforeAll(async () => {
    browser = await chromium.connect(inject('page').browser);
  });
  afterAll(() => browser.close());
  afterEach(async () => {
    const done = visits.splice(0);
    await Promise.all(done.map(({ page }) => page.context().close()));
    for (const { troubles, expected } of done)
      expect(troubles.filter((trouble) => !expected?.test(trouble))).toEqual([]);
  });
  return async (path, { signedIn = true, as = key, expected, base = pageUrl, ...options } = {}) => {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      locale: 'en-US',
      ...options,
    });
    context.setDefaultTimeout(15_000);
    await context.addInitScript({ content: tellOfViolations });
    if (signedIn) await context.addInitScript((kept) => sessionStorage.setItem('pennytrace.key', kept), as);
    const page = await context.newPage();
    const troubles: string[] = [];
    watch(page, troubles);
    visits.push({ page, troubles, ...(expected && { expected }) });
    await page.goto(new URL(path, base).href);
    return page;
  };
};
