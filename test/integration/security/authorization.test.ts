import { request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isByLink, isKeyed, isPage, type KeyedRoute, type Route, takesKey } from '../../../api/endpoint.ts';
import { routes } from '../../../api/routes.ts';
import { formatKey, makeKey, type Role } from '../../../foundations/auth/index.ts';
import { doorRoutes, getFixture, requestTo } from '../../support/endpoints/index.ts';
import { nothing } from '../../support/endpoints/tenants.ts';
import { inTurns } from '../../support/run/sampling.ts';
import { type Sent, toBytes } from '../../support/service/in-process.ts';
import { startIssuer, type TestIssuer } from '../../support/service/issuer.ts';
import { startService, type TestService } from '../../support/service/service.ts';
import { signInSettings } from '../../support/stack/every-setting.ts';
import { basic, bearer, type Headers, type KeyMaker, keyMaker } from './credentials.ts';

/**
 * Makes the `Authorization` headers of a request to a route, given how the route wants a key to be
 * sent.
 */
type Credentials = (keys: KeyMaker, send: (key: string) => string) => Promise<Headers> | Headers;

const granted =
  (grants: string): Credentials =>
  async (keys, send) => [send(await keys.granted(grants))];

/** A token of a person, whom or whose group the grants are given: always as Bearer. */
const tokenOf =
  (grants: string, of: 'person' | 'group' = 'person'): Credentials =>
  async (keys) => [bearer(issuer.token({ claims: await keys.member(grants, of) }))];

const all = '*:write *:inference';
const good = (keys: KeyMaker) => keys.granted(all);

/** What the requests come with, by the names in the matrix. */
const credentials: Readonly<Record<string, Credentials>> = {
  'no header': () => [],
  'an empty header': () => [''],
  'a scheme alone': (_, send) => [send('').split(' ', 1)[0] ?? ''],
  'no key in it': (_, send) => [send('')],
  'what is not base64': () => ['Basic ???'],
  'no colon': () => [`Basic ${btoa('bob')}`],
  'another scheme': async (keys) => [`Digest ${await good(keys)}`],
  'a key without a scheme': async (keys) => [await good(keys)],
  'a key as Bearer': async (keys) => [bearer(await good(keys))],
  'a key as Basic': async (keys) => [basic(await good(keys))],
  'a key as user name': async (keys) => [basic('', await good(keys))],
  "another user's name": async (keys) => [basic(await good(keys), 'eve')],
  'two good headers': async (keys, send) => [send(await good(keys)), send(await good(keys))],
  'an unknown key': (_, send) => [send(formatKey(makeKey()))],
  'an unknown secret': async (keys, send) => [send(await keys.withOtherSecret())],
  "another service's key": (_, send) => [send(formatKey(makeKey()).replace('svc_', 'weft_'))],
  'a revoked key': async (keys, send) => [send(await keys.revoked())],
  'an expired key': async (keys, send) => [send(await keys.expired())],
  'read here': granted('acme/shop:read'),
  'report here': granted('acme/shop:report'),
  'write here': granted('acme/shop:write'),
  'inference here': granted('acme/shop:inference'),
  'all here': granted('acme/shop:write acme/shop:inference'),
  'admin here': granted('acme/shop:admin'),
  'all on another project': granted('acme/other:write acme/other:inference'),
  'all on a prefix of it': granted('acme/sho:write acme/sho:inference'),
  'all on what it begins': granted('acme/shop.:write acme/shop-1:inference'),
  "all on another's shop": granted('umbrella/shop:write umbrella/shop:inference'),
  'all on another entity': granted('acm/*:write acmes/*:write umbrella/*:inference'),
  'all on its entity': granted('acme/*:write acme/*:inference'),
  'read on its entity': granted('acme/*:read'),
  'report on its entity': granted('acme/*:report'),
  'report on another one': granted('acme/other:report'),
  'admin on another project': granted('acme/other:admin'),
  'all on everything': granted(all),
  'read on everything': granted('*:read'),
  'report on everything': granted('*:report'),
  'write on everything': granted('*:write'),
  'inference on everything': granted('*:inference'),
  "nobody's token": () => [bearer(issuer.token({ claims: { email: 'nobody@example.com' } }))],
  "an admin's token": () => [bearer(issuer.token({ claims: { email: 'root@example.com' } }))],
  "an admin's expired token": () => [bearer(issuer.token({ claims: { email: 'root@example.com', exp: 1 } }))],
  'a token as Basic': () => [basic(issuer.token({ claims: { email: 'root@example.com' } }))],
  'a token, read here': tokenOf('acme/shop:read'),
  'a token, report here': tokenOf('acme/shop:report'),
  'a token, write here': tokenOf('acme/shop:write'),
  'a token, inference here': tokenOf('acme/shop:inference'),
  'a token, admin here': tokenOf('acme/shop:admin'),
  'a token, all by a group': tokenOf('acme/*:write acme/*:inference', 'group'),
  'a token, admin elsewhere': tokenOf('acme/other:admin umbrella/*:admin'),
};

