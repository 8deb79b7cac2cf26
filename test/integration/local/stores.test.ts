import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from 'aws-stand-in';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { externalStore, startAmazons } from '../../../local/stores.ts';
import { startService } from '../../support/service/service.ts';

const never = new AbortController().signal;

/** Some server that is no store, and one that takes connections and says nothing. */
let server: Server;
let silent: Server;
const toEndpoint = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
beforeAll(async () => {
  server = createServer((_, response) => response.writeHead(418).end('<html>no store</html>')).listen(
    0,
    '127.0.0.1',
  );
  silent = createServer(() => {}).listen(0, '127.0.0.1');
  await Promise.all([once(server, 'listening'), once(silent, 'listening')]);
});
afterAll(() => {
  for (const one of [server, silent]) {
    one.close();
    one.closeAllConnections();
  }
});

describe('an external store', () => {
  it('is used if something answers, whatever the answer', async () => {
    const { endpoint } = await externalStore('AWS_ENDPOINT_URL_S3', toEndpoint(server), never);
    expect(endpoint).toBe(toEndpoint(server));
  });

  it('is refused by the name of its variable if nothing answers', async () => {
    const endpoint = `http://127.0.0.1:${await freePort()}`;
    await expect(externalStore('AWS_ENDPOINT_URL_DYNAMODB', endpoint, never)).rejects.toThrow(
      `AWS_ENDPOINT_URL_DYNAMODB is ${endpoint}, where nothing answers (ECONNREFUSED): start it, or leave`,
    );
  });

  it('is awaited until the start is cancelled', async () => {
    const ending = new AbortController();
    const waiting = externalStore('AWS_ENDPOINT_URL_S3', toEndpoint(silent), ending.signal);
    const reason = new Error('given up');
    setTimeout(() => ending.abort(reason), 50);
    await expect(waiting).rejects.toBe(reason);
  });
});

it.each([
  ['dynamodb', 'AWS_ENDPOINT_URL_DYNAMODB'],
  ['s3', 'AWS_ENDPOINT_URL_S3'],
])('A server that is not a store is refused by the name of its variable: %s', async (option, variable) => {
  const endpoint = toEndpoint(server);
  await expect(startService({ [option]: endpoint })).rejects.toThrow(
    new RegExp(`^${variable} is ${endpoint}, which failed \\(.*\\): check the address$`),
  );
});

describe('DynamoDB Local', () => {
  it('names the setting that does without it where there is no Java', async () => {
    vi.stubEnv('PATH', '');
    await expect(startAmazons(undefined, never)).rejects.toThrow(
      /no java on the PATH.*brew install openjdk@17, or leave DYNAMODB_LOCAL out to use the embedded store$/,
    );
  });

  it('refuses a folder of the embedded store with what to do', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pennytrace-store-'));
    writeFileSync(join(folder, 'store.sqlite'), '');
    await expect(startAmazons(folder, never)).rejects.toThrow(/leave DYNAMODB_LOCAL out to go on with it/);
    rmSync(folder, { recursive: true });
  });
});
