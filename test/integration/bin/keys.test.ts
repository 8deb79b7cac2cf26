import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { localCredentials } from 'cdk-local-runner';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { run } from '../../../bin/keys.ts';
import { queryAudit } from '../../../core/records/audit.ts';
import { authenticate, fromContext, getKey, parseKey, toContext } from '../../../foundations/auth/index.ts';
import { requestBudget, type Table } from '../../../foundations/storage/index.ts';
import { createStores } from '../../support/service/stores.ts';

/**
 * What the command left behind: its exit code, and what it wrote, line ends at the very end aside.
 */
interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The command for keys on a table of its own, in a project folder of its own. */
interface Operator {
  readonly table: Table;
  /** The audit trail beside it. */
  readonly audit: Table;
  /** The URL of the table's DynamoDB, which the environment names as well. */
  readonly endpoint: string;
  /** Stands for the project's folder; has an empty `.local/`. */
  readonly root: string;
  /** Runs the command with the arguments, which spaces separate. */
  readonly keys: (argv: string, options?: { interactive?: boolean; root?: string }) => Promise<Result>;
}

/** Makes an operator for the tests of one file, with an operator's environment in each of them. */
const useOperator = (): (() => Operator) => {
  let operator: Operator | undefined;

  beforeAll(async () => {
    const { dynamodb, keysTable, auditTable } = await createStores();
    const url = await dynamodb.config.endpoint?.();
    if (!url) throw new Error('the test stores have no endpoint of their own');
    const endpoint = `${url.protocol}//${url.hostname}:${url.port}`;
    const root = await mkdtemp(join(tmpdir(), 'keys-'));
    await mkdir(join(root, '.local'));
    const audit = { client: dynamodb, name: auditTable };
    operator = { table: { client: dynamodb, name: keysTable }, audit, endpoint, root, keys: runIn(root) };
  });

  beforeEach(() => {
    vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', operator?.endpoint);
    vi.stubEnv('AWS_REGION', 'us-east-1');
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  });

  afterEach(() => {
    vi.unstubAllEnvs();
  });

  afterAll(async () => {
    if (operator) await rm(operator.root, { recursive: true });
  });

  return () => {
    if (!operator) throw new Error('the operator is there once the tests run');
    return operator;
  };
};

const runIn =
  (project: string): Operator['keys'] =>
  async (argv, { interactive = false, root = project } = {}) => {
    const out: string[] = [];
    const err: string[] = [];
    const code = await run(argv.split(' '), {
      out: (line) => out.push(line),
      err: (line) => err.push(line),
      interactive,
      root,
    });
    return { code, out: out.join('\n'), err: err.join('\n') };
  };

const operator = useOperator();
const keys: Operator['keys'] = (argv, options) => operator().keys(argv, options);
const onTable = () => `--table ${operator().table.name}`;
const nowMicros = () => Date.now() * 1000;

/** Makes a key and gives it parsed. */
const created = async (argv: string) => {
  const { out } = await keys(`create ${argv} ${onTable()}`);
  const key = parseKey(out);
  if (!key) throw new Error('no key was made');
  return key;
};

