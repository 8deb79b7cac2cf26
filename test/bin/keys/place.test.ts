import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Operator, useOperator } from './support.ts';

const operator = useOperator();
const keys: Operator['keys'] = (argv, options) => operator().keys(argv, options);

describe('the place of the keys', () => {
  it('is the local service on its port, by what that wrote down', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', 'http://127.0.0.1:1');
    const service = JSON.stringify({
      dynamodb: operator().endpoint,
      tables: { calls: 'c', keys: operator().table.name },
    });
    await writeFile(join(operator().root, '.local', '8787.json'), service);
    await writeFile(join(operator().root, '.local', '9000.json'), service);
    for (const local of ['--local', '--local=9000'])
      expect((await keys(`create --user ada --grant *:read ${local}`)).code).toBe(0);
  });

  it.each([
    ['--local=9999', 1, /no local service on port 9999 .*npm start/],
    ['--local=port', 2, /--local=port: should be a port/],
    ['--local=0', 2, /should be a port/],
    ['--local --table t', 2, /give one of them/],
    ['--table no-such-table', 1, /no such table/],
  ])('given as %s is an error with code %i', async (place, expected, message) => {
    const { code, err } = await keys(`list ${place}`);
    expect(code).toBe(expected);
    expect(err).toMatch(message);
  });

  it('that does not answer is an error that says so', async () => {
    const service = JSON.stringify({ dynamodb: 'http://127.0.0.1:1', tables: { keys: 't' } });
    await writeFile(join(operator().root, '.local', '9001.json'), service);
    expect(await keys('list --local=9001')).toMatchObject({
      code: 1,
      err: expect.stringContaining('nothing answers'),
    });
  });
});

describe('a stack', () => {
  let server: Server;
  let stacks: Record<string, string>;

  beforeAll(async () => {
    stacks = { Pennytrace: operator().table.name };
    server = createServer(async (request, response) => {
      const body = new URLSearchParams(await text(request));
      const name = body.get('StackName') ?? '';
      const found = stacks[name];
      response.writeHead(found === undefined ? 400 : 200, { 'content-type': 'text/xml' });
      response.end(found === undefined ? noStack(name) : stackWith(found));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  afterAll(() => new Promise((resolve) => server.close(resolve)));

  beforeEach(() => {
    const { port } = server.address() as AddressInfo;
    vi.stubEnv('AWS_ENDPOINT_URL_CLOUDFORMATION', `http://127.0.0.1:${port}`);
  });

  it('names the table by its output', async () => {
    stacks.Other = operator().table.name;
    expect((await keys('create --user ada --grant *:read')).code).toBe(0);
    expect((await keys('create --user ada --grant *:read --stack Other')).code).toBe(0);
  });

  it('that is not there fails, with how to name another', async () => {
    const { code, err } = await keys('list --stack Missing');
    expect(code).toBe(1);
    expect(err).toMatch(/no stack Missing in us-east-1: .*--stack NAME/);
  });

  it('without the output fails', async () => {
    stacks.Foreign = '';
    const { code, err } = await keys('list --stack Foreign');
    expect(code).toBe(1);
    expect(err).toContain('no output KeysTable');
  });
});

const xmlns = 'http://cloudformation.amazonaws.com/doc/2010-05-15/';

const stackWith = (table: string): string => {
  const output = `<member><OutputKey>KeysTable</OutputKey><OutputValue>${table}</OutputValue></member>`;
  return `<DescribeStacksResponse xmlns="${xmlns}"><DescribeStacksResult><Stacks><member>
    <StackName>s</StackName><Outputs>${table && output}</Outputs>
  </member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
};

const noStack = (name: string): string => `<ErrorResponse xmlns="${xmlns}"><Error><Type>Sender</Type>
  <Code>ValidationError</Code><Message>Stack with id ${name} does not exist</Message></Error></ErrorResponse>`;
