import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { sourceNames } from 'cdk-local-runner';
import { readStack } from 'cdk-local-runner/template';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRequestLog } from '../../../local/service.ts';
import { startService, type TestService } from '../../support/service/service.ts';
import { assembly } from '../../support/stack/assembly.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const start = (id: string) => ({
  start: {
    project_id: 'acme/shop',
    id,
    op_name: 'chat',
    started_at: '2026-01-01T00:00:00Z',
    inputs: { n: 1 },
  },
});

describe('the service', () => {
  it('accepts calls and streams them back', async () => {
    expect((await service.post('/call/start', start('c-1'))).status).toBe(200);
    const response = await service.post('/calls/stream_query', { project_id: 'acme/shop' });
    expect(response.headers.get('content-type')).toBe('application/jsonl');
    expect(JSON.parse(await response.text())).toMatchObject({
      id: 'c-1',
      inputs: { n: 1 },
      svc_user_id: 'local',
    });
  });

  it.each([
    ['a buffered answer', '/call/start', start('line'), {}],
    ['a streamed one', '/call/read', { project_id: 'acme/shop', id: 'line' }, {}],
    ['an error', '/call/start', {}, {}],
    ['an error of a streamed one', '/call/read', {}, {}],
    ['the gateway’s own', '/no/such/route', {}, {}],
    ['the authorizer’s', '/call/read', {}, { authorization: 'Basic none' }],
  ])('ends %s with one line end', async (_, path, body, headers) => {
    const text = await (await service.post(path, body, { headers })).text();
    expect(text).toMatch(/\}\n$/);
    expect(text.trimEnd()).toBe(text.slice(0, -1));
  });

  it('goes on after its functions have been killed', async () => {
    await service.killWorkers();
    expect((await service.post('/call/read', { project_id: 'acme/shop', id: 'c-1' })).status).toBe(200);
  });
});

it('A service that restarts on the same data still has it', async () => {
  const dataDir = relative(process.cwd(), mkdtempSync(join(tmpdir(), 'pennytrace-data-')));
  // On stores of its own, which keep their data in the folder.
  const options = { dataDir, dynamodb: '', s3: '', stackName: 'Kept' };
  const first = await startService(options);
  const inputs = { text: 'a long text. '.repeat(60_000) + Math.random() };
  await first.post('/call/start', { start: { ...start('kept').start, inputs } });
  await first.stop();
  const second = await startService(options);
  expect(second.key).toBe(first.key);
  const response = await second.post('/call/read', { project_id: 'acme/shop', id: 'kept' });
  expect(await response.json()).toMatchObject({ call: { id: 'kept', inputs } });
  await second.stop();
  expect(readdirSync(dataDir).toSorted()).toEqual(['dynamodb', 'key', 's3']);
  expect(readdirSync(join(dataDir, 'dynamodb'))).toEqual(['store.sqlite']);
  rmSync(dataDir, { recursive: true });
});

it('A malformed key is refused with what to write', async () => {
  await expect(startService({ key: 'secret' })).rejects.toThrow('LOCAL_KEY should be svc_<16 of 0-9a-z>_');
});

it('Pending requests are answered before the service ends', async () => {
  const ending = await startService();
  const answer = ending.post('/call/start', start('last'));
  await expect.poll(() => ending.logged.join()).toContain('"outcome":"allowed"');
  await ending.stop();
  expect((await answer).status).toBe(200);
});

it('Settings change the stack', async () => {
  const strict = await startService({
    settings: { throttleRate: 1, throttleBurst: 1 },
  });
  const body = { project_id: 'acme/shop' };
  const statuses = await Promise.all(
    [1, 2, 3].map(async () => (await strict.post('/calls/stream_query', body)).status),
  );
  expect(statuses.toSorted()).toContain(429);
  await strict.stop();
});

it.each<[boolean, string]>([
  [true, '{"level":"info","status":200}'],
  [true, '{"level":"info","message":"authorizer","outcome":"allowed"}'],
  [true, '{"level":"info","message":"authorizer","outcome":"refused"}'],
  [false, '{"level":"error","message":"authorizer","outcome":"failed"}'],
  [false, '{"level":"error","status":500}'],
  [false, 'Error: something'],
  [false, '    at somewhere'],
])('It is %s that this tells of a request that went well: %s', (expected, line) => {
  expect(isRequestLog(line)).toBe(expected);
});

it('Lines of functions are named by their route, or as the authorizer’s', () => {
  const { api, functions } = readStack(assembly());
  const sourceName = sourceNames({ api });
  // A function may serve several routes.
  const expected = (name: string): string[] => {
    const routes = api.routes.filter((route) => route.function.name === name);
    return routes.length > 0 ? routes.map(({ path }) => path) : ['authorizer'];
  };
  for (const { name } of functions) expect(expected(name)).toContain(sourceName(name));
  expect(sourceName('Another')).toBe('Another');
});
