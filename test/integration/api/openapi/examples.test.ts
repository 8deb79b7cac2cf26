import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isByLink, takesKey } from '../../../../api/endpoint.ts';
import type { JsonSchema } from '../../../../api/openapi/index.ts';
import { everyHeader } from '../../../../api/openapi/responses.ts';
import {
  answerSchema,
  errorProblems,
  operationAt,
  operations,
  validator,
} from '../../../support/documents/document.ts';
import { startIssuer, type TestIssuer } from '../../../support/service/issuer.ts';
import { startService, type TestService } from '../../../support/service/service.ts';
import { signInSettings } from '../../../support/stack/every-setting.ts';

let issuer: TestIssuer;
let service: TestService;
/** How many of the examples were sent to it. */
let sent: number;
beforeAll(async () => {
  issuer = await startIssuer();
  service = await startService({ settings: { signIn: signInSettings }, signIn: issuer.settings });
  sent = 0;
});
afterAll(async () => {
  await service?.stop();
  await issuer?.[Symbol.asyncDispose]();
});

const credentials = (path: string): string =>
  path.startsWith('/inference')
    ? `Bearer ${service.key}`
    : `Basic ${Buffer.from(`api:${service.key}`).toString('base64')}`;

/** A body as a form: what is called `file` is one. */
const toForm = (body: object): FormData => {
  const form = new FormData();
  for (const [name, value] of Object.entries(body))
    form.set(name, name === 'file' ? new Blob([String(value)]) : String(value));
  return form;
};

const sendForm = (path: string, body: object): Promise<Response> =>
  fetch(service.url + path, {
    method: 'POST',
    headers: { authorization: credentials(path) },
    body: toForm(body),
  });

