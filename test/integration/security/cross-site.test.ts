import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isKeyed, type Route, takesKey } from '../../../api/endpoint.ts';
import { routes } from '../../../api/routes.ts';
import { doorRoutes, getFixture, requestTo } from '../../support/endpoints/index.ts';
import { nothing } from '../../support/endpoints/tenants.ts';
import { type Sent, toBytes } from '../../support/service/in-process.ts';
import {
  type SharedService,
  sharedService,
  startService,
  type TestService,
} from '../../support/service/service.ts';
import { basic, bearer } from './credentials.ts';

type Headers = Readonly<Record<string, string>>;

const project = 'acme/sites';
const evil = 'https://evil.example';
/** An origin that the setting allows, at one of the services. */
const friend = 'https://app.example.com';

let service: SharedService;
let open: TestService;
beforeAll(async () => {
  service = await sharedService();
  open = await startService({ settings: { corsOrigins: [friend] } });
});
afterAll(() => open.stop());

/** Sends a route's good request with these headers beside it. */
const send = async (route: Route, { url }: SharedService, headers: Headers): Promise<Response> => {
  const request: Pick<Sent, 'path' | 'headers' | 'body'> = isKeyed(route)
    ? requestTo(route, getFixture(route.path), project, nothing)
    : { path: route.path, body: {} };
  return fetch(url + request.path, {
    method: route.method,
    headers: { 'content-type': 'application/json', ...request.headers, ...headers },
    body: route.method === 'GET' ? null : new Uint8Array(toBytes({ ...request, method: 'PUT' })),
  });
};

const withBasic = ({ key }: SharedService, headers: Headers = {}): Headers => ({
  authorization: basic(key, 'api'),
  ...headers,
});

/** What browsers send with requests of other sites' pages: today's, and ones from before 2023. */
const foreign = (own: string): readonly Headers[] => [
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site', origin: own.replace(/:\d+$/, ':1') },
  { 'Sec-Fetch-Site': 'cross-site', Origin: evil },
  { 'sec-fetch-site': 'cross-site', origin: own },
  { 'sec-fetch-site': 'none', origin: evil },
  { 'sec-fetch-site': 'whatever' },
  { origin: evil },
  { origin: 'null' },
  { origin: own.replace('http:', 'https:') },
  { origin: `${own}.evil.example` },
];

/** What they send with those of the service's own page, and what others send. */
const own = (origin: string): readonly Headers[] => [
  { 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-site': 'same-origin', origin },
  { 'sec-fetch-site': 'none' },
  { origin },
  // Behind a proxy that puts another host in the place of its own.
  { 'sec-fetch-site': 'same-origin', origin: 'https://tracing.example.com' },
];

const taking = [...routes, ...doorRoutes].filter((route) => takesKey(route) && route.scheme !== 'bearer');

describe.each(taking)('$method $path', (route) => {
  it('refuses what a page of another site sends with Basic, and takes what its own page does', async () => {
    for (const headers of foreign(new URL(service.url).origin)) {
      const answer = await send(route, service, withBasic(service, headers));
      expect([headers, answer.status]).toEqual([headers, 403]);
      expect(await answer.text()).toContain('corsOrigins');
    }
    const { status } = await send(route, service, withBasic(service));
    if (isKeyed(route)) expect(status).toBe(getFixture(route.path).status ?? 200);
    expect(status).not.toBe(403);
    for (const headers of own(new URL(service.url).origin)) {
      const answer = await send(route, service, withBasic(service, headers));
      expect([headers, answer.status]).toEqual([headers, status]);
    }
  });
});

describe('a refusal', () => {
  const [start] = taking;
  if (!start) throw new Error('no route takes Basic');

  it('names the header that it is for', async () => {
    for (const [headers, header] of [
      [{ 'sec-fetch-site': 'cross-site' }, 'sec-fetch-site'],
      [{ 'sec-fetch-site': 'cross-site', origin: evil }, 'origin'],
    ] as const) {
      const answer = await send(start, service, withBasic(service, headers));
      expect(await answer.json()).toMatchObject({ detail: [{ loc: ['header', header], type: 'forbidden' }] });
    }
  });

  it('is not for a key as Bearer, which no browser sends by itself', async () => {
    const spans = taking.find(({ path }) => path === '/otel/v1/traces');
    if (!spans) throw new Error('there is no such route');
    const headers = { authorization: bearer(service.key), 'sec-fetch-site': 'cross-site', origin: evil };
    expect((await send(spans, service, headers)).status).toBe(200);
  });

  it('is not for the origins of the setting, and for all others', async () => {
    for (const [origin, status] of [
      [friend, 200],
      [evil, 403],
      [`${friend}.evil.example`, 403],
      [friend.toUpperCase(), 403],
      ['', 403],
      ['null', 403],
    ] as const) {
      const headers = withBasic(open, { 'sec-fetch-site': 'cross-site', origin });
      for (const route of [start, ...taking.filter(({ path }) => path === '/mcp')])
        expect([origin, (await send(route, open, headers)).status]).toEqual([origin, status]);
    }
  });
});
