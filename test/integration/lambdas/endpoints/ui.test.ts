import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { brotli, buildPage } from '../../../../lib/page.ts';
import { type Wakeable, wakingBody } from '../../../../web/api/wake.ts';
import { get, type HttpAnswer } from '../../../support/service/http-get.ts';
import { findLine } from '../../../support/service/log-lines.ts';
import { type SharedService, sharedService } from '../../../support/service/service.ts';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

const ask = (path: string, headers: Record<string, string> = {}): Promise<HttpAnswer> =>
  get(service.url + path, headers);

const page = await buildPage(join(import.meta.dirname, '../../../..'));
const script = page.first[0] ?? '';

describe('the page', () => {
  it('is one document under every view, revalidated each time', async () => {
    const [one, other] = await Promise.all([ask('/ui/'), ask('/ui/traces?project=a%2Fb')]);
    expect(one).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
    expect(one.headers['cache-control']).toBe('no-cache');
    expect(other.body).toEqual(one.body);
    const again = await ask('/ui/', { 'if-none-match': `W/${one.headers.etag}` });
    expect([again.status, again.body.length]).toEqual([304, 0]);
  });

  it('allows scripts and styles of its own files alone, and no frame around it', async () => {
    const { headers } = await ask('/ui/');
    const policy = headers['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
  });

  it('has files whose names change with them, so browsers keep them for good', async () => {
    const { status, headers } = await ask(`/ui/${script}`, { 'accept-encoding': 'br' });
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(script).toMatch(/^assets\/\w+-[A-Z0-9]{8}\.js$/);
  });

  it('is compressed as the client takes it, the same bytes in every coding', async () => {
    const br = await ask(`/ui/${script}`, { 'accept-encoding': 'gzip, deflate, br, zstd' });
    const gzip = await ask(`/ui/${script}`, { 'accept-encoding': 'br;q=0, gzip' });
    expect([br, gzip].map(({ headers }) => headers['content-encoding'])).toEqual(['br', 'gzip']);
    expect(brotliDecompressSync(br.body).equals(gunzipSync(gzip.body))).toBe(true);
  });

  it('is sent uncompressed only where it is short', async () => {
    const short = await ask('/ui/', { 'accept-encoding': 'identity' });
    expect([short.status, short.headers['content-encoding']]).toEqual([200, undefined]);
    const [longest = ''] =
      [...page.files].toSorted(([, one], [, other]) => other.length - one.length)[0] ?? [];
    const { status, headers, body } = await ask(`/ui/${longest}`);
    expect([status, headers.vary]).toEqual([406, 'accept-encoding']);
    expect(JSON.parse(body.toString())).toMatchObject({
      detail: [{ loc: ['header', 'accept-encoding'], type: 'not_acceptable' }],
    });
    expect(body.length).toBeLessThan(1000);
  });

  it('is the same with any credentials, and holds nothing of anybody', async () => {
    const plain = await ask('/ui/');
    for (const authorization of ['Basic bm9ib2R5', `Bearer ${service.key}`, 'nonsense'])
      expect((await ask('/ui/', { authorization })).body).toEqual(plain.body);
  });

  it.each(['/ui', '/'])('is where %s leads a browser, whatever path is before it', async (path) => {
    const { status, headers } = await ask(path, { accept: 'text/html,*/*;q=0.8' });
    expect([status, headers.location]).toEqual([302, 'ui/']);
  });

  it.each([
    ['/', {}],
    ['/ui/assets/main-OLD00000.js', {}],
    ['/ui/assets/..%2f..%2findex.cjs', {}],
    ['/ui/files.json', {}],
    ['/ui/index.html.br', {}],
    ['/ui/a/b', { accept: 'text/html' }],
  ])('%s is no part of it: a 404 in the shape of all errors', async (path, headers) => {
    const answer = await ask(path, headers);
    expect([answer.status, JSON.parse(answer.body.toString())]).toMatchObject([
      404,
      { detail: [{ type: 'not_found', loc: ['path'] }] },
    ]);
    expect(answer.headers['x-request-id']).toBeDefined();
  });
});

describe('the requests that wake functions', () => {
  const paths = [
    '/calls/stream_query',
    '/threads/stream_query',
    '/calls/usage',
    '/calls/stats',
    '/call/read',
  ] as const satisfies readonly Wakeable[];

  it.each(paths)('%s: is answered, and finds nothing to do', async (path) => {
    const answer = await service.post(path, wakingBody(path, 'acme/asleep'));
    expect(answer.status).toBe(200);
    await answer.text();
    const { readUnits = 0, writeUnits = 0 } = await findLine(service, answer);
    // A call has two items. Half a unit is counted for each that is not there; none by DynamoDB Local.
    expect(readUnits).toBeLessThanOrEqual(path === '/call/read' ? 1 : 0);
    expect(writeUnits).toBe(0);
  });
});

describe('the weight of the page', () => {
  const text = (name: string): string => Buffer.from(page.files.get(name) ?? '').toString();

  it('is at most 175 KB for the first view, compressed, in six files', () => {
    // Everything until the first row of somebody who signed in: the document names all of it.
    const named = [...text('index.html').matchAll(/(?:href|src)="(assets\/[^"]+)"/g)].map(
      ([, name = '']) => name,
    );
    const first = new Set(['index.html', ...named]);
    expect([...first]).toEqual(expect.arrayContaining([...page.first]));
    const bytes = [...first].map((name) => brotli(page.files.get(name) ?? Buffer.of()).length);
    expect(Math.min(...bytes)).toBeGreaterThan(0);
    expect(bytes.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(175_000);
    expect(first.size).toBeLessThanOrEqual(6);
  });

  it('has the list of traces in what is loaded first, and other views in files of their own', () => {
    const scripts = page.first
      .filter((name) => name.endsWith('.js'))
      .map(text)
      .join('');
    expect(scripts).toContain('Search in all calls');
    expect(scripts).not.toContain('Search messages or ids');
  });

  it('has a font with its licence, which has the letters of Western languages and tabular figures', () => {
    const [font = ''] = [...page.files.keys()].filter((name) => name.endsWith('.woff2'));
    expect(page.files.get(font)?.length).toBeLessThan(50_000);
    expect(text('assets/inter-license.txt')).toContain('SIL OPEN FONT LICENSE');
  });

  it('is the same whoever builds it', async () => {
    const names = (built: typeof page) => [...built.files.keys()].sort();
    expect(names(await buildPage(join(import.meta.dirname, '../../../..')))).toEqual(names(page));
    expect(readFileSync(join(import.meta.dirname, '../../../../web/index.html'), 'utf8')).toContain(
      '<base href="./">',
    );
  });
});