const send = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(service.url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: credentials(path), 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

/**
 * Times, users, keys and the version are other ones each time; the rest of an example is what is
 * answered.
 */
const unsteady = [
  'created_at',
  'saved_at',
  'moved_at',
  'first_reported_at',
  'svc_user_id',
  'user',
  'key',
  'key_id',
  'last_used_on',
  'version',
];
/** Feedback is counted when it was stored, which is now. */
const ofNow: Readonly<Record<string, readonly string[]>> = {
  '/feedback/stats': ['timestamp', 'end'],
  // The issuer of the test is on some port.
  '/sign-in': ['issuer', 'authorization_endpoint', 'token_endpoint', 'end_session_endpoint'],
  '/.well-known/oauth-protected-resource/mcp': ['resource', 'authorization_servers'],
};
const steady = (path: string, value: unknown): unknown => {
  const names = [...unsteady, ...(ofNow[path] ?? [])];
  return JSON.parse(JSON.stringify(value), (key, part) => (names.includes(key) ? `<${key}>` : part));
};

/** No example makes a public link, so that of `/shared/read` is answered by its 404. */
const working = operations.filter(({ route }) => !isByLink(route));

const examples = working.flatMap(({ path, route, operation }) =>
  Object.entries(operation.examples).map(([name, example]) => ({ path, route, operation, name, example })),
);

const sendExample = ({ path, route, example }: (typeof examples)[number]): Promise<Response> =>
  route.takes === 'form'
    ? sendForm(path, example.body as object)
    : send(path, example.body, {
        accept: route.form === 'rpc' ? 'application/json, text/event-stream' : 'application/json',
      });

/** Sends all examples before one, as far as this service has not had them: a test may begin anew. */
const sendUntil = async (end: number): Promise<void> => {
  for (; sent < end; sent += 1) {
    const next = examples[sent];
    if (next) await (await sendExample(next)).arrayBuffer();
  }
};

describe('the examples, one after the other', () => {
  it.each(examples)('$path: $name', async (each) => {
    const { path, route, example } = each;
    const place = examples.indexOf(each);
    await sendUntil(place);
    const answer = await sendExample(each);
    sent = place + 1;
    expect(answer.status).toBe(200);
    for (const name of Object.keys(everyHeader)) expect(answer.headers.get(name)).toBeTruthy();
    const type = answer.headers.get('content-type')?.split(';')[0] ?? '';
    if (route.form === 'markdown') {
      expect([type, await answer.text()]).toEqual([
        'text/markdown',
        expect.stringContaining(String(example.answer)),
      ]);
      return;
    }
    if (route.form === 'bytes') {
      expect([type, await answer.text()]).toEqual(['application/octet-stream', example.answer]);
      return;
    }
    const body = await answer.json();
    expect(validator(answerSchema(path, type))(body)).toEqual([]);
    const expected = route.form === 'records' ? [example.answer] : example.answer;
    const partly = route.form === 'upstream' || path === '/openapi.json';
    if (partly) expect(body).toMatchObject(expected as object);
    else expect(steady(path, body)).toEqual(steady(path, expected));
  });

  it.each(operations.filter(({ route }) => route.form === 'records'))(
    '$path answers records in each form that it names',
    async ({ path, operation }) => {
      await sendUntil(examples.length);
      const { body } = Object.values(operation.examples)[0] ?? {};
      for (const type of ['application/jsonl', 'application/x-ndjson']) {
        const { contentSchema } = answerSchema(path, type) as { contentSchema: JsonSchema };
        const answer = await send(path, body, { accept: type });
        const lines = (await answer.text()).trimEnd().split('\n');
        expect(answer.headers.get('content-type')).toBe(type);
        expect(lines.flatMap((line) => validator(contentSchema)(JSON.parse(line)))).toEqual([]);
      }
      expect((await send(path, body, { accept: 'text/csv' })).headers.get('content-type')).toBe('text/csv');
    },
  );

  it('with everything included, answer calls that fit as well', async () => {
    await sendUntil(examples.length);
    const query = {
      project_id: 'acme/shop',
      include_costs: true,
      include_feedback: true,
      include_storage_size: true,
      include_total_storage_size: true,
    };
    const rows = await send('/calls/stream_query', query, { accept: 'application/json' });
    const calls = (await rows.json()) as { id: string; summary: { svc: object } }[];
    expect(validator(answerSchema('/calls/stream_query', 'application/json'))(calls)).toEqual([]);
    const turn = calls.find(({ id }) => id === 'turn-1');
    expect(turn?.summary.svc).toMatchObject({ costs: expect.anything(), feedback: expect.anything() });
    const read = await send('/call/read', { ...query, id: 'turn-1' });
    expect(validator(answerSchema('/call/read', 'application/json'))(await read.json())).toEqual([]);
  });
});

/** Paths that take any text, and whose other methods are those of the pass-through. */
const isBesideInference = (path: string): boolean => path.startsWith('/inference/v1/models');

describe('errors', () => {
  /** Bodies of operations without an example: what they name, the service makes. */
  const unexampled: Readonly<Record<string, object>> = {
    '/keys/revoke': { key_id: '0'.repeat(16) },
    '/issues/update': { project_id: 'acme/shop', issue_id: '0'.repeat(32), state: 'ignored' },
  };
  // Errors of JSON-RPC have a shape of their own.
  const keyed = operations.filter(
    ({ route }) => route.request && route.form !== 'rpc' && !isBesideInference(route.path),
  );

  const fits = async (path: string, status: number, answer: Response): Promise<void> => {
    expect(answer.status).toBe(status);
    expect(operationAt(path).responses).toHaveProperty(String(status));
    for (const name of Object.keys(everyHeader)) expect(answer.headers.get(name)).toBeTruthy();
    expect(errorProblems(await answer.json())).toEqual([]);
  };

  it.each(keyed)('of $path have the one shape, and are documented', async ({ path, route, operation }) => {
    if (takesKey(route)) {
      const unauthorized = await send(path, {}, { authorization: 'Basic bm9ib2R5' });
      expect(unauthorized.headers.get('www-authenticate')).toContain('Basic');
      await fits(path, 401, unauthorized);
    }
    const wrong = { no: 'such field' };
    await fits(path, 422, await (route.takes === 'form' ? sendForm(path, wrong) : send(path, wrong)));
    await fits(path, 415, await send(path, {}, { 'content-type': 'text/plain' }));
    if (operationAt(path).responses[406]) {
      const { body } = Object.values(operation.examples)[0] ?? { body: unexampled[path] };
      await fits(path, 406, await send(path, body, { accept: 'image/png' }));
    }
  });

  it.each(
    operations.filter(
      ({ route }) => !('refuses' in route || 'byGet' in route || isBesideInference(route.path)),
    ),
  )('for a wrong method on $path say that there is no route', async ({ path, route }) => {
    const isPost = route.request !== undefined || route.form === 'otlp';
    const answer = await fetch(service.url + path, { method: isPost ? 'GET' : 'POST' });
    expect(answer.status).toBe(404);
    expect(errorProblems(await answer.json())).toEqual([]);
  });
});
