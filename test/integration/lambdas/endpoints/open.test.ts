import { once } from 'node:events';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { openAnswerBytes } from '../../../../bin/cost/bill.ts';
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
    return { status: response.statusCode, headers: response.headers, body: await buffer(response) };
  };

  it.each([
    ['gzip', gunzipSync],
    ['zstd', zstdDecompressSync],
  ] as const)('as %s has the same text, in a sixth of the bytes', async (coding, decompress) => {
    const packed = await get(coding);
    expect(packed.headers).toMatchObject({ 'content-encoding': coding, vary: 'accept-encoding' });
    const text = decompress(packed.body);
    expect(JSON.parse(text.toString())).toMatchObject({ paths: document.paths });
    expect(packed.body.length).toBeLessThan(text.length / 6);
    expect(packed.body.length).toBeLessThan(openAnswerBytes.compressed - 1000);
  });

  it.each(['identity', '', 'br'])(
    'is refused shortly to a client that accepts only "%s"',
    async (accepted) => {
      const { status, headers, body } = await get(accepted);
      expect([status, headers.vary, headers['cache-control']]).toEqual([406, 'accept-encoding', 'no-store']);
      expect(JSON.parse(body.toString())).toMatchObject({
        detail: [{ loc: ['header', 'accept-encoding'], type: 'not_acceptable' }],
      });
      expect(body.length).toBeLessThan(1000);
    },
  );
});

describe('a route without credentials', () => {
  it.each(['/health', '/openapi.json'])('%s has no other method', async (path) => {
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const answer = await fetch(service.url + path, { method, body: '{}' });
      expect([answer.status, await answer.json()]).toMatchObject([404, { detail: [{ type: 'not_found' }] }]);
    }
  });
});
