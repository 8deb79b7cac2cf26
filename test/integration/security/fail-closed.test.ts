import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isKeyed } from '../../../api/endpoint.ts';
import { routes } from '../../../api/routes.ts';
import { getFixture, requestTo } from '../../support/endpoints/index.ts';
import { nothing } from '../../support/endpoints/tenants.ts';
import { temporaryFolder } from '../../support/run/project.ts';
import { sample } from '../../support/run/sampling.ts';
import { startService, type TestService } from '../../support/service/service.ts';
import { assembly } from '../../support/stack/assembly.ts';
import { basic, bearer } from './credentials.ts';

/** What clients send and logs must not hold. */
const canary = 'canary-7f3a9c';

interface Role {
  readonly Type: string;
  readonly Properties: { Policies: { PolicyDocument: { Statement: unknown[] } }[] };
}

/** The stack, with roles that allow nothing at the stores. */
const withoutPermissions = (roles: RegExp): string => {
  const folder = temporaryFolder();
  const names = readdirSync(assembly());
  const file = names.find((name) => name.endsWith('.template.json')) ?? '';
  for (const name of names) if (name !== file) symlinkSync(join(assembly(), name), join(folder, name));
  const template = JSON.parse(readFileSync(join(assembly(), file), 'utf8')) as {
    Resources: Record<string, Role>;
  };
  for (const [id, { Type, Properties }] of Object.entries(template.Resources)) {
    if (Type !== 'AWS::IAM::Role' || !roles.test(id)) continue;
    for (const { PolicyDocument } of Properties.Policies)
      PolicyDocument.Statement = PolicyDocument.Statement.filter(
        (statement) => !/"(?:dynamodb|s3):/.test(JSON.stringify(statement)),
      );
  }
  writeFileSync(join(folder, file), JSON.stringify(template));
  return folder;
};

const query = { $expr: { $in: [{ $getField: 'inputs.text' }, [{ $literal: canary }]] } };

/** A route's good request, with the canary wherever a client's own text goes. */
const makeBody = (path: string, body: object): string =>
  JSON.stringify({
    ...body,
    ...(/^\/calls\/(stream_query|query_stats)$/.test(path) && { query }),
  })
    .replace('"op_name"', `"inputs":{"text":"${canary}"},"op_name"`)
    .replace('"ended_at"', `"output":"${canary}","ended_at"`)
    .replaceAll(/"(?:good|Be brief\.|None)"/g, `"${canary}"`);

/** What is refused, and what comes of it: the status and the fault. */
const faults: readonly [what: string, roles: RegExp, status: number, fault: object][] = [
  [
    'the stores',
    /^Functions/,
    500,
    {
      loc: ['service'],
      msg: "something went wrong in the service; its log has the error under this request's id",
      type: 'internal_error',
    },
  ],
  // A key that could not be looked up may be a good one.
  ['the keys', /^Auth/, 503, expect.objectContaining({ type: 'storage_unavailable' })],
];

describe.each(faults)('functions that are refused %s', (what, roles, status, fault) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ assembly: withoutPermissions(roles) });
  });
  afterAll(() => service.stop());

  const touching = routes.filter(isKeyed).filter(({ stores }) => Object.keys(stores).length > 0);
  // Recording comes after the answer, which it never changes.
  const failing = touching.filter(({ scheme }) => what === 'the keys' || scheme !== 'bearer');

  // One middleware answers for all routes, and a role that lacks a permission fails other tests.
  it.each(sample(failing, 12, what))('answer $path with an error that does not say why', async (route) => {
    const { path, scheme } = route;
    const { path: asked, headers, body } = requestTo(route, getFixture(path), 'acme/shop', nothing);
    const authorization = (scheme === 'bearer' ? bearer : (key: string) => basic(key, 'api'))(service.key);
    const answer = await fetch(service.url + asked, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', ...headers },
      body: Buffer.isBuffer(body) ? body : makeBody(path, body),
    });
    const isOwn = 'msg' in fault;
    const expected =
      isOwn && path.startsWith('/otel/')
        ? { code: 13, message: fault.msg }
        : isOwn && path === '/mcp'
          ? expect.objectContaining({ error: expect.objectContaining({ message: fault.msg }) })
          : { detail: [fault], ...(!isOwn && { error: expect.objectContaining({ type: 'server_error' }) }) };
    expect([answer.status, await answer.json()]).toEqual([status, expected]);
    const id = answer.headers.get('x-request-id') ?? 'none';
    // The log comes on its own way.
    const logLines = () => service.logged.filter((line) => line.includes(id)).join();
    await expect.poll(logLines).toMatch(/AccessDenied/);
  });

  it('log neither keys nor payloads', () => {
    const text = service.logged.join('\n');
    const secret = service.key.slice(service.key.lastIndexOf('_') + 1);
    for (const hidden of [secret, btoa(`api:${service.key}`), canary]) expect(text).not.toContain(hidden);
  });
});
