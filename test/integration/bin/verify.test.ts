import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listen } from 'aws-stand-in';
import { localCredentials } from 'cdk-local-runner';
import { localRegion } from 'cdk-local-runner/template';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { awsChecks, type Deployed } from '../../../bin/verify/aws.ts';
import { run } from '../../../bin/verify.ts';
import { listKeys } from '../../../foundations/auth/index.ts';
import { dynamodbClient } from '../../../foundations/storage/index.ts';
import { getTableName } from '../../../local/stack.ts';
import { temporaryFolder } from '../../support/run/project.ts';
import { startService, type TestService } from '../../support/service/service.ts';

/** Stands for the project's folder, and says where the service has its keys. */
const folder = temporaryFolder();
let service: TestService;
beforeAll(async () => {
  service = await startService();
  const { dynamodb, credentials, stack, port } = service;
  const tables = { keys: getTableName(stack, 'keys') };
  const runs = {
    pid: process.pid,
    authorizerCacheSeconds: 300,
    dynamodb,
    credentials,
    tables,
  };
  mkdirSync(join(folder, '.local'));
  writeFileSync(join(folder, '.local', `${port}.json`), JSON.stringify(runs));
});
afterAll(() => service.stop());

/** Runs the command against a URL, with the keys of a local service. */
const verify = async ({ port, url }: TestService, other = `${url}/`, ...more: string[]) => {
  const out: string[] = [];
  const err: string[] = [];
  const io = { out: (text: string) => out.push(text), err: (text: string) => err.push(text) };
  const code = await run(['--url', other, `--local=${port}`, ...more], io, folder);
  return { code, out, err };
};

const keysLeft = async ({ dynamodb, stack }: TestService): Promise<string[]> => {
  const client = dynamodbClient({ endpoint: dynamodb, region: localRegion, credentials: localCredentials });
  const keys = await listKeys({ client, name: getTableName(stack, 'keys') });
  client.destroy();
  return keys.map(({ user }) => user);
};

it('is green item by item against the local service, and leaves nothing', async () => {
  const { code, out, err } = await verify(service);
  expect(err).toEqual([]);
  expect(out.filter((line) => !line.startsWith('green  '))).toEqual([]);
  expect(out).toHaveLength(14);
  expect(code).toBe(0);
  expect(await keysLeft(service)).toEqual(['local']);
});

it('sends one request of each kind to the models that it is given', async () => {
  const { code, out } = await verify(service, undefined, '--model', 'any', '--embedding', 'small');
  expect(out.filter((line) => /any|small/.test(line))).toEqual([
    'green  any answers chat',
    'green  any answers chat as a stream',
    'green  any answers messages',
    'green  any answers messages as a stream',
    'green  any answers responses',
    'green  any answers responses as a stream',
    'green  small answers embeddings',
  ]);
  expect(code).toBe(0);
});

it('is red with what to do where something else answers', async () => {
  const other = await listen(
    0,
    Promise.resolve((req, res) => req.resume() && res.writeHead(502).end('{}')),
  );
  const { code, out } = await verify(service, `http://127.0.0.1:${other.port}`);
  await other.stop();
  expect(out.filter((line) => line.startsWith('green'))).toEqual([]);
  expect(out[1]).toMatch(/^red {4}a new key is good: 502 \{\}.* → find the request in the functions’ log/);
  expect(code).toBe(1);
  expect(await keysLeft(service)).toEqual(['local']);
});

it('says what is wrong with its arguments', async () => {
  const err: string[] = [];
  const io = { out: () => {}, err: (text: string) => err.push(text) };
  expect(await run(['--local'], io, folder)).toBe(2);
  expect(err.join()).toContain('--url: give the URL of the service');
});

/** What a stack of AWS's answers, with a death in its log or without. */
const deployed = (dead: boolean): Deployed => ({
  outputs: { ApiUrl: 'https://api.example.com/api/', AnalyticsDatabase: 'pennytrace' },
  resources: [
    ['AWS::Logs::LogGroup', 'FunctionsLogE6EDAC6C'],
    ['AWS::Lambda::Function', 'EventsFunction821C8282'],
    ['AWS::Logs::LogGroup', 'AlertsFunctionLog0A1B2C3D'],
    ['AWS::CloudWatch::Alarm', 'ObservabilityAlarmsFailures'],
  ].map(([ResourceType = '', id = '']) => ({
    ResourceType,
    LogicalResourceId: id,
    PhysicalResourceId: id,
    LastUpdatedTimestamp: undefined,
    ResourceStatus: 'CREATE_COMPLETE',
  })),
  post: async (service, _type, body, target = '') => {
    if (service === 'monitoring') return '<member><StateValue>OK</StateValue></member>';
    const action = target.split('.').at(-1);
    if (action === 'FilterLogEvents' && !body.includes('nextToken'))
      return '{"events":[],"nextToken":"more"}';
    const isDeath = body.includes('Init Error');
    const events = isDeath && !dead ? [] : [{ message: 'ERROR\tInit Error' }];
    const answers: Record<string, unknown> = {
      FilterLogEvents: { events },
      StartQueryExecution: { QueryExecutionId: 'q' },
      GetQueryExecution: { QueryExecution: { Status: { State: 'SUCCEEDED' } } },
      GetQueryResults: { ResultSet: { Rows: [{ Data: [] }, { Data: [{ VarCharValue: '75' }] }] } },
    };
    return JSON.stringify(answers[action ?? '']);
  },
});

it.each([
  [false, []],
  [true, ['no function died: ERROR\tInit Error']],
])('reads stack, log, alarms and files of AWS (with a death: %s)', async (dead, expected) => {
  const target = {
    url: 'https://api.example.com/api',
    service: 'svc',
    project: 'p/v',
    run: 'r',
    key: 'k',
    revoked: 'x',
    models: {},
  };
  const red: string[] = [];
  for (const check of awsChecks(deployed(dead)))
    await check.run(target).catch(({ message }) => red.push(`${check.name}: ${message}`));
  expect(red).toEqual(expected);
});
