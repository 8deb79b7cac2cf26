import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService } from '../support/service/service.ts';
import { report, turn } from './support/calls.ts';
import { key, url, useBrowser } from './support/visit.ts';

const visit = useBrowser();
const project = 'page/sign-in';
beforeAll(async () => {
  await report(project, turn('sign-in-1', 0));
  // A single project would be opened at once.
  await report('page/another', turn('another-1', 0));
});

const link = `traces?project=${encodeURIComponent(project)}`;

describe('a visitor without a key', () => {
  it('signs in, and stands where the link led that they followed', async () => {
    const page = await visit(link, { signedIn: false });
    await page.getByLabel('Key').waitFor();
    // It has the focus.
    await page.keyboard.insertText(key);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Turn sign-in-1' }).waitFor();
    expect(page.url()).not.toContain(key);
    await page.reload();
    await page.getByRole('link', { name: 'Turn sign-in-1' }).waitFor();
    expect(await page.evaluate(() => localStorage.getItem('pennytrace.key'))).toBeNull();
  });

  it('learns that a key is not accepted', async () => {
    const page = await visit('', { signedIn: false, expected: /401/ });
    await page.getByLabel('Key').fill(key.replace(/.$/, (last) => (last === '0' ? '1' : '0')));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('This key is not accepted').waitFor();
  });

  it('keeps the key on the device only if asked to', async () => {
    const page = await visit('', { signedIn: false });
    await page.getByLabel('Key').fill(key);
    await page.getByLabel('Keep it on this device').check();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Projects' }).waitFor();
    expect(await page.evaluate(() => localStorage.getItem('pennytrace.key'))).toBe(key);
  });
});

describe('a visitor with the link of a local service', () => {
  it('is signed in, and neither the key nor the code stays in the address', async () => {
    const service = await startService();
    const { signInUrl = '' } = service;
    const fragment = new URL(signInUrl).hash;
    const page = await visit(fragment, { signedIn: false, base: `${service.url}/ui/` });
    await page.getByRole('button', { name: 'Signed in as local' }).waitFor();
    expect(page.url()).not.toContain('#');
    await page.reload();
    await page.getByRole('button', { name: 'Signed in as local' }).waitFor();
    expect(await page.evaluate(() => sessionStorage.getItem('pennytrace.key'))).toBe(service.key);
    expect(await page.evaluate(() => localStorage.getItem('pennytrace.key'))).toBeNull();

    const late = await visit(fragment, {
      signedIn: false,
      base: `${service.url}/ui/`,
      expected: /410/,
    });
    await late.getByRole('alert').getByText('This link was used before or has expired').waitFor();
    await late.getByLabel('Key').waitFor();
    expect(late.url()).not.toContain('#');
  });
});

describe('somebody who signed in', () => {
  it('sees the projects, and what the key may do', async () => {
    const page = await visit('');
    await page.getByRole('link', { name: project }).waitFor();
    await page.getByRole('cell', { name: 'write' }).waitFor();
  });

  it('stays so when somebody leads them to an address that ends a sign-in', async () => {
    const page = await visit('?error=access_denied&state=made-up');
    await page.getByRole('link', { name: project }).waitFor();
    expect(page.url()).not.toContain('state');
    expect(await page.evaluate(() => sessionStorage.getItem('pennytrace.key'))).toBe(key);
  });

  it('signs out, and the key is gone', async () => {
    const page = await visit(link);
    await page.getByRole('button', { name: 'Signed in as local' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('Key').waitFor();
    expect(await page.evaluate(() => sessionStorage.getItem('pennytrace.key'))).toBeNull();
  });

  it('is asked for another key when theirs stops being accepted, and keeps what they see', async () => {
    const page = await visit(link, { expected: /401/ });
    const row = page.getByRole('link', { name: 'Turn sign-in-1' });
    await row.waitFor();
    // Each look is refused: the page may have given up the first of them itself.
    const refused = '**/calls/stream_query';
    await page.route(refused, (route) => route.fulfill({ status: 401, body: '{}' }));
    await page.getByLabel('Live').check();
    await page.getByRole('dialog', { name: 'Sign in again' }).waitFor();
    await page.unroute(refused);
    await page.getByRole('dialog').getByLabel('Key').fill(key);
    await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await row.isVisible()).toBe(true);
  });
});

describe('below another path', () => {
  let proxy: Server;
  beforeAll(async () => {
    proxy = createServer(async (request, response) => {
      const answer = await fetch(url + (request.url ?? '').replace(/^\/some\/stage/, ''), {
        method: request.method ?? 'GET',
        headers: { ...(request.headers as Record<string, string>), 'accept-encoding': 'gzip' },
        ...(request.method === 'POST' && { body: Readable.toWeb(request) as ReadableStream, duplex: 'half' }),
        redirect: 'manual',
      } as RequestInit);
      // `fetch` has unpacked the body.
      const {
        'content-encoding': _,
        'content-length': _length,
        ...headers
      } = Object.fromEntries(answer.headers);
      response.writeHead(answer.status, headers);
      response.end(Buffer.from(await answer.arrayBuffer()));
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => proxy.close());

  it('works as at the root', async () => {
    const { port } = proxy.address() as AddressInfo;
    const page = await visit('ui', { base: `http://127.0.0.1:${port}/some/stage/` });
    await page.getByRole('link', { name: project }).click();
    await page.getByRole('link', { name: 'Turn sign-in-1' }).press('Enter');
    await page.getByRole('treeitem').first().waitFor();
    await page.reload();
    await page.getByRole('treeitem').first().waitFor();
    expect(new URL(page.url()).pathname).toBe('/some/stage/ui/trace');
  });
});
