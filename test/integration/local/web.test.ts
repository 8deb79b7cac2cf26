import { spawn } from 'node:child_process';
import { utimesSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { patienceMs } from '../../support/run/pace.ts';

const root = resolve(import.meta.dirname, '../../..');

/** Stands for the local service: it answers with what it was asked. */
const service: Server = createServer((req, res) => {
  res.writeHead(200, { 'content-type': 'text/plain' }).end(`${req.method} ${req.url}`);
});

let printed = '';
let url = '';
let ending: () => void = () => {};

const builds = (): number => printed.split('built at').length - 1;

/** When the source was saved last, in seconds since 1970. */
let savedAt = 1_600_000_000;

/**
 * Saves a source again, as it is. By times long ago: esbuild takes a file that was saved within seconds, or by
 * a clock that is ahead, for the same as long as it has the same content.
 */
const save = (): void => {
  savedAt++;
  utimesSync(join(root, 'web/data/values.ts'), savedAt, savedAt);
};

beforeAll(async () => {
  printed = '';
  save();
  await new Promise<void>((done) => service.listen(0, '127.0.0.1', done));
  const { port } = service.address() as AddressInfo;
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [join(root, 'local/web.ts')], {
    env: { PATH, PORT: '0', SERVICE_URL: `http://127.0.0.1:${port}` },
  });
  ending = () => child.kill('SIGKILL');
  child.stdout.on('data', (data) => {
    printed += data;
  });
  await vi.waitFor(
    () => {
      if (!/^open /m.test(printed) || builds() === 0) throw new Error(`it printed only: ${printed}`);
    },
    { timeout: patienceMs, interval: 100 },
  );
  url = /open (http\S+)\/ui\//.exec(printed)?.[1] ?? '';
});
afterAll(() => {
  ending();
  service.close();
});

describe('npm run web', () => {
  it('serves the page from its sources, with the policy of the deployed one', async () => {
    const answer = await fetch(`${url}/ui/traces?project=a%2Fb`, { headers: { accept: 'text/html' } });
    expect(answer.headers.get('content-security-policy')).toContain("script-src 'self'");
    const script = /<script type="module" src="([^"]+)"/.exec(await answer.text())?.[1] ?? '';
    const source = await fetch(`${url}/ui/${script}`);
    expect([source.status, source.headers.get('cache-control')]).toEqual([200, 'no-store']);
  });

  it('passes everything else on to the local service', async () => {
    const answer = await fetch(`${url}/calls/stream_query?a=1`, { method: 'POST', body: '{}' });
    expect(await answer.text()).toBe('POST /calls/stream_query?a=1');
  });

  it('builds anew when a source is saved', async () => {
    const before = builds();
    save();
    await expect.poll(builds).toBeGreaterThan(before);
  });
});
