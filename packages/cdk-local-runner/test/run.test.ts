import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { type Credentials, listen, newCredentials } from 'aws-stand-in';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningStack, runStack } from '../src/run.ts';
import { localRegion, toStackSpec } from '../src/template/index.ts';
import { type FixtureOptions, fixtureTemplate, writeFixture } from './fixtures/assembly.ts';

const options: FixtureOptions = { routes: [{ path: '/plain', handler: 'plain', open: true }] };

/** The fixture with a queue that wakes its function, and a queue for what that never does. */
const withQueues = () => {
  const { Resources, Outputs } = structuredClone(fixtureTemplate(options));
  const { Function0 } = Resources;
  if (!Function0) throw new Error('the fixture has no function');
  const variables = { JOBS: { Ref: 'Jobs' }, LETTERS: { Ref: 'Letters' } };
  return toStackSpec({
    stackName: 'Fixture',
    assets: new Map(
      ['authorizer', 'plain'].map((name) => [`${name}.zip`, join(import.meta.dirname, 'fixtures', name)]),
    ),
    template: {
      Outputs,
      Parameters: {},
      Resources: {
        ...Resources,
        Function0: {
          ...Function0,
          Properties: { ...Function0.Properties, Environment: { Variables: variables } },
        },
        Letters: { Type: 'AWS::SQS::Queue', Properties: {} },
        Jobs: {
          Type: 'AWS::SQS::Queue',
          Properties: { RedrivePolicy: { maxReceiveCount: 2, deadLetterTargetArn: 'unread' } },
        },
        Mapping: {
          Type: 'AWS::Lambda::EventSourceMapping',
          Properties: {
            EventSourceArn: { 'Fn::GetAtt': ['Jobs', 'Arn'] },
            FunctionName: { Ref: 'Function0' },
            FunctionResponseTypes: ['ReportBatchItemFailures'],
          },
        },
      },
    },
  } as Parameters<typeof toStackSpec>[0]);
};

describe('a stack', () => {
  let running: RunningStack;
  let url: string;
  let stopServer: () => Promise<void>;
  let sqs: SQSClient;
  const lines: string[] = [];
  const credentials: Credentials = newCredentials();
  beforeAll(async () => {
    running = await runStack({
      stack: withQueues(),
      environment: {},
      dynamodb: 'http://127.0.0.1:1',
      credentials,
      signing: { secret: credentials.secretAccessKey },
      maxVisibilityMs: 500,
      log: (source, line) => lines.push(`${source}: ${line}`),
    });
    const server = await listen(0, Promise.resolve(running.listener));
    url = `http://127.0.0.1:${server.port}`;
    stopServer = server.stop;
    sqs = new SQSClient({ region: localRegion, credentials, endpoint: running.bus.endpoint });
  });
  afterAll(async () => {
    sqs.destroy();
    await stopServer();
    await running.stop();
  });

  const environment = async (): Promise<Record<string, string>> => {
    const response = await fetch(`${url}/plain`, { method: 'POST', body: 'environment' });
    return (await response.json()) as Record<string, string>;
  };

  it('has functions that find its queues where they are', async () => {
    const { endpoint } = running.bus;
    expect(await environment()).toMatchObject({
      JOBS: `${endpoint}/000000000000/Fixture-Jobs`,
      LETTERS: `${endpoint}/000000000000/Fixture-Letters`,
      AWS_ENDPOINT_URL_SQS: endpoint,
    });
  });

  it('brings messages to the function that a queue wakes, and gives up those that it never takes', async () => {
    const { JOBS } = await environment();
    const send = (MessageBody: string) => sqs.send(new SendMessageCommand({ QueueUrl: JOBS, MessageBody }));
    await send('a job');
    await send('fail this job');
    await expect.poll(() => running.bus.letters).toEqual(['fail this job']);
    // A message comes again, too, while a slow machine is at work on it.
    const taken = new Set(lines.filter((line) => line.includes('took')));
    expect(taken).toEqual(new Set(['/plain: took a job', '/plain: took fail this job']));
  });

  it('keeps messages for queues that wake no function', async () => {
    const { LETTERS } = await environment();
    await sqs.send(new SendMessageCommand({ QueueUrl: LETTERS, MessageBody: 'a letter' }));
    expect(running.bus.letters).toContain('a letter');
  });

  it('takes no message that somebody else has signed', async () => {
    const { JOBS } = await environment();
    const stranger = new SQSClient({
      region: localRegion,
      credentials: { ...credentials, secretAccessKey: 'guessed' },
      endpoint: running.bus.endpoint,
    });
    await expect(
      stranger.send(new SendMessageCommand({ QueueUrl: JOBS, MessageBody: 'forged' })),
    ).rejects.toThrow('signed with another secret');
    stranger.destroy();
  });
});

it('The example serves an assembly until it is told to end', async () => {
  const folder = writeFixture(options);
  const example = join(import.meta.dirname, '../example/serve.ts');
  const child = spawn(process.execPath, [example, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const [url] = await once(createInterface(child.stdout), 'line');
  const response = await fetch(`${url}/plain`, { method: 'POST', body: 'environment' });
  expect(await response.json()).toMatchObject({ WHO: 'plain', TABLE: 'Fixture-Table' });
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  rmSync(folder, { recursive: true });
});