/** The columns of the matrix: what a route asks of a key. */
const columns = [
  'read',
  'report',
  'write',
  'admin',
  'spans',
  'logs',
  'agents',
  'inference',
  'chats',
] as const;

/** The columns of routes that take a key as Basic or as Bearer. */
const byEither = { read: 'agents', report: 'spans', write: 'logs' } as const;

const getColumn = ({ scheme, role }: KeyedRoute): (typeof columns)[number] => {
  if (scheme === 'basic') return role === 'inference' ? 'chats' : role;
  if (scheme === 'bearer') return 'inference';
  if (role === 'inference' || role === 'admin')
    throw new Error(`no column has routes of ${role} by either scheme`);
  return byEither[role];
};

/**
 * Who may. 200 is the request's own answer; 403+ is that the key may use inference, and not record.
 */
const matrix = `
                            read  report  write  admin  spans  logs  agents  inference  chats

  no header                 401   401     401    401    401    401   401     401        401
  an empty header           401   401     401    401    401    401   401     401        401
  a scheme alone            401   401     401    401    401    401   401     401        401
  no key in it              401   401     401    401    401    401   401     401        401
  what is not base64        401   401     401    401    401    401   401     401        401
  no colon                  401   401     401    401    401    401   401     401        401
  another scheme            401   401     401    401    401    401   401     401        401
  a key without a scheme    401   401     401    401    401    401   401     401        401
  a key as Bearer           401   401     401    401    200    200   200     200        401
  a key as Basic            200   200     200    403    200    200   200     401        200
  a key as user name        401   401     401    401    401    401   401     401        401
  another user's name       401   401     401    401    401    401   401     401        401
  two good headers          401   401     401    401    401    401   401     401        401
  an unknown key            401   401     401    401    401    401   401     401        401
  an unknown secret         401   401     401    401    401    401   401     401        401
  another service's key     401   401     401    401    401    401   401     401        401
  a revoked key             401   401     401    401    401    401   401     401        401
  an expired key            401   401     401    401    401    401   401     401        401

  read here                 200   403     403    403    403    403   200     403        403
  report here               403   200     403    403    200    403   403     403        403
  write here                200   200     200    403    200    200   200     403        403
  inference here            403   403     403    403    403    403   403     403+       403+
  all here                  200   200     200    403    200    200   200     200        200
  admin here                200   200     200    200    200    200   200     200        200
  all on another project    403   403     403    403    403    403   403     403        403
  all on a prefix of it     403   403     403    403    403    403   403     403        403
  all on what it begins     403   403     403    403    403    403   403     403        403
  all on another's shop     403   403     403    403    403    403   403     403        403
  all on another entity     403   403     403    403    403    403   403     403        403
  all on its entity         200   200     200    403    200    200   200     200        200
  read on its entity        200   403     403    403    403    403   200     403        403
  report on its entity      403   200     403    403    200    403   403     403        403
  report on another one     403   403     403    403    403    403   403     403        403
  admin on another project  403   403     403    403    403    403   403     403        403
  all on everything         200   200     200    403    200    200   200     200        200
  read on everything        200   403     403    403    403    403   200     403        403
  report on everything      403   200     403    403    200    403   403     403        403
  write on everything       200   200     200    403    200    200   200     403        403
  inference on everything   403   403     403    403    403    403   403     403+       403+

  nobody's token            403   403     403    403    403    403   403     403        403
  an admin's token          200   200     200    200    200    200   200     200        200
  an admin's expired token  401   401     401    401    401    401   401     401        401
  a token as Basic          401   401     401    401    401    401   401     401        401
  a token, read here        200   403     403    403    403    403   200     403        403
  a token, report here      403   200     403    403    200    403   403     403        403
  a token, write here       200   200     200    403    200    200   200     403        403
  a token, inference here   403   403     403    403    403    403   403     403+       403+
  a token, admin here       200   200     200    200    200    200   200     200        200
  a token, all by a group   200   200     200    403    200    200   200     200        200
  a token, admin elsewhere  403   403     403    403    403    403   403     403        403
`;

