import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { localRegion } from 'cdk-local-runner/template';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeTokens } from '../../../examples/iam-token.ts';
import { grantRole, parseGrants, parseRoleArn } from '../../../foundations/auth/index.ts';
import { type LocalService, startLocalService } from '../../../local/service.ts';
import { getTableName } from '../../../local/stack.ts';
import { type FakeSts, startSts } from '../../support/service/sts.ts';
import { assemblyWith } from '../../support/stack/assembly.ts';

const session = 'arn:aws:sts::123456789012:assumed-role/agent/session';
let sts: FakeSts;
let service: LocalService;

beforeAll(async () => {
  sts = await startSts();
  service = await startLocalService({ assembly: await assemblyWith({ iam: true }), sts: sts.origin });
});

afterAll(async () => {
  await service?.stop();
  await sts?.[Symbol.asyncDispose]();
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