describe('create', () => {
  it('makes a key that the service accepts for its user and grants', async () => {
    const { code, out } = await keys(
      `create --user ada --grant acme/*:write --grant *:inference ${onTable()}`,
    );
    expect(code).toBe(0);
    const header = `Basic ${btoa(`ada:${out}`)}`;
    expect(await authenticate(header, 'basic', { table: operator().table }, nowMicros())).toMatchObject({
      caller: {
        user: 'ada',
        grants: [
          { scope: 'acme/*', role: 'write' },
          { scope: '*', role: 'inference' },
        ],
      },
    });
  });

  it('grants a role something without a key, in place of what it was granted before', async () => {
    const role = '--role arn:aws:iam::123456789012:role/service/agent';
    const { code, out, err } = await keys(`create ${role} --grant acme/shop:write ${onTable()}`);
    expect(code).toBe(0);
    expect(out).toMatch(/^[0-9a-z]{16}$/);
    expect(err).toContain('user     arn:aws:iam::123456789012:role/agent');
    expect((await keys(`create ${role} --grant acme/other:read ${onTable()}`)).out).toBe(out);
    expect(await getKey(operator().table, out)).toMatchObject({
      user: 'arn:aws:iam::123456789012:role/agent',
      grants: [{ scope: 'acme/other', role: 'read' }],
    });
    expect((await keys(`list ${onTable()}`)).out).toMatch(/active +arn:aws:iam::/);
    expect((await keys(`revoke ${out} ${onTable()}`)).code).toBe(0);
    expect((await keys(`list --json ${onTable()}`)).out).toContain('"state": "revoked"');
  });

  it.each([
    ['--role arn:aws:iam::123456789012:user/ada', 'should be the ARN of an IAM role'],
    ['--role arn:aws:iam::1:role/agent', 'should be the ARN of an IAM role'],
    ['--role arn:aws:iam::123456789012:role/agent --user ada', 'give one of them'],
    ['--user arn:aws:iam::123456789012:role/agent', 'without colon'],
  ])('refuses %s', async (who, message) => {
    const { code, err } = await keys(`create ${who} --grant acme/x:read ${onTable()}`);
    expect(code).toBe(2);
    expect(err).toContain(message);
  });

  it('keeps what a key may spend, and lists it', async () => {
    const argv = `create --user lim --grant *:inference --usd-per-day 5 --usd-per-month 0.50 ${onTable()}`;
    const { out, err } = await keys(argv);
    expect(err).toContain('limits   $5 a day, $0.5 a month');
    const store = { table: operator().table };
    const { caller } = {
      caller: undefined,
      ...(await authenticate(`Bearer ${out}`, 'bearer', store, nowMicros())),
    };
    expect(caller?.limits).toEqual({ usdPerDay: 5, usdPerMonth: 0.5 });
    expect(caller && fromContext(toContext(caller))).toEqual(caller);
    expect((await keys(`list ${onTable()}`)).out).toContain('$5 a day, $0.5 a month');
    expect((await keys(`list --json ${onTable()}`)).out).toContain('"usd_per_day": 5');
  });

  it.each(['0', '-1', 'five', '1e3', '1000001'])('refuses a limit of %s dollars', async (usd) => {
    const { code, err } = await keys(
      `create --user lim --grant *:inference --usd-per-day=${usd} ${onTable()}`,
    );
    expect(code).toBe(2);
    expect(err).toMatch(/should be (dollars|above 0)/);
  });

  it('writes only the key to standard output, and everything else to standard error', async () => {
    const argv = `create --user ada --grant acme/x:read --expires 2127-01-01 ${onTable()}`;
    const { out, err } = await keys(argv);
    const key = parseKey(out);
    expect(key).toBeDefined();
    expect(err).toContain(key?.id);
    expect(err).toContain('acme/x:read');
    expect(err).toContain('2127-01-01 00:00:00Z');
    expect(err).toContain('-u "api:$KEY"');
    expect(err).not.toContain(key?.secret);
  });

  it('shows at a terminal a curl option with the key for each scheme of its grants', async () => {
    const argv = `create --user ada --grant *:inference ${onTable()}`;
    const { out, err } = await keys(argv, { interactive: true });
    expect(err).toContain(`-H "Authorization: Bearer ${out}"`);
    expect(err).not.toContain('-u ');
  });

  it('counts days of expiry from now', async () => {
    const before = nowMicros();
    const { id } = await created('--user ada --grant *:read --expires 90d');
    const expiresAt = (await getKey(operator().table, id))?.expiresAt;
    const ninetyDays = 90 * 86_400_000_000;
    expect(expiresAt).toBeGreaterThanOrEqual(before + ninetyDays);
    expect(expiresAt).toBeLessThanOrEqual(nowMicros() + ninetyDays);
  });

  it('accepts an ISO 8601 time of expiry', async () => {
    const { id } = await created('--user ada --grant *:read --expires 2127-01-01T01:00:00+01:00');
    expect((await getKey(operator().table, id))?.expiresAt).toBe(Date.UTC(2127, 0, 1) * 1000);
  });

  it('starts each key with the name of the service, and knows no option for another', async () => {
    const argv = `create --user ada --grant *:read ${onTable()}`;
    expect((await keys(argv)).out).toMatch(/^svc_/);
    expect((await keys(`${argv} --service weave`)).err).toMatch(/'--service'/);
  });

  it.each([
    ['no user', '--grant *:read', /--user ada/],
    ['no grant', '--user ada', /--grant 'acme\/\*:write'/],
    ['a malformed grant', '--user ada --grant acme:read', /--grant acme:read: should be <entity>/],
    ['a user with a colon', '--user a:b --grant *:read', /user should be/],
    ['an expiry that is past', '--user ada --grant *:read --expires 2020-01-01', /should be in the future/],
    ['an expiry that is none', '--user ada --grant *:read --expires soon', /--expires soon: should be days/],
    ['no days', '--user ada --grant *:read --expires 0d', /should be in the future/],
    ['a stray argument', '--user ada --grant *:read more', /'more'/],
    ['an unknown option', '--user ada --grant *:read --force', /'--force'/],
  ])('refuses %s with exit code 2 and makes nothing', async (_, argv, message) => {
    const { code, out, err } = await keys(`create ${argv} --table no-such-table`);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(message);
  });
});

