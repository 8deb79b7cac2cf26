import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { localRegion } from 'cdk-local-runner/template';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeTokens } from '../../../examples/iam-token.ts';
import { grantRole, parseGrants, parseRoleArn } from '../../../foundations/auth/index.ts';
import { type LocalService, startLocalService } from '../../../local/service.ts';
import { getTableName } from '../../../local/stack.ts';
import { startIssuer, type TestIssuer } from '../../support/service/issuer.ts';
import { type FakeSts, startSts } from '../../support/service/sts.ts';
import { assemblyWith } from '../../support/stack/assembly.ts';
import { signInSettings } from '../../support/stack/every-setting.ts';

const session = 'arn:aws:sts::123456789012:assumed-role/agent/session';
let sts: FakeSts;
let issuer: TestIssuer;
let service: LocalService;

beforeAll(async () => {
  sts = await startSts();
  issuer = await startIssuer();
  service = await startLocalService({
    assembly: await assemblyWith({ iam: true, signIn: signInSettings }),
    sts: sts.origin,
    signIn: issuer.settings,
  });
});

afterAll(async () => {
  await service?.stop();
  await sts?.[Symbol.asyncDispose]();
  await issuer?.[Symbol.asyncDispose]();
});

const tokens = (url: string) =>
  makeTokens({ url, region: localRegion, credentials: sts.login(session), sts: sts.origin });

const toBasic = (token: string) => `Basic ${Buffer.from(`api:${token}`).toString('base64')}`;

const query = async (authorization: string) => {
  const answer = await fetch(`${service.url}/calls/stream_query`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ project_id: 'acme/shop' }),
  });
  return { status: answer.status, text: await answer.text() };
};

const me = async (token: string) => {
  const answer = await fetch(`${service.url}/me`, { headers: { authorization: toBasic(token) } });
  return { status: answer.status, body: await answer.json() };
};

beforeAll(async () => {
  const { dynamodb: endpoint, credentials, stack } = service;
  const client = new DynamoDBClient({ region: localRegion, credentials, endpoint });
  const role = parseRoleArn('arn:aws:iam::123456789012:role/agent');
  if (!role) throw new Error('no role');
  const table = { client, name: getTableName(stack, 'keys') };
  const grants = parseGrants('acme/shop:write') ?? [];
  await grantRole(table, role, { grants }, Date.now() * 1000);
  client.destroy();
});

it('lets a role in that signs for the local service, and no other', async () => {
  const token = await tokens(service.url)();
  const basic = toBasic(token);
  expect(await query(basic)).toMatchObject({ status: 200 });
  expect(await me(token)).toMatchObject({
    status: 200,
    body: { user: 'arn:aws:iam::123456789012:role/agent' },
  });
  expect(await me(await tokens('https://other.example.com')())).toMatchObject({ status: 401 });
});

it('takes spans of an exporter of OpenTelemetry that signs', async () => {
  const getToken = tokens(service.url);
  const exporter = new OTLPTraceExporter({
    url: `${service.url}/otel/v1/traces`,
    headers: async () => ({ authorization: `Bearer ${await getToken()}`, project_id: 'acme/shop' }),
  });
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  provider.getTracer('test').startSpan('signed').end();
  await provider.shutdown();
  const basic = toBasic(await getToken());
  expect((await query(basic)).text).toContain('"svc_user_id":"arn:aws:iam::123456789012:role/agent"');
});

it('lets in who signed in beside roles that sign, and takes neither for the other', async () => {
  const bearing = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${service.url}/me`, { headers });
    return { status: answer.status, body: await answer.json() };
  };
  const role = 'arn:aws:iam::123456789012:role/agent';
  const person = issuer.token({ claims: { email: 'root@example.com' } });
  const signed = await tokens(service.url)();
  expect(await bearing(person)).toMatchObject({
    status: 200,
    body: { kind: 'person', user: 'root@example.com' },
  });
  expect(await query(`Bearer ${person}`)).toMatchObject({ status: 200 });
  expect(await me(signed)).toMatchObject({ status: 200, body: { kind: 'key', user: role } });
  // The route takes Basic alone, and a role's token is no person's.
  expect(await bearing(signed)).toMatchObject({ status: 401 });
  expect(await me(person)).toMatchObject({ status: 401 });
  // A person whom the issuer calls like the role has none of its rights.
  const alike = await bearing(issuer.token({ claims: { sub: role, email: undefined } }));
  expect(alike).toMatchObject({ status: 200, body: { kind: 'person', grants: [] } });
  expect(alike.body).not.toMatchObject({ user: role });
  // Both have a form of their own, so one in the other's is none.
  for (const mixed of [`${signed}.${person}`, `svc-iam-v1.${person}`])
    expect((await bearing(mixed)).status).toBe(401);
});
