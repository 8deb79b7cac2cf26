import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest';
import { launchBrowser } from '../../../bench/harness/browser.ts';
import { aheadMs, setClockAhead } from '../../support/run/clock/ahead.ts';
import { patienceMs } from '../../support/run/pace.ts';

const { url, key, reader, writer } = inject('page');

/** Where the page is, with its slash. */
export const pageUrl = `${url}/ui/`;
export { key, reader, url, writer };

/** What a visitor comes with. */
export interface Visit {
  /** @default - the browser's own */
  readonly colorScheme?: 'light' | 'dark';
  /** @default - that of a small laptop */
  readonly viewport?: { readonly width: number; readonly height: number };
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
    // Whoever is not signed in asks how one signs in, and without the setting that is a 404.
    if (message.location().url.endsWith('/sign-in')) return;
    if (message.type() === 'error' || message.type() === 'warning')
      troubles.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => troubles.push(`error: ${error.message}`));
  page.on('requestfailed', (request) => {
    // The page aborts what nobody waits for any more.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') troubles.push(`failed: ${request.url()}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400 && !response.url().endsWith('/sign-in'))
      troubles.push(`status ${response.status()}: ${response.url()}`);
  });
};

interface OpenVisit {
  readonly page: Page;
  readonly troubles: readonly string[];
  readonly expected?: RegExp;
}

/** Ends the visits of a test, also if it failed. The next test finds nothing that they kept. */
const end = async (visits: readonly OpenVisit[]): Promise<void> => {
  for (const { page } of visits) {
    await page.context().setOffline(false);
    // A page that did not come has nothing.
    await page.evaluate(() => localStorage.clear()).catch(() => {});
    await page.close();
  }
};

/**
 * The browser of this worker, which the first file starts. One for all workers would have each
 * message go through two processes more. It ends with the worker; modules may be loaded anew before
 * that, so it hangs on the process.
 */
const sharedBrowser = (): Promise<Browser> => {
  const holder = globalThis as { pennytraceBrowser?: Promise<Browser> };
  const { browser } = inject('page');
  holder.pennytraceBrowser ??= launchBrowser({
    ...browser,
    // Tabs share a process: to start one for each takes longer than to draw its page.
    args: [...(browser.args ?? []), '--renderer-process-limit=1'],
  });
  return holder.pennytraceBrowser;
};

/**
 * Has a test file use the browser. Each visit ends with its test, and must go without trouble. All
 * visits of a file share what the browser keeps of the page's scripts, which takes long to load.
 */
export const useBrowser = (): ((path: string, visit?: Visit) => Promise<Page>) => {
  let context: BrowserContext | undefined;
  const visits: OpenVisit[] = [];
  beforeAll(async () => {
    const browser = await sharedBrowser();
    context = await browser.newContext({ locale: 'en-US' });
    context.setDefaultTimeout(patienceMs);
    await context.addInitScript({ content: tellOfViolations });
    if (aheadMs !== 0) await context.addInitScript(setClockAhead, aheadMs);
    // The process of the tabs ends with the last of them: this one stays.
    const first = await context.newPage();
    await first.goto(`${url}/health`);
  });
  afterAll(() => context?.close());
  afterEach(async () => {
    const done = visits.splice(0);
    await end(done);
    for (const { troubles, expected } of done) {
      const unexpected = troubles.filter((trouble) => !expected?.test(trouble));
      expect(unexpected, unexpected.join('\n')).toEqual([]);
    }
  });
  return async (path, { signedIn = true, as = key, expected, base = pageUrl, ...look } = {}) => {
    if (!context) throw new Error('the browser has not been started');
    const page = await context.newPage();
    await page.setViewportSize(look.viewport ?? { width: 1280, height: 800 });
    if (look.colorScheme) await page.emulateMedia({ colorScheme: look.colorScheme });
    if (signedIn) await page.addInitScript((kept) => sessionStorage.setItem('pennytrace.key', kept), as);
    const troubles: string[] = [];
    watch(page, troubles);
    visits.push({ page, troubles, ...(expected && { expected }) });
    await page.goto(new URL(path, base).href);
    return page;
  };
};
