import { request as httpRequest } from 'node:http';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Said } from '../../support/documents/document.ts';
import { paced } from '../../support/run/pace.ts';
import type { TestService } from '../../support/service/service.ts';

/**
 * No request takes longer, however busy the machine is: the longest time-out of a buffered answer.
 */
const boundMs = paced(30_000);

/** What payloads are made to hold, and no log line may. */
export const canary = 'canary-7f3a9c';

/** What a request was answered with. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** A request as it is sent, whatever it is. */
export interface Probe {
  readonly path: string;
  /** @default POST */
  readonly method?: string;
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends bytes as they are. `fetch` would refuse some headers, and mend some bodies. */
export const sendTo = (url: string, { path, method = 'POST', body, headers }: Probe): Promise<Answer> => {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const options = { method, headers: { 'content-type': 'application/json', ...headers } };
  const req = httpRequest(url + path, { ...options, signal: AbortSignal.timeout(boundMs) }, (res) => {
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

/** The credentials of a path, as a header has them. */
export const credentials = ({ key }: TestService, path: string): string =>
  path.startsWith('/inference') ? `Bearer ${key}` : `Basic ${Buffer.from(`api:${key}`).toString('base64')}`;

/** What no caller and no log may ever see. */
export const listSecrets = ({ key }: TestService): string[] => {
  const [, , secret = ''] = key.split('_');
  return [key, secret, Buffer.from(`api:${key}`).toString('base64')];
};

/** Names of what the service is made of: resources, folders, places in its code. */
const internals =
  /arn:aws|\btest-[0-9a-f]{8}-\w+-(?:Storage|Auth)|node_modules|index\.[cm]?js|\bat \S+ \(|\/tmp\/|file:\/\/|ResourceNotFound|dynamodb/i;

/** A model may be given less time than it takes. */
const mayBe504 = (path: string): boolean => path.startsWith('/inference');

/** Looks whether an answer is one that the document has for a path, and tells nothing else. */
export const checker =
  ({ operationAt, errorProblems }: Pick<Said, 'operationAt' | 'errorProblems'>, service: TestService) =>
  (path: string, { status, headers, text }: Answer, why: string): void => {
    expect(Object.keys(operationAt(path).responses), why).toContain(String(status));
    expect(status === 504 && mayBe504(path) ? 200 : status, why).toBeLessThan(500);
    expect(headers['x-request-id'], why).toBeTruthy();
    for (const secret of listSecrets(service)) expect(text, why).not.toContain(secret);
    if (status === 200) return;
    expect(errorProblems(JSON.parse(text)), why).toEqual([]);
    expect(text, why).not.toMatch(internals);
  };

/** A request like any other, after those that were not. */
export const isWell = async (service: TestService): Promise<void> => {
  const answer = await service.post('/call/read', { project_id: 'acme/shop', id: 'nobody' });
  expect([answer.status, await answer.json()]).toEqual([200, { call: null }]);
};

/** What the logs of a service say after all that. */
export const expectCleanLogs = (service: TestService): void => {
  expect(service.logged.length).toBeGreaterThan(100);
  for (const secret of [...listSecrets(service), canary])
    expect(service.logged.filter((line) => line.includes(secret))).toEqual([]);
  const errors = service.logged.filter((line) => line.includes('"level":"error"'));
  expect(errors.filter((line) => !line.includes('"status":504'))).toEqual([]);
};

/** Puts the canary wherever a client's own text goes. */
export const withCanary = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, part: unknown) =>
      key === 'content' && typeof part === 'string'
        ? canary
        : ['attributes', 'inputs', 'output', 'payload', 'val', 'summary', 'row'].includes(key) &&
            typeof part === 'object' &&
            part !== null &&
            !Array.isArray(part)
          ? { ...part, canary: [canary, { [canary]: canary }] }
          : part,
    ),
  );

/** Ways to spoil a text that was JSON. */
export const spoilt = (texts: fc.Arbitrary<string>): fc.Arbitrary<string | Buffer> =>
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

/** Headers that mean nothing, or too much. */
export const brokenHeaders: readonly Record<string, string>[] = [
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
