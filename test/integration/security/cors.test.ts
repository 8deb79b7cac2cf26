import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isForPages } from '../../../api/endpoint.ts';
import { allRoutes } from '../../../api/routes.ts';
import { startIssuer, type TestIssuer } from '../../support/service/issuer.ts';
import {
  type SharedService,
  sharedService,
  startService,
  type TestService,
} from '../../support/service/service.ts';
import { signInSettings } from '../../support/stack/every-setting.ts';
import { basic, bearer } from './credentials.ts';

const friend = 'https://app.example.com';
const evil = 'https://evil.example';
const project = 'acme/pages';

let closed: SharedService;
let open: TestService;
let issuer: TestIssuer;
beforeAll(async () => {
  closed = await sharedService();
  issuer = await startIssuer();
  const corsOrigins = [friend, 'http://localhost:3000'];
  open = await startService({
    settings: { corsOrigins, signIn: signInSettings },
    signIn: issuer.settings,
  });
});
afterAll(async () => {
  await open.stop();
  await issuer[Symbol.asyncDispose]();
});

const preflight = ({ url }: Pick<SharedService, 'url'>, path: string, origin: string): Promise<Response> =>
  fetch(url + path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    },
  });

const post = (
  { url, key }: Pick<SharedService, 'url' | 'key'>,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>>,
): Promise<Response> =>
  fetch(url + path, {
    method: 'POST',
    headers: {
      authorization: basic(key, 'api'),
      'content-type': 'application/json',
      'sec-fetch-site': 'cross-site',
      ...headers,
    },
    body: JSON.stringify(body),
  });

const originIn = ({ headers }: Response): string | null => headers.get('access-control-allow-origin');

/** Every path that API Gateway has without parameters. */
const paths = [...new Set(allRoutes.map(({ path }) => path))].filter((path) => !path.includes('{'));
const forPages = new Set(allRoutes.filter(isForPages).map(({ path }) => path));

describe('a preflight request', () => {
  it('is answered where pages report and read, and nowhere else', async () => {
    for (const path of [
      '/otel/v1/traces',
      '/call/start',
      '/call/upsert_batch',
      '/feedback/create',
      '/calls/stream_query',
    ])
      expect(forPages).toContain(path);
    for (const path of [
      '/mcp',
      '/inference/v1/{path+}',
      '/calls/delete',
      '/feedback/purge',
      '/obj/read',
      '/ui',
      '/health',
    ])
      expect(forPages).not.toContain(path);
    for (const path of paths) {
      const { status } = await preflight(open, path, friend);
      expect([path, status]).toEqual([path, forPages.has(path) ? 204 : 404]);
    }
  });

  it('names the origin that asks, methods and headers, and lets no cookies through', async () => {
    for (const origin of [friend, 'http://localhost:3000']) {
      const { headers } = await preflight(open, '/otel/v1/traces', origin);
      expect(Object.fromEntries(headers)).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-methods': expect.stringContaining('POST'),
        'access-control-allow-headers': expect.stringContaining('authorization'),
        'access-control-max-age': '7200',
        vary: 'origin',
      });
      expect(headers.has('access-control-allow-credentials')).toBe(false);
    }
  });

  it.each([evil, `${friend}.evil.example`, friend.toUpperCase(), 'null', '*'])(
    'of %s is refused',
    async (origin) => {
      const answer = await preflight(open, '/call/start', origin);
      expect([answer.status, originIn(answer)]).toEqual([403, null]);
      expect(await answer.json()).toMatchObject({
        detail: [{ loc: ['header', 'origin'], type: 'forbidden' }],
      });
    },
  );

  it('is not answered without the setting', async () => {
    for (const path of paths)
      expect([path, (await preflight(closed, path, friend)).status]).toEqual([path, 404]);
  });
});

describe('an answer', () => {
  const start = { project_id: project, op_name: 'open', started_at: '2026-10-01T00:00:00Z' };
  const requests = [
    ['/call/start', { start }, 200],
    ['/call/start', { start: {} }, 422],
    ['/calls/stream_query', { project_id: project }, 200],
    ['/otel/v1/traces', { resourceSpans: [] }, 200],
    ['/otel/v1/traces', 'nonsense', 400],
  ] as const;

  it.each(requests)('of %s can be read by pages of the origin alone: %j', async (path, body, status) => {
    const answer = await post(open, path, body, { origin: friend });
    expect([answer.status, originIn(answer)]).toEqual([status, friend]);
    expect(answer.headers.get('access-control-expose-headers')).toContain('x-request-id');
    expect(answer.headers.get('vary')).toMatch(/\borigin$/);
    const others = await post(open, path, body, { origin: evil });
    expect([others.status, originIn(others)]).toEqual([403, null]);
    expect(originIn(await post(closed, path, body, { origin: friend }))).toBeNull();
  });

  it.each(requests)(
    'of %s to the token of a person is the same for pages: %j',
    async (path, body, status) => {
      const token = () => issuer.token({ claims: { email: 'root@example.com' } });
      const headersOf = ({ headers }: Response) =>
        Object.fromEntries(
          [...headers].filter(
            ([name]) => !/^(date|x-request-id|x-amzn-requestid|content-length)$/.test(name),
          ),
        );
      for (const [origin, expected] of [
        [friend, status],
        [evil, 403],
      ] as const) {
        const byToken = await post(open, path, body, { origin, authorization: bearer(token()) });
        const byKey = await post(open, path, body, { origin });
        expect([byToken.status, headersOf(byToken)]).toEqual([expected, headersOf(byKey)]);
        expect(originIn(byToken)).toBe(origin === friend ? friend : null);
      }
    },
  );

  it.each([
    ['that has expired', { exp: 1 }, 401, '*'],
    ['of another issuer', { iss: 'https://evil.example' }, 401, '*'],
    ['of somebody without rights', { email: 'nobody@example.com' }, 403, friend],
  ])('to a token %s can be read by pages', async (_, claims, status, origin) => {
    const headers = { origin: friend, authorization: bearer(issuer.token({ claims })) };
    const answer = await post(open, '/calls/stream_query', { project_id: project }, headers);
    expect([answer.status, originIn(answer)]).toEqual([status, origin]);
    expect(answer.headers.get('access-control-expose-headers')).toContain('x-request-id');
  });

  it('of the gateway itself can be read by pages, with the setting', async () => {
    const headers = { origin: friend, authorization: basic('svc_unknown', 'api') };
    const [own, without] = await Promise.all(
      [open, closed].map((service) => post(service, '/call/start', { start }, headers)),
    );
    expect([own?.status, own && originIn(own)]).toEqual([401, '*']);
    expect([without?.status, without && originIn(without)]).toEqual([401, null]);
  });
});