/** The rows of the matrix: the name of the credentials, and what comes of them in each column. */
const rows = [
  ...matrix.matchAll(/^ {2}(\S.*?) {2,}(\S+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+)$/gm),
].map(([, name = '', ...cells]) => ({
  name,
  outcomes: Object.fromEntries(columns.map((column, i) => [column, cells[i] ?? ''])),
}));

const project = 'acme/shop';

let issuer: TestIssuer;
let service: TestService;
let keys: KeyMaker;
beforeAll(async () => {
  issuer = await startIssuer({ admins: ['root@example.com'] });
  service = await startService({ settings: { signIn: signInSettings }, signIn: issuer.settings });
  keys = keyMaker(service);
});
afterAll(async () => {
  keys?.[Symbol.dispose]();
  await service?.stop();
  await issuer?.[Symbol.asyncDispose]();
});

/** What is seen of an answer. */
interface Seen {
  readonly status: number;
  readonly body: string;
  readonly challenge: string | undefined;
  readonly hasRequestId: boolean;
  /** `nosniff`, which has browsers take an answer for what it says that it is. */
  readonly contentTypeOptions: string | undefined;
}

/**
 * Sends a route's good request, with these headers beside it; through node:http, which sends a
 * header as often as it is told.
 */
const send = async (route: Route, authorization: Headers): Promise<Seen> => {
  const { url } = service;
  // What anybody may ask for and is long goes out compressed alone.
  const request: Pick<Sent, 'path' | 'headers' | 'body'> = isKeyed(route)
    ? requestTo(route, getFixture(route.path), project, nothing)
    : {
        body: {},
        ...(isByLink(route) && requestTo(route, getFixture(route.path), project, nothing)),
        path: route.path,
        headers: { 'accept-encoding': 'gzip' },
      };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const fields = [
    ...Object.entries({
      host: new URL(url).host,
      'content-type': 'application/json',
      ...request.headers,
    }),
    ...authorization.map((value) => ['authorization', value]),
  ].flat();
  httpRequest(url + request.path, { method: route.method, headers: fields }, resolve)
    .once('error', reject)
    .end(route.method === 'GET' ? undefined : toBytes({ ...request, method: 'PUT' }));
  const answer = await promise;
  return {
    status: answer.statusCode ?? 0,
    body: (await text(answer))
      .trimEnd()
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
      // Keys are bob's, and each token is somebody else's.
      .replace(/\b(?:member-\d+|root)@example\.com\b/g, 'bob'),
    challenge: answer.headers['www-authenticate']?.replaceAll(url, '<url>'),
    hasRequestId: /^[\da-f-]{36}$/.test(String(answer.headers['x-request-id'])),
    contentTypeOptions: String(answer.headers['x-content-type-options']),
  };
};

/** Sends a request again while there are too many of them: links have a throttle of their own. */
const sendPatiently: typeof send = async (route, authorization) => {
  const seen = await send(route, authorization);
  if (seen.status !== 429) return seen;
  await sleep(500);
  return sendPatiently(route, authorization);
};

/** What every answer has. */
const ofAll = { hasRequestId: true, contentTypeOptions: 'nosniff' };

const error = (status: number, loc: readonly string[], msg: string, type: string): Seen => ({
  status,
  body: JSON.stringify({ detail: [{ loc, msg, type }] }),
  challenge: undefined,
  ...ofAll,
});

/** An error that OpenAI's clients can read too. */
const errorForAll = (
  status: number,
  loc: readonly string[],
  msg: string,
  code: string,
  type: string,
): Seen => ({
  ...error(status, [], '', ''),
  body: JSON.stringify({ detail: [{ loc, msg, type: code }], error: { message: msg, type, code } }),
});

const ofPassThrough = (loc: readonly string[], msg: string): Seen =>
  errorForAll(403, loc, msg, 'forbidden', 'permission_error');

/** The gateway's own answer, whatever the route. */
const unauthorized: Seen = {
  ...errorForAll(
    401,
    ['header', 'authorization'],
    'a valid key is required (HTTP Basic with the key as the password, or Bearer on the inference endpoint), or the token of a person, as Bearer: GET /sign-in says where people sign in',
    'unauthorized',
    'authentication_error',
  ),
  challenge:
    'Bearer realm="svc", resource_metadata="<url>/.well-known/oauth-protected-resource/mcp", ' +
    'Basic realm="svc", charset="UTF-8"',
};