describe('list', () => {
  it('shows each key with its state, user and grants', async () => {
    const key = await created('--user grace --grant acme/x:read --expires 2127-01-01');
    const { code, out } = await keys(`list ${onTable()}`);
    expect(code).toBe(0);
    expect(out.split('\n').find((line) => line.startsWith(key.id))).toMatch(
      / active +grace +\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}Z {2}2127-01-01 00:00:00Z {2}acme\/x:read$/,
    );
  });

  it('prints JSON for scripts, without digests', async () => {
    const key = await created('--user ada --grant acme/x:read');
    await keys(`revoke ${key.id} ${onTable()}`);
    const { out } = await keys(`list --json ${onTable()}`);
    const entry = (JSON.parse(out) as { id: string }[]).find(({ id }) => id === key.id);
    expect(entry).toEqual({
      id: key.id,
      state: 'revoked',
      user: 'ada',
      grants: ['acme/x:read'],
      created_at: expect.stringMatching(/Z$/),
      expires_at: null,
      revoked_at: expect.stringMatching(/Z$/),
      usd_per_day: null,
      usd_per_month: null,
    });
  });
});

describe('revoke', () => {
  it('ends a key, and may be repeated', async () => {
    const key = await created('--user ada --grant *:read');
    expect((await keys(`revoke ${key.id} ${onTable()}`)).code).toBe(0);
    expect((await keys(`revoke ${key.id} ${onTable()}`)).code).toBe(0);
    expect((await getKey(operator().table, key.id))?.revokedAt).toBeDefined();
  });

  it.each([
    ['{}', /for up to 60 seconds, .* authorizerCacheSeconds/],
    ['{"context": {"authorizerCacheSeconds": 5}}', /for up to 5 seconds/],
    ['{"context": {"authorizerCacheSeconds": "0"}}', /No further request passes with it/],
    ['{"context": {"authorizerCacheSeconds": -1}}', /for as long as authorizerCacheSeconds says/],
  ])('says how long the key may still be accepted if cdk.json is %s', async (json, message) => {
    const root = await mkdtemp(join(tmpdir(), 'keys-'));
    await writeFile(join(root, 'cdk.json'), json);
    const { id } = await created('--user ada --grant *:read');
    const { code, err } = await keys(`revoke ${id} ${onTable()}`, { root });
    expect({ code, err }).toEqual({ code: 0, err: expect.stringMatching(message) });
    await rm(root, { recursive: true });
  });

  it('fails for an unknown id', async () => {
    const { code, err } = await keys(`revoke zzzzzzzzzzzzzzzz ${onTable()}`);
    expect(code).toBe(1);
    expect(err).toContain('no key zzzzzzzzzzzzzzzz');
  });

  it('refuses a complete key without repeating it', async () => {
    const whole = `svc_zzzzzzzzzzzzzzzz_${'0'.repeat(64)}`;
    const { code, err } = await keys(`revoke ${whole} ${onTable()}`);
    expect(code).toBe(2);
    expect(err).not.toContain(whole);
  });

  it('requires one id', async () => {
    expect((await keys(`revoke ${onTable()}`)).code).toBe(2);
  });
});

