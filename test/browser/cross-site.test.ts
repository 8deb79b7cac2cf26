import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { useBrowser } from './support/visit.ts';

const { url, key } = inject('page');
const visit = useBrowser();
const project = 'page/cross-site';

/** A page of somebody else, on another origin. */
let other: Server;
let otherUrl: string;
beforeAll(async () => {
  other = createServer((_req, res) => res.setHeader('content-type', 'text/html').end('<title>Other</title>'));
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  otherUrl = `http://localhost:${typeof address === 'object' && address ? address.port : 0}`;
});
afterAll(() => other.close());

/** Sends the start of a call without a preflight, as any page may: a body without a type. */
const attack = ({ to, id, projectId }: { to: string; id: string; projectId: string }): Promise<string> => {
  const start = { project_id: projectId, id, op_name: 'forged', started_at: '2026-10-01T00:00:00Z' };
  return fetch(`${to}/call/start`, {
    method: 'POST',
    mode: 'no-cors',
    credentials: 'include',
    body: new Blob([JSON.stringify({ start })]),
  }).then(({ type }) => type);
};

it('a page of another site writes nothing with the key that the browser keeps', async () => {
  const page = await visit('', { base: otherUrl, signedIn: false, expected: /403|favicon/ });
  // The browser asks for the key itself, as somebody who opens an endpoint in a tab is asked.
  await page.context().setHTTPCredentials({ username: 'api', password: key });
  const me = await page.goto(`${url}/me`);
  expect(me?.status()).toBe(200);

  await page.goto(otherUrl);
  const statuses: number[] = [];
  page.on('response', (response) => {
    if (response.url().endsWith('/call/start')) statuses.push(response.status());
  });
  expect(await page.evaluate(attack, { to: url, id: 'forged', projectId: project })).toBe('opaque');
  await expect.poll(() => statuses).toEqual([403]);

  // The service's own origin goes on, with the same key of the browser's.
  await page.goto(`${url}/me`);
  await page.evaluate(attack, { to: url, id: 'own', projectId: project });
  const stored = await fetch(`${url}/calls/stream_query`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`api:${key}`)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ project_id: project }),
  });
  const ids = (await stored.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).id);
  expect(ids).toEqual(['own']);
  await page.context().setHTTPCredentials(null);
});