const doing: Readonly<Partial<Record<Role, string>>> = {
  report: 'report to',
  inference: 'use inference in',
  admin: 'administer',
};

/** What a key may not do with the project of a route's request. */
const getRefusal = ({ path, role }: KeyedRoute): string =>
  getFixture(path).refusal ?? `this key may not ${doing[role] ?? role} the project ${project}`;

/** What a route answers, by its cell of the matrix. */
const expected = (route: KeyedRoute, outcome: string): Seen => {
  const { status = 200, answer, projectAt = ['body', 'project_id'] } = getFixture(route.path);
  if (outcome === '200')
    return { status, body: answer ?? expect.any(String), challenge: undefined, ...ofAll };
  if (outcome === '403+') {
    const cannotRecord = `this key may not write, so not record in, the project ${project}`;
    return route.form === 'upstream'
      ? ofPassThrough(projectAt, cannotRecord)
      : error(403, projectAt, `${cannotRecord}: send track_llm_call: false`, 'forbidden');
  }
  if (outcome !== '403') return unauthorized;
  const refusal = getRefusal(route);
  if (getFixture(route.path).refusedInside)
    return { status: 200, body: expect.stringContaining(refusal), challenge: undefined, ...ofAll };
  // OTLP has errors of a shape of its own; 7 is PERMISSION_DENIED.
  return route.form === 'otlp'
    ? { ...error(403, [], '', ''), body: JSON.stringify({ code: 7, message: refusal }) }
    : route.tag === 'inference'
      ? ofPassThrough(projectAt, refusal)
      : error(403, projectAt, refusal, 'forbidden');
};

it('every row of the matrix has credentials, and all credentials have a row', () => {
  expect(rows.map(({ name }) => name)).toEqual(Object.keys(credentials));
});

const requested = [...routes.filter(isKeyed), ...doorRoutes];

/** Those whose requests name no project: a key with the role on any may ask. The keys that may, by their names. */
const ofAnyProject: Readonly<Record<string, RegExp>> = {
  '/projects/query': /^(a token, )?(all|admin) /,
  '/keys/revoke': /^(a token, )?admin /,
  '/inference/v1/models': /^(a token, )?(all|admin|inference) /,
  '/inference/v1/models/{id+}': /^(a token, )?(all|admin|inference) /,
};

const isOfProjects = ({ path }: Route): boolean => Object.hasOwn(ofAnyProject, path);

/**
 * The rows that a route is tried with. What it answers depends on its column alone, so routes of a
 * column take turns: together they have all rows, several times.
 */
const getRows = (route: KeyedRoute): typeof rows => {
  const column = requested.filter((other) => getColumn(other) === getColumn(route) && !isOfProjects(other));
  // Those of a door leave more out.
  const isAlone = column.filter((other) => !doorRoutes.includes(other)).length < 3 || isOfProjects(route);
  return isAlone ? rows : inTurns(rows, column.indexOf(route), doorRoutes.includes(route) ? 4 : 3);
};

describe.each(requested)('$method $path', (route) => {
  it.each(getRows(route))('with $name', async ({ name, outcomes }) => {
    const headers = await credentials[name]?.(keys, route.scheme === 'bearer' ? bearer : basic);
    const outcome = outcomes[getColumn(route)] ?? '';
    const mayAsk = ofAnyProject[route.path]?.test(name);
    expect(await send(route, headers ?? [])).toEqual(expected(route, mayAsk ? '200' : outcome));
  });
});

it('each cell of the matrix is tried', () => {
  for (const column of columns) {
    const tried = requested.filter((route) => getColumn(route) === column).flatMap(getRows);
    expect(new Set(tried)).toEqual(new Set(rows));
  }
});

describe.each(routes.filter((route) => !takesKey(route) && !isPage(route)))(
  '$path, which takes no key,',
  (route) => {
    it('answers everybody the same, with any credentials', async () => {
      const answers = await Promise.all(
        Object.values(credentials).map(async (make) => sendPatiently(route, await make(keys, basic))),
      );
      const [first] = answers;
      const status = isByLink(route) ? getFixture(route.path).status : 200;
      expect(first).toMatchObject({ status, challenge: undefined, ...ofAll });
      for (const answer of answers) expect(answer).toEqual(first);
    });
  },
);
