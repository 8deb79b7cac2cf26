import type { CDPSession, Page } from 'playwright-core';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { launchBrowser } from '../../bench/harness/browser.ts';
import { report } from './support/calls.ts';
import { key, pageUrl } from './support/visit.ts';

/* What a browser that was never here asks for until the list has its first row. */

const project = 'page/first-row';
const second = 1000;

beforeAll(() =>
  report(
    project,
    Array.from({ length: 120 }, (_, at) => ({ id: `row-${at}`, name: `Row ${at}`, at: at * second })),
  ),
);

/** A request as the browser's debugger sees it, whoever sent it. */
interface Sent {
  readonly url: string;
  /** In ms since 1970. */
  readonly at: number;
  /** As they came over the wire, headers included. */
  bytes: number;
}

/** Notes every request of a tab. */
const watchRequests = async (session: CDPSession): Promise<ReadonlyMap<string, Sent>> => {
  const sent = new Map<string, Sent>();
  session.on('Network.requestWillBeSent', ({ requestId, request, wallTime }) =>
    sent.set(requestId, { url: request.url, at: wallTime * second, bytes: 0 }),
  );
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const request = sent.get(requestId);
    if (request) request.bytes = encodedDataLength;
  });
  await session.send('Network.enable');
  return sent;
};

/** When the first row is there, in ms since 1970: as the page itself sees it, and not when a test does. */
const noteFirstRow = `new MutationObserver(() => {
  if (document.querySelector('.row-link')) globalThis.firstRowAt ??= Date.now();
}).observe(document, { childList: true, subtree: true });`;

const readFirstRow = async (page: Page): Promise<number> => {
  await page.locator('.row-link').first().waitFor();
  return page.evaluate<number>('globalThis.firstRowAt');
};

describe('until its first row, the list of traces', () => {
  it('takes at most 12 requests and 180 kB, those of the API included', async () => {
    const browser = await launchBrowser(inject('page').browser);
    try {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
      await context.addInitScript((kept) => sessionStorage.setItem('pennytrace.key', kept), key);
      await context.addInitScript({ content: noteFirstRow });
      const page = await context.newPage();
      const sent = await watchRequests(await context.newCDPSession(page));
      await page.goto(`${pageUrl}traces?project=${encodeURIComponent(project)}`);
      const firstRowAt = await readFirstRow(page);
      // What was asked for before the row may still be on its way.
      await page.waitForLoadState('networkidle');
      const before = [...sent.values()].filter(({ at }) => at <= firstRowAt);
      const paths = before.map(({ url }) => new URL(url).pathname);
      expect(paths[0]).toBe('/ui/traces');
      expect(paths).toEqual(expect.arrayContaining(['/me', '/calls/stream_query']));
      expect(before.every(({ bytes }) => bytes > 0)).toBe(true);
      expect(paths.length, paths.join('\n')).toBeLessThanOrEqual(12);
      const bytes = before.reduce((sum, request) => sum + request.bytes, 0);
      expect(
        bytes,
        before.map((request) => `${request.url} ${request.bytes}`).join('\n'),
      ).toBeLessThanOrEqual(180_000);
      // More is asked for once it is there: if nothing was, the moment would not be known.
      await expect.poll(() => sent.size).toBeGreaterThan(before.length);
    } finally {
      await browser.close();
    }
  });
});
