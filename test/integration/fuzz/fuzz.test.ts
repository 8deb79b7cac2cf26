import { request as httpRequest } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { arbitraryOf } from '../../support/arbitrary.ts';
import { errorProblems, operationAt, operations, requestSchema } from '../../support/document.ts';
import { mutated } from '../../support/mutated.ts';
import { repeatWith, runs, seed } from '../../support/sampling.ts';
import { startService, type TestService } from '../../support/service.ts';
import { corpus } from './corpus.ts';

/** How many bodies each endpoint gets. */
const bodiesEach = runs(25);

/**
 * No request takes longer, however busy the machine is: the longest time-out of a buffered answer.
 */
const boundMs = 30_000;

/** What payloads are made to hold, and no log line may. */
const canary = 'canary-7f3a9c';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Sends bytes as they are. `fetch` would refuse some headers, and mend some bodies. */
const send = (path: string, body: string | Buffer, headers: Record<string, string> = {}): Promise<Answer> => {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const options = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
  const req = httpRequest(service.url + path, { ...options, signal: AbortSignal.timeout(boundMs) }, (res) => {
    const chunks: Buffer[] = [];
    res.on('data', (chunk: Buffer) => chunks.push(chunk));
    res.on('error', reject);
    res.on('end', () =>
      resolve({
        status: res.statusCode ?? 0,
        headers: res.headers,
        text: Buffer.concat(chunks).toString('utf8'),
      }),
    );
  });
  req.on('error', reject);
  req.end(body);
  return promise;
};

const credentials = (path: string): string =>
  path.startsWith('/inference')
    ? `Bearer ${service.key}`
    : `Basic ${Buffer.from(`api:${service.key}`).toString('base64')}`;

/** What no caller and no log may ever see. */
const secrets = (): string[] => {
  const [, , secret = ''] = service.key.split('_');
  return [service.key, secret, Buffer.from(`api:${service.key}`).toString('base64')];
};

/** Names of what the service is made of: resources, folders, places in its code. */
const internals =
  /arn:aws|\btest-[0-9a-f]{8}-\w+-(?:Storage|Auth)|node_modules|index\.[cm]?js|\bat \S+ \(|\/tmp\/|file:\/\/|ResourceNotFound|dynamodb/i;

/** A model may be given less time than it takes. */
const mayBe504 = (path: string): boolean => path.startsWith('/inference');

const check = (path: string, { status, headers, text }: Answer, why: string): void => {
  expect(Object.keys(operationAt(path).responses), why).toContain(String(status));
  expect(status === 504 && mayBe504(path) ? 200 : status, why).toBeLessThan(500);
  expect(headers['x-request-id'], why).toBeTruthy();
  for (const secret of secrets()) expect(text, why).not.toContain(secret);
  if (status === 200) return;
  expect(errorProblems(JSON.parse(text)), why).toEqual([]);
  expect(text, why).not.toMatch(internals);
};

/** A request like any other, after those that were not. */
const isWell = async (): Promise<void> => {
  const answer = await service.post('/call/read', { project_id: 'acme/shop', id: 'nobody' });
  expect([answer.status, await answer.json()]).toEqual([200, { call: null }]);
};

/** Puts the canary wherever a client's own text goes. */
const withCanary = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, part: unknown) =>
      key === 'content' && typeof part === 'string'
        ? canary
        : ['attributes', 'inputs', 'output', 'payload', 'val', 'summary'].includes(key) &&
            typeof part === 'object' &&
            part !== null &&
            !Array.isArray(part)
          ? { ...part, canary: [canary, { [canary]: canary }] }
          : part,
    ),
  );

const text = (value: unknown): string => JSON.stringify(value);

/** Ways to spoil a text that was JSON. */
const spoilt = (texts: fc.Arbitrary<string>): fc.Arbitrary<string | Buffer> =>
  fc.tuple(texts, fc.nat(), fc.integer({ min: 0, max: 5 })).map(([json, at, way]) => {
    const place = at % (json.length + 1);
    if (way === 0) return json.slice(0, place);
    if (way === 1) return `${json.slice(0, place)}\u0000${json.slice(place)}`;
    if (way === 2) return json.replace(/\d+/, '1e400');
    if (way === 3) return json.replace(/^\{/, '{"__proto__": {"polluted": true},');
    if (way === 4)
      return Buffer.concat([
        Buffer.from(json.slice(0, place)),
        Buffer.from([0xff, 0xc0]),
        Buffer.from(json.slice(place)),
      ]);
    return json.replace(/"([^"]*)":/, '"$1": null, "$1":');
  });

// Spans have a fuzz test of their own, made of their protobuf definitions.
const jsonOperations = operations.filter(({ operation }) => operation.form !== 'otlp');

const taking = jsonOperations.flatMap(({ path }) => {
  const schema = requestSchema(path);
  return schema ? [{ path, schema }] : [];
});

const brokenHeaders: readonly Record<string, string>[] = [
  { authorization: '' },
  { authorization: 'Basic' },
  { authorization: 'Basic !!!!' },
  { authorization: `Basic ${Buffer.from('no colon').toString('base64')}` },
  { authorization: `Basic ${'A'.repeat(8000)}` },
  { authorization: 'Basic /////w==' },
  { authorization: 'Bearer' },
  { authorization: 'Digest x' },
  { 'content-type': 'text/plain' },
  { 'content-type': 'application/json; charset=utf-16' },
  { 'content-type': '' },
  { 'content-type': ';;;' },
  { 'content-encoding': 'gzip' },
  { accept: 'image/*;q=x, */*;q=-1' },
  { accept: `${'a/b,'.repeat(1000)}*/*` },
  { 'accept-encoding': 'gzip;q=2, *;q=nan' },
];

describe.each(taking)('$path', ({ path, schema }) => {
  const valid = arbitraryOf(schema).map(withCanary);
  const bodies = fc.oneof(valid.map(text), mutated(valid).map(text), spoilt(valid.map(text)));

  it('answers any request as documented', { timeout: 60_000 + bodiesEach * 1000 }, async () => {
    const headers = { authorization: credentials(path) };
    for (const body of fc.sample(bodies, { numRuns: bodiesEach, seed })) {
      check(path, await send(path, body, headers), `${repeatWith}, body ${body.toString()}`);
    }
    await isWell();
  });

  it('answers requests that broke other parsers', { timeout: 300_000 }, async () => {
    for (const [name, body] of corpus)
      check(path, await send(path, body, { authorization: credentials(path) }), name);
    await isWell();
  });

  it('answers nonsensical headers', async () => {
    for (const broken of brokenHeaders) {
      const headers = { authorization: credentials(path), ...broken };
      check(path, await send(path, '{}', headers), JSON.stringify(broken));
    }
    await isWell();
  });
});

describe('the logs of these requests', () => {
  it('contain no key, no payload and no error', () => {
    expect(service.logged.length).toBeGreaterThan(100);
    for (const secret of [...secrets(), canary])
      expect(service.logged.filter((line) => line.includes(secret))).toEqual([]);
    const errors = service.logged.filter((line) => line.includes('"level":"error"'));
    expect(errors.filter((line) => !line.includes('"status":504'))).toEqual([]);
  });
});