describe('the program', () => {
  const program = (...argv: string[]) =>
    spawnSync(process.execPath, ['bin/keys.ts', ...argv], { encoding: 'utf8', env: process.env });

  it('explains itself with --help', () => {
    const { status, stdout, stderr } = program('--help');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('npm run keys -- create');
    // Outside of quotes a shell may take a star for names of files.
    expect(stdout.replaceAll(/'[^']*'|keep a \* from/g, '')).not.toContain('*');
  });

  it('requires a command', () => {
    const { status, stderr } = program();
    expect(status).toBe(2);
    expect(stderr).toContain('should be create, list or revoke');
  });

  it('makes a key that a script can capture', () => {
    const { status, stdout } = program(
      'create',
      '--user',
      'ada',
      '--grant',
      '*:read',
      '--table',
      operator().table.name,
    );
    expect(status).toBe(0);
    expect(stdout).toMatch(/^svc_[0-9a-z]{16}_[0-9a-f]{64}\n$/);
  });
});

/** What a local service would have written down, with some of it changed. */
const writtenBy = (changes: object = {}) => ({
  pid: process.pid,
  authorizerCacheSeconds: 60,
  dynamodb: operator().endpoint,
  credentials: localCredentials,
  tables: { calls: 'c', keys: operator().table.name, audit: operator().audit.name },
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

  it.each([
    [7, /for up to 7 seconds/],
    [0, /No further request passes/],
  ])(
    'with a cache of %i s tells how long a revoked key may still be accepted',
    async (authorizerCacheSeconds, message) => {
      await write(port, writtenBy({ authorizerCacheSeconds }));
      const { out } = await keys(`create --user ada --grant *:read ${local()}`);
      expect((await keys(`revoke ${out.split('_')[1]} ${local()}`)).err).toMatch(message);
    },
  );

  const trail = (scope: 'audited/*' | '*') =>
    queryAudit(
      operator().audit,
      { scope, start: 0, end: Number.MAX_SAFE_INTEGER, limit: 10 },
      requestBudget(20_000),
    );

  it('has what is made and revoked on its audit trail', async () => {
    await write(port, writtenBy());
    const role = 'arn:aws:iam::123456789012:role/agent';
    const { out, err } = await keys(`create --user ada --grant audited/x:read ${local()}`);
    expect(err).not.toContain('audit trail');
    const id = out.split('_')[1];
    await keys(`create --role ${role} --grant audited/x:write ${local()}`);
    await keys(`revoke ${id} ${local()}`);
    // The same again changes nothing.
    await keys(`revoke ${id} ${local()}`);
    const actor = { kind: 'operator', user: 'local' };
    expect(await trail('audited/*')).toMatchObject([
      { action: 'key.revoke', target: id, before: { user: 'ada', grants: ['read'] }, actor },
      { action: 'key.create', after: { user: role, grants: ['write'] }, actor },
      { action: 'key.create', target: id, project_id: 'audited/x', address: null, actor },
    ]);
  });

  it('makes keys without an audit trail, too, and says so', async () => {
    await write(port, writtenBy({ tables: { keys: operator().table.name } }));
    const { code, err } = await keys(`create --user ada --grant audited/y:read ${local()}`);
    expect(code).toBe(0);
    expect(err).toContain('This is not on the audit trail');
  });

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

  it('is reported if its database does not answer', async () => {
    await write(port, writtenBy({ dynamodb: 'http://127.0.0.1:1' }));
    expect(await keys(`list ${local()}`)).toMatchObject({
      code: 1,
      err: expect.stringContaining('nothing answers'),
    });
  });

  it('is reported if its file is of another version', async () => {
    await write(port, writtenBy({ tables: undefined }));
    expect((await keys(`list ${local()}`)).err).toContain('was not written by this version');
  });

  it('is missed if it is on another port', async () => {
    await write(port, writtenBy());
    const { code, err } = await keys('list --local');
    expect(code).toBe(1);
    expect(err).toMatch(/no local service on port 8787 .*npm start/);
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
