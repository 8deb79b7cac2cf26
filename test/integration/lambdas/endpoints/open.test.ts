import { once } from 'node:events';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import about from '../../../../package.json' with { type: 'json' };
import { document } from '../../../support/documents/document.ts';
import { type SharedService, sharedService } from '../../../support/service/service.ts';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

describe('GET /health', () => {
  it('tells everybody that the service is up and its version, and nothing else', async () => {
    const answer = await fetch(`${service.url}/health`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.json()).toEqual({ status: 'up', version: about.version });
  });

  it('is answered to HEAD without the body', async () => {
    const answer = await fetch(`${service.url}/health`, { method: 'HEAD' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.text()).toBe('');
  });

  it('carries the id of its request', async () => {
    const ids = await Promise.all(
      [1, 2].map(async () => (await fetch(`${service.url}/health`)).headers.get('x-request-id')),
    );
    expect(new Set(ids).size).toBe(2);
  });
});

describe('GET /openapi.json', () => {
  it('gives everybody the document of this service, cacheable for a while', async () => {
    const answer = await fetch(`${service.url}/openapi.json`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
    expect(await answer.json()).toEqual({ ...document, info: { ...document.info, version: about.version } });
  });
});

describe('GET /openapi.json, compressed', () => {
  /** The bytes as they are sent: fetch would unpack them. */
  const get = async (encoding: string) => {
    const request = httpGet(`${service.url}/openapi.json`, { headers: { 'accept-encoding': encoding } });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return { headers: response.headers, body: await buffer(response) };
  };

  it.each([
    ['gzip', gunzipSync],
    ['zstd', zstdDecompressSync],
  ] as const)('as %s has the same text, in a sixth of the bytes', async (coding, decompress) => {
    const [plain, packed] = await Promise.all([get('identity'), get(coding)]);
    expect(plain.headers).not.toHaveProperty('content-encoding');
    expect(packed.headers).toMatchObject({ 'content-encoding': coding, vary: 'accept-encoding' });
    expect(decompress(packed.body).equals(plain.body)).toBe(true);
    expect(packed.body.length).toBeLessThan(plain.body.length / 6);
  });
});

describe('a route without credentials', () => {
  it.each(['/health', '/openapi.json'])('%s has no other method', async (path) => {
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const answer = await fetch(service.url + path, { method, body: '{}' });
      expect([answer.status, await answer.json()]).toMatchObject([404, { detail: [{ type: 'not_found' }] }]);
    }
  });
});
