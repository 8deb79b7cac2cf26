import type { Browser, Page } from 'playwright-core';
import { type LocalService, startLocalService } from '../../local/service.ts';
import { launchBrowser } from './browser.ts';

/** A local service with a browser in front of it. */
export interface PageBench extends AsyncDisposable {
  readonly service: LocalService;
  /** POSTs JSON, and gives the answer once its headers are there. */
  readonly post: (path: string, body: object) => Promise<Response>;
  /** Opens a view in a browser without a cache. */
  readonly visit: (path: string) => Promise<Page>;
  /** The read units that the functions of some routes used while a task ran. */
  readonly readUnitsOf: (task: () => Promise<unknown>) => Promise<number>;
}

interface RequestLine {
  readonly message?: string;
  readonly readUnits?: number;
}

const parsed = (line: string): RequestLine => {
  try {
    return JSON.parse(line) as RequestLine;
  } catch {
    return {};
  }
};

/** How long the log may lag behind an answer, in ms. */
const logLagMs = 500;

/** Starts a local service and a browser, until disposal. */
export const openPageBench = async (): Promise<PageBench> => {
  let readUnits = 0;
  const service = await startLocalService({
    log: (_, line) => {
      const { message, readUnits: units } = parsed(line);
      if (message === 'request') readUnits += units ?? 0;
    },
  });
  const browser: Browser = await launchBrowser();
  const headers = {
    authorization: `Basic ${Buffer.from(`api:${service.key}`).toString('base64')}`,
    'content-type': 'application/json',
  };
  const post = async (path: string, body: object): Promise<Response> => {
    const answer = await fetch(service.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return answer;
  };
  return {
    service,
    post,
    visit: async (path) => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
      context.setDefaultTimeout(120_000);
      await context.addInitScript((key) => sessionStorage.setItem('pennytrace.key', key), service.key);
      const page = await context.newPage();
      await page.goto(`${service.url}/ui/${path}`);
      return page;
    },
    readUnitsOf: async (task) => {
      const pause = () => new Promise((done) => setTimeout(done, logLagMs));
      await pause();
      const before = readUnits;
      await task();
      await pause();
      return readUnits - before;
    },
    [Symbol.asyncDispose]: async () => {
      await browser.close();
      await service.stop();
    },
  };
};
