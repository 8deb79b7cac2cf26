import { randomUUID } from 'node:crypto';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { afterAll, beforeAll, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { authenticate, getKey, listKeys, toRoleId } from '../../../../foundations/auth/index.ts';
import type { Table } from '../../../../foundations/storage/index.ts';
import { startContainer } from '../../../support/service/container.ts';
import { type SecretsManager, startSecretsManager } from '../../../support/service/secrets-manager.ts';
import { createStores } from '../../../support/service/stores.ts';
import { json, startUpstream, type TestUpstream } from '../../../support/service/upstream.ts';

type Handler = (event: CloudFormationCustomResourceEvent) => Promise<void>;
type Answer = Record<'Status' | 'PhysicalResourceId', string> & {
  readonly Reason?: string;
  readonly Data: Record<string, string>;
};

let table: Table;
let secrets: SecretsManager;
let cloudFormation: TestUpstream;
let handler: Handler;
let secret: string;
let log: MockInstance<typeof process.stdout.write>;

beforeAll(async () => {
  const { dynamodb, keysTable } = await createStores();
  table = { client: dynamodb, name: keysTable };
  const url = await dynamodb.config.endpoint?.();
  if (!url) throw new Error('the test stores have no endpoint of their own');
  secrets = await startSecretsManager();
  cloudFormation = await startUpstream(json({}));
  const environment = {
    KEYS_TABLE: keysTable,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: `${url.protocol}//${url.hostname}:${url.port}`,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.endpoint,
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const load = startContainer();
  const loaded = await load<typeof import('../../../../lambdas/background/report-key.ts')>(
    'lambdas/background/report-key.ts',
  );
  handler = (event) => loaded.handler(event, { awsRequestId: 'invocation-1' });
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await secrets[Symbol.asyncDispose]();
  await cloudFormation[Symbol.asyncDispose]();
});

beforeEach(() => {
  secret = secrets.create(randomUUID());
  log = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const makeRequest = (
  type: 'Create' | 'Update' | 'Delete',
  properties: Record<string, unknown> = {},
  physicalId?: string,
) =>
  ({
    RequestType: type,
    RequestId: randomUUID(),
    StackId: 'stack',
    LogicalResourceId: 'Key',
    ResponseURL: `${cloudFormation.baseUrl}/answer?signature=x`,
    ResourceProperties: { Secret: secret, Project: 'acme/shop', User: 'Shop/Agent', ...properties },
    ...(physicalId !== undefined && { PhysicalResourceId: physicalId }),
  }) as unknown as CloudFormationCustomResourceEvent;

/** What CloudFormation is told. */
const sendEvent = async (event: CloudFormationCustomResourceEvent): Promise<Answer> => {
  await handler(event);
  return cloudFormation.last().body as unknown as Answer;
};

const role = 'arn:aws:iam::123456789012:role/service-role/agent';
const roleId = toRoleId('arn:aws:iam::123456789012:role/agent');

const makeRoleRequest = (type: 'Create' | 'Update' | 'Delete', project: string, physicalId?: string) =>
  ({
    ...makeRequest(type, {}, physicalId),
    ResourceType: 'Custom::PennytraceRole',
    ResourceProperties: { Role: role, Project: project },
  }) as unknown as CloudFormationCustomResourceEvent;

const keyIn = (version?: string): string => JSON.parse(secrets.readValue(secret, version)).key;

const authenticated = (key: string) => authenticate(`Bearer ${key}`, 'any', { table }, Date.now() * 1000);

describe('a key at deployment', () => {
  it('is made into the secret, with the headers of an exporter, and may write to its project', async () => {
    const answer = await sendEvent(makeRequest('Create'));
    expect(answer).toMatchObject({ Status: 'SUCCESS' });
    const key = keyIn(answer.Data.VersionId);
    expect(JSON.parse(secrets.readValue(secret))).toEqual({
      key,
      headers: `authorization=Bearer%20${key},project_id=acme/shop`,
    });
    expect(await authenticated(key)).toEqual({
      caller: {
        user: 'Shop/Agent',
        keyId: answer.PhysicalResourceId,
        grants: [{ scope: 'acme/shop', role: 'write' }],
      },
    });
  });

  it('shows in no answer and no log', async () => {
    const answer = await sendEvent(makeRequest('Create'));
    const [, , hex = ''] = keyIn().split('_');
    expect(JSON.stringify(answer)).not.toContain(hex);
    expect(JSON.stringify(log.mock.calls)).not.toContain(hex);
  });

  it('is the same when Lambda repeats a request', async () => {
    const request = makeRequest('Create');
    const first = await sendEvent(request);
    const before = (await listKeys(table)).length;
    expect(await sendEvent(request)).toEqual(first);
    expect(await listKeys(table)).toHaveLength(before);
  });

  it('is another one after a change, and the old one is good until it is deleted', async () => {
    const first = await sendEvent(makeRequest('Create'));
    const old = keyIn();
    const second = await sendEvent(makeRequest('Update', { Rotation: '2' }, first.PhysicalResourceId));
    expect(second.PhysicalResourceId).not.toBe(first.PhysicalResourceId);
    expect(second.Data.VersionId).not.toBe(first.Data.VersionId);
    expect(await authenticated(old)).toHaveProperty('caller');
    await sendEvent(makeRequest('Delete', {}, first.PhysicalResourceId));
    expect(await authenticated(old)).toMatchObject({ refusal: 'revoked key' });
    expect(await authenticated(keyIn())).toHaveProperty('caller');
  });

  it('is not made for a project or user that is none, and CloudFormation is told why', async () => {
    expect(await sendEvent(makeRequest('Create', { Project: 'shop' }))).toMatchObject({
      Status: 'FAILED',
      PhysicalResourceId: 'none',
      Reason: expect.stringContaining('the property Project is shop: should be <entity>/<project>'),
    });
    expect(await sendEvent(makeRequest('Create', { User: 'a:b' }))).toMatchObject({
      Status: 'FAILED',
      Reason: expect.stringContaining('the property User'),
    });
  });

  it('is not made without its secret, and CloudFormation is told why', async () => {
    const answer = await sendEvent(makeRequest('Create', { Secret: 'gone' }));
    expect(answer).toMatchObject({
      Status: 'FAILED',
      Reason: expect.stringContaining('ResourceNotFoundException'),
    });
  });

  it('waits for a policy that is not in force yet', async () => {
    secrets.deny(1);
    expect(await sendEvent(makeRequest('Create'))).toMatchObject({ Status: 'SUCCESS' });
  });

  it('is answered again when CloudFormation does not take the answer', async () => {
    let refusals = 1;
    cloudFormation.behave((_request, res) => res.writeHead(refusals-- > 0 ? 503 : 200).end());
    expect(await sendEvent(makeRequest('Create'))).toMatchObject({ Status: 'SUCCESS' });
    cloudFormation.behave(json({}));
  });

  it.each(['none', 'aaaaaaaaaaaaaaaa'])(
    'that was never made is deleted without complaint: %s',
    async (id) => {
      expect(await sendEvent(makeRequest('Delete', {}, id))).toMatchObject({
        Status: 'SUCCESS',
        PhysicalResourceId: id,
      });
    },
  );
});

describe('what a role is granted at deployment', () => {
  const grants = async () => (await getKey(table, roleId))?.grants.map(({ scope }) => scope);

  it('is there while its resource is, whatever path the role has, and changes with it', async () => {
    const first = await sendEvent(makeRoleRequest('Create', 'acme/shop'));
    expect(first).toMatchObject({ Status: 'SUCCESS' });
    expect(await grants()).toEqual(['acme/shop']);
    const second = await sendEvent(makeRoleRequest('Update', 'acme/other', first.PhysicalResourceId));
    expect(second.PhysicalResourceId).not.toBe(first.PhysicalResourceId);
    await sendEvent(makeRoleRequest('Delete', 'acme/shop', first.PhysicalResourceId));
    expect(await grants()).toEqual(['acme/other']);
    await sendEvent(makeRoleRequest('Delete', 'acme/other', second.PhysicalResourceId));
    expect(await grants()).toEqual([]);
  });

  it('is the same when Lambda repeats a request', async () => {
    const request = makeRoleRequest('Create', 'acme/shop');
    expect(await sendEvent(request)).toEqual(await sendEvent(request));
    expect(await grants()).toEqual(['acme/shop']);
  });

  it('is refused for what is no role, and CloudFormation is told why', async () => {
    const request = makeRoleRequest('Create', 'acme/shop');
    const Role = 'arn:aws:iam::123456789012:user/ada';
    const ResourceProperties = { ServiceToken: '', Role, Project: 'acme/shop' };
    const answer = await sendEvent({ ...request, ResourceProperties } as typeof request);
    expect(answer).toMatchObject({
      Status: 'FAILED',
      Reason: expect.stringContaining('the property Role is arn:aws:iam::123456789012:user/ada: should be'),
    });
  });
});
