import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { post, report, type SeededCall, turn } from './support/calls.ts';
import { pageUrl, reader, url, useBrowser } from './support/visit.ts';

const visit = useBrowser();
const project = 'page/failure';
const at = encodeURIComponent(project);
const list = `traces?project=${at}`;

const many: SeededCall[] = Array.from({ length: 60 }, (_, index) => ({
  id: `many-${String(index).padStart(2, '0')}`,
  name: `Many ${String(index).padStart(2, '0')}`,
  at: index * 1000,
}));

beforeAll(async () => {
  await report(project, many);
  await report(project, turn('f1', 100_000));
});

const alert = (page: Page, text: string) => page.getByRole('alert').getByText(text).waitFor();
const newest = (page: Page) => page.getByRole('link', { name: 'Turn f1' });

/** Waits for the view of a trace and all that it imports, which loads a second after the list. */
const traceView = async (page: Page) => {
  const file = await page.waitForFunction(
    () => performance.getEntriesByType('resource').find(({ name }) => name.includes('/trace-view'))?.name,
  );
  await page.evaluate(`import(${JSON.stringify(await file.jsonValue())}).then(() => {})`);
};

describe('what goes wrong is said, and what was on the screen stays', () => {
  it('without a network', async () => {
    const page = await visit(list, { expected: /ERR_INTERNET_DISCONNECTED|failed:/ });
    await newest(page).waitFor();
    await traceView(page);
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await alert(page, 'Cannot reach the service. Check your connection, then try again.');
    expect(await newest(page).isVisible()).toBe(true);
    await newest(page).press('Enter');
    // The list says the same and has such a button until the view is there. If the network came back
    // before that, the view would read what it shows without being asked.
    await newest(page).waitFor({ state: 'detached' });
    await alert(page, 'Cannot reach the service');
    await page.context().setOffline(false);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('treeitem').first().waitFor();
  });

  it('without a network, on the way to a view that has not been loaded', async () => {
    const page = await visit(list, {
      expected: /ERR_INTERNET_DISCONNECTED|failed:|Cannot reach the service/,
    });
    await newest(page).waitFor();
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Overview' }).click();
    await alert(page, 'Cannot reach the service. Check your connection, then try again.');
    await page.goBack();
    await newest(page).waitFor();
    await page.goForward();
    await alert(page, 'Cannot reach the service');
    await page.context().setOffline(false);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  it('with an update since the page was opened', async () => {
    const page = await visit(list, { expected: /404|dynamically imported/ });
    await newest(page).waitFor();
    let gone = true;
    await page.route('**/overview-view*', (route) => {
      if (!gone) return route.continue();
      gone = false;
      return route.fulfill({ status: 404 });
    });
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  it('without a network, on the way to a part of a view that has not been loaded', async () => {
    // Without the page's scripts, which would load the part before it is held.
    const page = await visit('robots.txt', {
      expected: /robots|failed:|ERR_FAILED|Cannot reach the service|dynamically imported/,
    });
    let reachable = false;
    await page.route(
      (address) => address.href.includes('/overlays-') || address.href === pageUrl,
      (route) => (reachable ? route.continue() : route.abort()),
    );
    await page.goto(new URL(list, pageUrl).href);
    await newest(page).waitFor();
    await page.getByRole('button', { name: 'Columns' }).click();
    await alert(page, 'Cannot reach the service. Check your connection, then try again.');
    reachable = true;
    await page.getByRole('button', { name: 'Try again' }).click();
    await newest(page).waitFor();
    // The browser keeps the failed load of a module as long as the page: the part loads both anew.
    const loaded = page.waitForEvent('load');
    await page.getByRole('button', { name: 'Columns' }).click();
    await loaded;
    await newest(page).waitFor();
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByLabel('Path of a new column').waitFor();
  });

  it('without a network, in a view whose part is shown at once and has not been loaded', async () => {
    const page = await visit('robots.txt', {
      expected: /robots|failed:|ERR_FAILED|Cannot reach the service|dynamically imported/,
    });
    let reachable = false;
    await page.route(
      (address) => address.href.includes('/story-view-') || address.href === pageUrl,
      (route) => (reachable ? route.continue() : route.abort()),
    );
    await page.goto(new URL(`trace?project=${at}&trace=f1&story=true`, pageUrl).href);
    await alert(page, 'Cannot reach the service. Check your connection, then try again.');
    reachable = true;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('region', { name: 'Story', exact: true }).waitFor();
  });

  it('with a key that may not read the project', async () => {
    const page = await visit(`traces?project=${encodeURIComponent('other/secret')}`, {
      as: reader,
      expected: /403/,
    });
    await alert(page, 'This key may not read the project other/secret.');
    expect(await page.getByText(/\d+\+? rows/).count()).toBe(0);
  });

  it('with too many requests', async () => {
    const page = await visit(list, { expected: /429/ });
    await newest(page).waitFor();
    await page.route('**/calls/stream_query', (route) => route.fulfill({ status: 429, body: '{}' }), {
      times: 1,
    });
    await page.getByRole('button', { name: 'Refresh' }).click();
    await alert(page, 'Too many requests at once. Wait a moment, then try again.');
    expect(await newest(page).isVisible()).toBe(true);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await newest(page).waitFor();
  });

  it('with a trace that was deleted meanwhile', async () => {
    await report(project, turn('f2', 200_000));
    const page = await visit(list);
    const row = page.getByRole('link', { name: 'Turn f2' });
    await row.waitFor();
    await post('/calls/delete', { project_id: project, call_ids: ['f2'] });
    await row.press('Enter');
    await page.getByText('This trace does not exist: it was deleted').waitFor();
    await page.getByRole('link', { name: 'All traces' }).click();
    await page.getByRole('link', { name: 'Turn f1' }).waitFor();
  });
});

describe('an answer that breaks off', () => {
  let proxy: Server;
  let breaks = false;
  beforeAll(async () => {
    proxy = createServer(async (request, response) => {
      const answer = await fetch(url + request.url, {
        method: request.method ?? 'GET',
        headers: { ...(request.headers as Record<string, string>), 'accept-encoding': 'gzip' },
        ...(request.method === 'POST' && { body: Readable.toWeb(request) as ReadableStream, duplex: 'half' }),
        redirect: 'manual',
      } as RequestInit);
      const body = Buffer.from(await answer.arrayBuffer());
      // `fetch` has unpacked the body.
      const {
        'content-encoding': _,
        'content-length': _length,
        ...headers
      } = Object.fromEntries(answer.headers);
      response.writeHead(answer.status, headers);
      if (!breaks || !request.url?.endsWith('stream_query') || body.length < 2000) response.end(body);
      else response.write(body.subarray(0, body.length / 2), () => setTimeout(() => response.destroy(), 50));
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => proxy.close());

  it('leaves what came, and goes on from there', async () => {
    const { port } = proxy.address() as AddressInfo;
    breaks = true;
    const page = await visit(list, {
      base: `http://127.0.0.1:${port}/ui/`,
      expected: /INCOMPLETE_CHUNKED|failed:|CONTENT_LENGTH_MISMATCH|ERR_/,
    });
    await alert(page, 'The answer was cut off. What arrived is shown; try again for the rest.');
    await newest(page).waitFor();
    breaks = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('61 rows').waitFor();
  });
});
