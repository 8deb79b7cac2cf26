import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { freePort } from '../../../../local/stores/free-port.ts';
import { type Operator, useOperator } from './support.ts';

const operator = useOperator();
const keys: Operator['keys'] = (argv, options) => operator().keys(argv, options);

/** What a local service would have written down, with some of it changed. */
const writtenBy = (changes: object = {}) => ({
  pid: process.pid,
  service: 'svc',
  authorizerCacheSeconds: 60,
  dynamodb: operator().endpoint,
  tables: { calls: 'c', keys: operator().table.name },
  ...changes,
});

const write = (port: number, written: unknown): Promise<void> =>
  writeFile(join(operator().root, '.local', `${port}.json`), JSON.stringify(written));

describe('the local service', () => {
  let server: Server;
  let port: number;
  const local = () => `--local=${port}`;

  beforeAll(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });

  afterAll(() => new Promise((resolve) => server.close(resolve)));

  beforeEach(() => vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', 'http://127.0.0.1:1'));

  it('has its keys in the tables that it names in its file', async () => {
    await write(port, writtenBy());
    expect((await keys(`create --user ada --grant *:read ${local()}`)).code).toBe(0);
  });

  it('gives its name to a new key, and accepts no other', async () => {
    await write(port, writtenBy({ service: 'penny' }));
    const argv = `create --user ada --grant *:read ${local()}`;
    expect((await keys(argv)).out).toMatch(/^penny_/);
    expect((await keys(`${argv} --service penny`)).out).toMatch(/^penny_/);
    expect(await keys(`${argv} --service svc`)).toEqual({
      code: 1,
      out: '',
      err: `keys: --service svc: the local service on port ${port} is named penny and accepts no such key; leave --service out`,
    });
  });

  it.each([
    [7, /for up to 7 seconds/],
    [0, /No further request passes/],
  ])(
    'with a cache of %i s tells how long a revoked key may still be accepted',
    async (authorizerCacheSeconds, said) => {
      await write(port, writtenBy({ authorizerCacheSeconds }));
      const { out } = await keys(`create --user ada --grant *:read ${local()}`);
      expect((await keys(`revoke ${out.split('_')[1]} ${local()}`)).err).toMatch(said);
    },
  );

  it('is reported if it ended without removing its file', async () => {
    const { pid } = spawnSync('true');
    await write(port, writtenBy({ pid }));
    expect(await keys(`list ${local()}`)).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        `the local service on port ${port}, process ${pid}, has ended without removing`,
      ),
    });
  });

  it('is reported if another process has its id by now', async () => {
    const closed = await freePort();
    await write(closed, writtenBy());
    expect((await keys(`list --local=${closed}`)).err).toMatch(/has ended without removing .*npm start/);
  });

  it('is reported if its database does not answer', async () => {
    await write(port, writtenBy({ dynamodb: 'http://127.0.0.1:1' }));
    expect(await keys(`list ${local()}`)).toMatchObject({
      code: 1,
      err: expect.stringContaining('nothing answers'),
    });
  });

  it('is reported if its file is of another version', async () => {
    await write(port, writtenBy({ service: undefined }));
    expect((await keys(`list ${local()}`)).err).toContain('was not written by this version');
  });

  it('is named if it is on another port', async () => {
    await write(port, writtenBy());
    const { code, err } = await keys('list --local');
    expect(code).toBe(1);
    expect(err).toMatch(/no local service on port 8787 .*npm start/);
    expect(err).toContain(local());
  });
});

describe('the location of the keys', () => {
  it.each([
    ['--local=port', 2, /--local=port: should be a port/],
    ['--local=0', 2, /should be a port/],
    ['--local --table t', 2, /give one of them/],
    ['--table no-such-table', 1, /no such table/],
  ])('given as %s is an error with code %i', async (place, expected, message) => {
    const { code, err } = await keys(`list ${place}`);
    expect(code).toBe(expected);
    expect(err).toMatch(message);
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

  it('that does not exist fails, with how to name another', async () => {
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
