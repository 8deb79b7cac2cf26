import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { authenticate, getKey, parseKey } from '../../../core/foundations/auth/index.ts';
import { type Operator, useOperator } from './keys/support.ts';

const operator = useOperator();
const keys: Operator['keys'] = (argv, options) => operator().keys(argv, options);
const onTable = () => `--table ${operator().table.name}`;
const nowMicros = () => Date.now() * 1000;

/** Makes a key and gives it parsed. */
const created = async (argv: string) => {
  const { out } = await keys(`create ${argv} ${onTable()}`);
  const key = parseKey('svc', out);
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
    expect(
      await authenticate(header, 'basic', { service: 'svc', table: operator().table }, nowMicros()),
    ).toMatchObject({
      caller: {
        user: 'ada',
        grants: [
          { scope: 'acme/*', role: 'write' },
          { scope: '*', role: 'inference' },
        ],
      },
    });
  });

  it('writes only the key to standard output, and everything else to standard error', async () => {
    const argv = `create --user ada --grant acme/x:read --expires 2127-01-01 ${onTable()}`;
    const { out, err } = await keys(argv);
    const key = parseKey('svc', out);
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

  it("starts the key with the service's name from the configuration or the option", async () => {
    const configured = await mkdtemp(join(tmpdir(), 'keys-'));
    await writeFile(join(configured, 'cdk.json'), '{"context": {"serviceName": "trace"}}');
    const argv = `create --user ada --grant *:read ${onTable()}`;
    expect((await keys(argv, { root: configured })).out).toMatch(/^trace_/);
    expect((await keys(`${argv} --service other`, { root: configured })).out).toMatch(/^other_/);
    await rm(configured, { recursive: true });
  });

  it.each([
    ['no user', '--grant *:read', /--user ada/],
    ['no grant', '--user ada', /--grant 'acme\/\*:write'/],
    ['a malformed grant', '--user ada --grant acme:read', /--grant acme:read: should be <entity>/],
    ['a user with a colon', '--user a:b --grant *:read', /user should be/],
    ['an expiry that is past', '--user ada --grant *:read --expires 2020-01-01', /should be in the future/],
    ['an expiry that is none', '--user ada --grant *:read --expires soon', /--expires soon: should be days/],
    ['no days', '--user ada --grant *:read --expires 0d', /should be in the future/],
    ['a bad service name', '--user ada --grant *:read --service My', /--service My: should be/],
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
  ])('says how long the key may still be accepted if cdk.json is %s', async (json, said) => {
    const root = await mkdtemp(join(tmpdir(), 'keys-'));
    await writeFile(join(root, 'cdk.json'), json);
    const { id } = await created('--user ada --grant *:read');
    const { code, err } = await keys(`revoke ${id} ${onTable()}`, { root });
    expect({ code, err }).toEqual({ code: 0, err: expect.stringMatching(said) });
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
