import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { App, Stack } from 'aws-cdk-lib';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { listen } from 'aws-stand-in';
import { localCredentials } from 'cdk-local-runner';
import { gateway } from 'cdk-local-runner/gateway';
import { makeFunctions } from 'cdk-local-runner/runtime';
import { type BusEvent, busEnvironment, runStreams, startEventBus } from 'cdk-local-runner/streams';
import type { Assembly } from 'cdk-local-runner/template';
import {
  allowsAccess,
  type FunctionSpec,
  fits,
  type Policy,
  policySchema,
  type StackSpec,
  toStackSpec,
} from 'cdk-local-runner/template';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { getHandlers } from '../../../api/endpoint.ts';
import { routes } from '../../../api/routes.ts';
import { getBundle, keyMakerHandler, limitsHandler, redactionModule } from '../../../lib/handlers.ts';
import { Pennytrace } from '../../../lib/pennytrace.ts';
import { cdkContext, root, temporaryFolder } from '../../support/run/project.ts';
import { startSecretsManager } from '../../support/service/secrets-manager.ts';
import { createStores } from '../../support/service/stores.ts';
import { json, startUpstream } from '../../support/service/upstream.ts';
import { getBundles } from '../../support/stack/assembly.ts';
import { guardStores, withAccessKeys } from '../../support/stack/iam/guard.ts';
import { type Catalog, makeCatalog } from '../../support/stack/rehearsal/catalog.ts';
import { toTable } from '../../support/stack/rehearsal/checks.ts';
import { deploy } from '../../support/stack/rehearsal/deploy.ts';
import { deploymentOrder, findDependencies, type Resources } from '../../support/stack/rehearsal/order.ts';
import { createProviders, type Places, requestCustom } from '../../support/stack/rehearsal/providers.ts';
import { readForDeployment } from '../../support/stack/rehearsal/read.ts';
import { schemaFindings, typesWithSchema } from '../../support/stack/rehearsal/schemas.ts';

/** Settings that add resources, and none that hides a revoked key. */
const settings = {
  shards: [4, 16],
  authorizerCacheSeconds: 0,
  firewallRatePerAddress: 1000,
  alarmEmail: 'ops@example.com',
  monthlyBudget: 50,
  inferenceRatePerMinute: 60,
  events: true,
  analytics: true,
  limits: true,
  redact: [{ name: 'email', builtin: 'email', action: 'hash' }],
} as const;

const handlers = [
  ...getHandlers(routes),
  'authorizer',
  'events',
  'analytics',
  keyMakerHandler,
  redactionModule,
  limitsHandler,
];

/** A stack of somebody's, with the service and a function that reports to it. */
const synthesizeShop = (): { readonly outdir: string; readonly database: string } => {
  const outdir = temporaryFolder();
  const bundles = getBundles(handlers);
  const app = new App({ outdir, context: cdkContext, analyticsReporting: false });
  const stack = new Stack(app, 'Shop');
  const service = new Pennytrace(stack, 'Tracing', settings, { routes, bundles });
  const agent = new LambdaFunction(stack, 'Agent', {
    runtime: Runtime.NODEJS_24_X,
    handler: 'index.handler',
    code: Code.fromAsset(getBundle(bundles, 'health')),
  });
  service.grantReport(agent, { project: 'acme/shop' });
  app.synth();
  return { outdir, database: service.analyticsDatabase ?? '' };
};

describe('a deployment, resource by resource', () => {
  const stackName = `rehearsal-${randomUUID().slice(0, 8)}`;
  const { outdir, database } = synthesizeShop();
  const assembly = readForDeployment(outdir);
  const resources = assembly.template.Resources as Resources;
  const order = deploymentOrder(resources);
  const findIds = (type: string) => order.filter((id) => resources[id]?.Type === type);
  let cleanup: AsyncDisposableStack;
  let deployed: Assembly;
  let stack: StackSpec;
  let places: Places;
  let specs: readonly FunctionSpec[];
  let url: string;
  let catalog: Catalog;
  const events: BusEvent[] = [];
  const troubles: unknown[] = [];

  /** Deploys it, and serves what was deployed, its functions held to their roles. */
  beforeAll(async () => {
    cleanup = new AsyncDisposableStack();
    events.length = 0;
    troubles.length = 0;
    const secrets = cleanup.use(await startSecretsManager());
    const cloudFormation = cleanup.use(await startUpstream(json({})));
    const { dynamodb, s3, environment: stores } = await createStores('keys');
    catalog = cleanup.use(await makeCatalog(s3, temporaryFolder()));
    const bus = await startEventBus();
    cleanup.defer(() => bus.stop());
    bus.subscribe((event) => events.push(event));
    const environment: Record<string, string> = {
      ...stores,
      ...busEnvironment(bus),
      AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.endpoint,
    };
    const { assets } = assembly;
    const messages = inject('stores').s3;
    places = { dynamodb, s3, messages, secrets, cloudFormation, assets, environment, stackName };
    deployed = await deploy(assembly, {
      providers: { ...createProviders(places), ...catalog.providers },
      secretValue: (arn, field, version) => {
        const value = secrets.readValue(arn, version || undefined);
        return field === '' ? value : JSON.parse(value)[field];
      },
      stackName,
    });
    stack = toStackSpec(deployed, stackName);
    specs = withAccessKeys(stack.functions);
    const guarded = await guardStores(
      inject('stores'),
      { specs, policies: stack.policies(), used: () => {}, log: () => {} },
      cleanup,
    );
    environment.AWS_ENDPOINT_URL_DYNAMODB = guarded.dynamodb;
    environment.AWS_ENDPOINT_URL_S3 = guarded.s3;
    const functions = makeFunctions({ specs, environment, log: () => {} });
    cleanup.defer(() => functions.kill());
    const listener = gateway({ api: stack.api, functions, log: () => {} });
    const server = await listen(0, Promise.resolve(listener));
    cleanup.defer(() => server.stop());
    url = `http://127.0.0.1:${server.port}`;
    const { dynamodb: endpoint } = inject('stores');
    const streams = {
      stack,
      dynamodb: endpoint,
      credentials: localCredentials,
      functions,
      bus,
      maxWindowMs: 100,
      after: async () => {},
    };
    cleanup.defer(
      await runStreams({ ...streams, from: 'TRIM_HORIZON', failed: (error) => troubles.push(error) }),
    );
  });

  afterAll(() => cleanup.disposeAsync());

  /** The agent's environment as Lambda would have it, with the gateway in the place of AWS's. */
  const agentEnvironment = (): Record<string, string> => {
    const agent = stack.functions.find(({ environment }) => environment.OTEL_EXPORTER_OTLP_HEADERS);
    const { environment = {} } = agent ?? {};
    const endpoint = environment.OTEL_EXPORTER_OTLP_ENDPOINT ?? '';
    return {
      ...environment,
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint.replace(/^https:\/\/.*\.amazonaws\.com\/api/, url),
    };
  };

  const [keyResource = ''] = findIds('Custom::PennytraceKey');
  const keyIn = (headers = ''): string => /Bearer%20([^,]+)/.exec(headers)?.[1] ?? '';
  const query = (key: string) =>
    fetch(`${url}/calls/stream_query`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ project_id: 'acme/shop' }),
    });

  it('has nothing that AWS’s schemas of its resources object to', () => {
    expect(schemaFindings(resources)).toEqual([]);
  });

  it('makes each resource after all that it needs, and the API when its methods are there', () => {
    expect(order).toHaveLength(Object.keys(resources).length);
    const needs = (id: string) => findDependencies(resources, id);
    const [deployment = ''] = findIds('AWS::ApiGateway::Deployment');
    expect(findIds('AWS::ApiGateway::Method').filter((id) => !needs(deployment).has(id))).toEqual([]);
    const [stage = ''] = findIds('AWS::ApiGateway::Stage');
    expect([...needs(stage)]).toEqual(expect.arrayContaining(findIds('AWS::ApiGateway::Account')));
  });

  it('leaves nothing to resolve', () => {
    const text = JSON.stringify(deployed.template.Resources);
    expect(text).not.toMatch(/"Ref":|"Fn::|\{\{resolve:/);
  });

  it('lets API Gateway invoke the function of each method as its role, and each authorizer', () => {
    const getProperties = (type: string) =>
      findIds(type).map((id) => [id, deployed.template.Resources[id]?.Properties ?? {}] as const);
    const credentials = getProperties('AWS::ApiGateway::Method').map(
      ([, { Integration }]) => (Integration as { Credentials?: unknown }).Credentials,
    );
    expect(new Set(credentials).size).toBe(1);
    const [[role, { Policies }] = ['', {}]] = getProperties('AWS::IAM::Role').filter(([id]) =>
      id.includes('ApiInvoker'),
    );
    expect(credentials[0]).toContain(role);
    const policies = (Policies as { PolicyDocument: Policy }[]).map(({ PolicyDocument }) =>
      policySchema.parse(PolicyDocument),
    );
    const routes = stack.api.routes;
    const mayNot = routes.filter(
      ({ function: { arn } }) => !allowsAccess(policies, { action: 'lambda:InvokeFunction', resource: arn }),
    );
    expect(mayNot.map(({ path }) => path)).toEqual([]);
    expect(routes.length).toBeGreaterThan(30);
    const permissions = getProperties('AWS::Lambda::Permission').map(
      ([, properties]) => properties as { FunctionName: string; SourceArn: string },
    );
    const source = (id: string) =>
      `arn:aws:execute-api:us-east-1:000000000000:${stack.api.id}/authorizers/${id}`;
    const asked = routes.flatMap(({ authorizer }) => (authorizer ? [authorizer] : []));
    const cannot = asked.filter(
      ({ id, function: { arn } }) =>
        !permissions.some(
          ({ FunctionName, SourceArn }) => FunctionName === arn && fits(SourceArn, source(id)),
        ),
    );
    expect(cannot).toEqual([]);
    expect(permissions).toHaveLength(new Set(asked).size);
  });

  it('answers, and refuses whoever has no key', async () => {
    expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ status: 'up' });
    const refused = await query('svc_none');
    expect(refused.status).toBe(401);
    expect(await refused.json()).toMatchObject({ detail: [{ type: 'unauthorized' }] });
  });

  it('takes the spans of the function, whose exporter knows the environment alone', async () => {
    const environment = agentEnvironment();
    await promisify(execFile)(process.execPath, [join(root, 'examples/otel-agent.ts')], {
      env: { PATH: process.env.PATH, ...environment },
    });
    const answer = await query(keyIn(environment.OTEL_EXPORTER_OTLP_HEADERS));
    const calls = (await answer.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(calls.length).toBeGreaterThan(2);
    expect(new Set(calls.map(({ svc_user_id }) => svc_user_id))).toEqual(new Set(['Shop/Agent']));
  });

  it('puts what it took on the bus and into files, which the tables, the view and the queries find', async () => {
    const answer = await query(keyIn(agentEnvironment().OTEL_EXPORTER_OTLP_HEADERS));
    const reported: string[] = (await answer.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id);
    const rows = async () => {
      await catalog.load();
      const sql = "SELECT id FROM calls WHERE project = 'acme/shop' AND day >= '2026-11-01'";
      return (await catalog.ask(database, sql)).map(({ id }) => id).toSorted();
    };
    await expect.poll(rows, { interval: 300 }).toEqual(reported.toSorted());
    const slowest = await catalog.askNamed('Slowest operations');
    expect(slowest.reduce((sum, { calls }) => sum + Number(calls), 0)).toBe(reported.length);
    const ended = () => events.filter((event) => event['detail-type'] === 'CallEnded');
    const notifiedIds = () => new Set(ended().map(({ detail }) => detail.id));
    await expect.poll(notifiedIds).toEqual(new Set(reported));
    expect(troubles).toEqual([]);
  });

  it('redacts what it stores, and says what limits leave', async () => {
    const { OTEL_EXPORTER_OTLP_HEADERS: headers = '' } = agentEnvironment();
    const authorization = `Basic ${Buffer.from(`api:${keyIn(headers)}`).toString('base64')}`;
    const ask = (path: string, body?: object) =>
      fetch(url + path, {
        headers: { authorization, 'content-type': 'application/json' },
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      });
    const start = { project_id: 'acme/shop', id: 'redacted', op_name: 'op', started_at: '2026-10-01' };
    await ask('/call/start', { start: { ...start, inputs: { to: 'ada@example.com' } } });
    const read = await ask('/call/read', { project_id: 'acme/shop', id: 'redacted' });
    expect(await read.json()).toMatchObject({
      call: { inputs: { to: expect.stringMatching(/^\[email:[\da-f]{20}\]$/) } },
    });
    expect(await (await ask('/me')).json()).toMatchObject({ limits: [] });
    await ask('/calls/delete', { project_id: 'acme/shop', call_ids: ['redacted'] });
  });

  it('answers each of its named queries', async () => {
    const names = findIds('AWS::Athena::NamedQuery').map((id) => resources[id]?.Properties?.Name);
    expect(names).toHaveLength(5);
    for (const name of names) expect(await catalog.askNamed(String(name))).toBeInstanceOf(Array);
  });

  it('changes the key without a moment in which none is good, and revokes it with the stack', async () => {
    const old = keyIn(agentEnvironment().OTEL_EXPORTER_OTLP_HEADERS);
    const { Properties = {} } = deployed.template.Resources[keyResource] ?? {};
    const maker = specs.find(({ arn }) => arn === Properties.ServiceToken);
    if (!maker) throw new Error('there is no maker of keys');
    const send = (request: Record<string, unknown>) =>
      requestCustom(
        maker,
        { LogicalResourceId: keyResource, ResourceProperties: Properties, ...request },
        places,
      );
    const [, formerId = ''] = old.split('_');
    const { PhysicalResourceId: id } = await send({ RequestType: 'Update', PhysicalResourceId: formerId });
    const changed = JSON.parse(places.secrets.readValue(String(Properties.Secret))).key;
    expect(id).not.toBe(formerId);
    expect([(await query(old)).status, (await query(changed)).status]).toEqual([200, 200]);
    await send({ RequestType: 'Delete', PhysicalResourceId: formerId });
    expect([(await query(old)).status, (await query(changed)).status]).toEqual([401, 200]);
    await send({ RequestType: 'Delete', PhysicalResourceId: id });
    expect((await query(changed)).status).toBe(401);
  });

  it('is what its README says of each type of resource', () => {
    const page = readFileSync(join(root, 'test/support/stack/rehearsal/README.md'), 'utf8');
    const documented = page.match(/^\| `(?:AWS|Custom)::.*$/gm);
    const types = Object.values(resources).map(({ Type }) => Type);
    expect(documented).toEqual(toTable(types, typesWithSchema(resources)));
  });
});

describe('the order of a deployment', () => {
  const made = (resources: Resources) => deploymentOrder(resources);

  it('follows Ref, GetAtt, Sub and DependsOn', () => {
    const resources: Resources = {
      A: { Type: 'T', Properties: { x: { 'Fn::Sub': `arn:\${B.Arn}:\${!Not}:\${AWS::Region}` } } },
      B: { Type: 'T', Properties: { x: [{ Ref: 'C' }] } },
      C: { Type: 'T', Properties: { x: { 'Fn::GetAtt': ['D', 'Arn'] } } },
      D: { Type: 'T', DependsOn: 'E' },
      E: { Type: 'T' },
    };
    expect(made(resources)).toEqual(['E', 'D', 'C', 'B', 'A']);
  });

  it('is none for a circle, or something that is not there', () => {
    const circle = { A: { Type: 'T', DependsOn: 'B' }, B: { Type: 'T', Properties: { x: { Ref: 'A' } } } };
    expect(() => made(circle)).toThrow('a circle of resources: A, B');
    expect(() => made({ A: { Type: 'T', DependsOn: ['B'] } })).toThrow('A depends on B, which is not there');
  });
});
