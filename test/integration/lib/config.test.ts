import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isKeyed } from '../../../api/endpoint.ts';
import { allRoutes } from '../../../api/routes.ts';
import { readConfig, SettingsError, settings } from '../../../lib/config.ts';
import { cdkContext, root } from '../../support/run/project.ts';
import { everySetting } from '../../support/stack/every-setting.ts';

const defaults = {
  stackName: 'Pennytrace',
  shards: [4],
  keepData: true,
  keepFeedback: false,
  auditDays: 365,
  iam: false,
  xray: false,
  authorizerCacheSeconds: 60,
  throttleRate: 1000,
  throttleBurst: 2000,
  openThrottleRate: 50,
  openThrottleBurst: 200,
  queryTimeoutSeconds: 300,
  inferenceTimeoutSeconds: 900,
  logRetentionDays: 30,
  runbookUrl: 'docs/operations.md',
  accountLogRole: true,
  readStreams: true,
};

const domain = {
  name: 'tracing.example.com',
  certificate: 'arn:aws:acm:eu-west-1:123456789012:certificate/01234567-0000-0000-0000-000000000000',
};

const email = { name: 'e', builtin: 'email', action: 'label' };

const getMessage = (context: Record<string, unknown>): string => {
  try {
    readConfig(context);
  } catch (error) {
    if (error instanceof SettingsError) return error.message;
    throw error;
  }
  throw new Error('the settings were accepted');
};

describe('the settings', () => {
  it('each have a default or are absent', () => {
    expect(readConfig({})).toEqual(defaults);
  });

  it('are the defaults in cdk.json', () => {
    expect(readConfig(cdkContext)).toEqual(defaults);
  });

  it('ignore CDK’s own settings and nulls', () => {
    const context = {
      '@aws-cdk/core:x': true,
      'aws:cdk:y': [],
      'vpc-provider:z': {},
      'cli-telemetry': false,
    };
    expect(readConfig({ ...context, retentionDays: null })).toEqual(defaults);
  });

  it.each([
    ['retentionDays', '30', 30],
    ['keepData', 'false', false],
    ['keepData', 'true', true],
    ['xray', 'true', true],
    ['shards', '8', [8]],
    ['shards', 8, [8]],
    ['shards', '4,16', [4, 16]],
    ['authorizerCacheSeconds', '0', 0],
    ['logRetentionDays', '7', 7],
    ['alarmEmail', 'ops@example.com', 'ops@example.com'],
    ['routeMetrics', '/call/start,/call/end', ['/call/start', '/call/end']],
    ['routeMetrics', ['/call/start'], ['/call/start']],
    ['analytics', 'true', { scanLimitGb: 10 }],
    ['analytics', '{"keepDays": 30}', { scanLimitGb: 10, keepDays: 30 }],
    ['analytics', { bucket: 'former-files' }, { scanLimitGb: 10, bucket: 'former-files' }],
    ['readStreams', 'false', false],
    ['billing', 'provisioned', { minUnits: 5, maxUnits: 4000, targetPercent: 70 }],
    ['billing', 'onDemand', undefined],
    ['billing', '{"minUnits": 50}', { minUnits: 50, maxUnits: 4000, targetPercent: 70 }],
    ['evaluators', 'true', { concurrency: 10 }],
    ['alerts', 'true', {}],
    ['alerts', { url: 'https://tracing.example.com' }, { url: 'https://tracing.example.com' }],
    ['redact', '[{"name": "e", "builtin": "email", "action": "label"}]', [email]],
    ['redact', [], undefined],
    ['corsOrigins', ['https://app.example.com'], ['https://app.example.com']],
    ['corsOrigins', '["https://app.example.com"]', ['https://app.example.com']],
    [
      'corsOrigins',
      'https://app.example.com:8443,http://localhost:3000,http://[::1]:3000',
      ['https://app.example.com:8443', 'http://localhost:3000', 'http://[::1]:3000'],
    ],
    ['corsOrigins', ['https://a.example', 'https://a.example'], ['https://a.example']],
    ['corsOrigins', [], undefined],
    ['environmentSources', '{"*": {"ci": "test"}}', { '*': { ci: 'test' } }],
    [
      'environmentSources',
      { 'acme/shop': { ci: 'test', eval: 'evaluation' }, 'acme/*': { qa: 'test' } },
      { 'acme/shop': { ci: 'test', eval: 'evaluation' }, 'acme/*': { qa: 'test' } },
    ],
    ['environmentSources', {}, undefined],
    ['limits', 'true', { unpriced: 'refuse' }],
    ['limits', { unpriced: 'dearest' }, { unpriced: 'dearest' }],
    ['pointInTimeRecovery', 'false', false],
    [
      'signIn',
      '{"issuer": "https://a.example/", "clientId": "x", "admins": ["group:Ops"]}',
      {
        issuer: 'https://a.example/',
        clientId: 'x',
        token: 'access',
        scopes: ['openid', 'email', 'profile'],
        admins: ['group:Ops'],
      },
    ],
    [
      'signIn',
      { cognito: { domainPrefix: 'acme' }, admins: ['ada@example.com'] },
      { cognito: { domainPrefix: 'acme', providers: [] }, admins: ['ada@example.com'] },
    ],
    ['tags', '{"team": "tracing"}', { team: 'tracing' }],
    ['private', '{"vpcEndpointIds": ["vpce-01234567"]}', { vpcEndpointIds: ['vpce-01234567'] }],
    [
      'private',
      { vpcEndpointIds: ['vpce-01234567', 'vpce-01234567'] },
      { vpcEndpointIds: ['vpce-01234567'] },
    ],
    ['domain', { ...domain, name: 'tracing.xn--p1ai' }, { ...domain, name: 'tracing.xn--p1ai' }],
    ['domain', JSON.stringify(domain), domain],
    ['events', 'true', { bus: 'default', payloads: false }],
    ['events', { bus: 'agents' }, { bus: 'agents', payloads: false }],
    ['events', '{"payloads": true}', { bus: 'default', payloads: true }],
    ['routeMetrics', 'all', [...new Set(allRoutes.filter(isKeyed).map(({ path }) => path))]],
  ])('read %s from %j, as JSON or the command line gives it', (name, given, read) => {
    expect(readConfig({ [name]: given })).toEqual({ ...defaults, [name]: read });
  });

  it.each(Object.entries(everySetting).filter(([, value]) => value !== undefined))(
    'take %s = %j',
    (name, value) => {
      // One of them is only for those who have another.
      expect(readConfig({ alarmEmail: everySetting.alarmEmail, [name]: value })).toHaveProperty(name);
    },
  );

  it.each(Object.keys(settings.shape))('refuse a %s that is none, and say what to write', (name) => {
    const problem = new RegExp(`^setting ${name}(\\[0\\])?( is "#")?: write `);
    expect(getMessage({ [name]: '#' })).toMatch(problem);
  });

  it.each([
    ['stackName', '9lives', 'write a letter'],
    ['shards', '3', 'write a power of two'],
    ['shards', '4;16', 'write a power of two'],
    ['shards', '4,4', 'write a power of two'],
    ['shards', '', 'write a power of two'],
    ['shards', '512', 'write a power of two'],
    ['retentionDays', '0', 'write a whole number from 1 to 36500'],
    ['retentionDays', '1.5', 'write a whole number from 1 to 36500'],
    ['retentionDays', 'forever', 'write a whole number from 1 to 36500'],
    ['keepData', 'yes', 'write true or false'],
    ['authorizerCacheSeconds', 3601, 'write a whole number from 0 to 3600'],
    ['throttleRate', -1, 'write a whole number from 1 to 10000'],
    ['firewallRatePerAddress', 9, 'write a whole number from 10 to 1000000'],
    ['queryTimeoutSeconds', 29, 'write a whole number from 30 to 900'],
    ['inferenceTimeoutSeconds', 901, 'write a whole number from 30 to 900'],
    ['logRetentionDays', 31, 'write one of 1, 3, 5, 7, 14, 30'],
    ['alarmEmail', 'nobody', 'write an e-mail address'],
    ['accountLogRole', 1, 'write true or false'],
    ['analytics', { bucket: 'former-files', keepDays: 9 }, 'leave keepDays out beside bucket'],
    ['runbookUrl', 'docs/operations.md#alarms', 'write the path or the URL of the operations page'],
    ['routeMetrics', true, 'write all, or paths of routes'],
    ['routeMetrics', '/call/begin', 'write all, or some of /call/start, '],
    ['analytics', 'yes', 'write true, or {"scanLimitGb"'],
    ['billing', 'cheap', 'write onDemand, provisioned, or {"minUnits"'],
    ['evaluators', 'yes', 'write true, or {"concurrency": 10}'],
    ['alerts', 'yes', 'write true, or {"url"'],
    ['limits', 'yes', 'write true, or {"unpriced"'],
    ['events', 'yes', 'write true, or {"bus"'],
    ['redact', 'all', 'write a list of rules: '],
    ['redact', [email, { ...email, builtin: 'card' }], 'give each rule a name of its own'],
    ['redact', [email, { ...email, name: 'f' }], 'write one rule without paths for each built-in form'],
    ['domain', 'tracing.example.com', 'write {"name": "tracing.example.com", "certificate"'],
    ['private', true, 'write {"vpcEndpointIds"'],
    ['tags', 'team', 'write keys and values: {"team": "tracing"}'],
    ['monthlyBudget', 50, 'write an alarmEmail too'],
  ])('refuse %s = %j and say what to write', (name, value, advice) => {
    expect(getMessage({ [name]: value })).toContain(`setting ${name} is ${JSON.stringify(value)}: ${advice}`);
  });

  it.each([
    [{ domain: { ...domain, name: 'https://tracing.example.com' } }, 'write a domain name in lower case'],
    [{ domain: { ...domain, certificate: 'mine' } }, 'write the ARN of a certificate'],
    [{ domain, private: { vpcEndpointIds: ['vpce-01234567'] } }, 'leave it out with private'],
    [{ private: { vpcEndpointIds: [] } }, 'write at least one id of a VPC endpoint'],
    [{ private: { vpcEndpointIds: ['vpc-01234567'] } }, 'write the id of a VPC endpoint'],
    [{ tags: { 'aws:team': 'x' } }, 'does not begin with aws:'],
    [{ tags: { 'AWS:team': 'x' } }, 'does not begin with aws:'],
    [{ tags: { Team: 'a', team: 'b' } }, 'write each key once'],
    [{ tags: { team: 'a|b' } }, 'write at most 256 letters'],
  ])('refuse %j and say what to write', (given, advice) => {
    expect(getMessage(given)).toContain(advice);
  });

  it.each([
    '*',
    'null',
    '',
    'app.example.com',
    'https://app.example.com/',
    'https://App.example.com',
    'https://app.example.com:443',
    'https://*.example.com',
    'https://a.example https://b.example',
    'http://app.example.com',
    'https://ada@app.example.com',
    'https://app.example.com?',
    'file:///x',
  ])('refuse the origin %j, which no browser sends, or too many could', (origin) => {
    for (const given of [origin, [origin], ['https://a.example', origin]])
      expect(getMessage({ corsOrigins: given })).toMatch(/^setting corsOrigins\[[01]\].*: write an origin/);
  });

  it.each([
    [true, 'write a list of origins'],
    [Array.from({ length: 21 }, (_, i) => `https://a${i}.example`), 'write at most 20'],
    [Array.from({ length: 20 }, (_, i) => `https://${'a'.repeat(150)}.b${i}.example`), 'write less'],
  ])('refuse the origins %j', (given, advice) => {
    expect(getMessage({ corsOrigins: given })).toContain(advice);
  });

  it.each([
    [{ ci: 'test' }, 'write sources by environment: {"ci": "test"}'],
    [{ shop: { ci: 'test' } }, 'write projects, "<entity>/*" or "*" as keys'],
    [{ '*': { ci: 'tests' } }, 'write one of production, evaluation, judge, trial, playground, test'],
    ['ci', 'write sources by project and environment'],
  ])('refuse the sources of environments %j', (given, advice) => {
    expect(getMessage({ environmentSources: given })).toContain(advice);
  });

  it.each([
    [{ name: 'a', builtin: 'email' }, '[0]["action"]: write one of label, hash, drop'],
    [
      { name: 'A b', builtin: 'email', action: 'drop' },
      '[0]["name"] is "A b": write 1 to 32 lower-case letters',
    ],
    [{ name: 'a', builtin: 'mail', action: 'drop' }, '[0]["builtin"] is "mail": write one of email, phone, '],
    [
      { name: 'a', pattern: '(?=x)', action: 'drop' },
      '[0]["pattern"] is "(?=x)": write a regular expression in RE2',
    ],
    [{ name: 'a', pattern: 'x*', action: 'drop' }, 'write a pattern that does not match the empty text'],
    [{ name: 'a', builtin: 'card', pattern: 'x', action: 'drop' }, 'write builtin or pattern, not both'],
    [
      { name: 'a', action: 'drop' },
      'write what to look for (builtin or pattern), or the paths of whole fields',
    ],
    [
      { name: 'a', paths: ['input.a'], action: 'drop' },
      'write a path that begins with one of inputs, output, ',
    ],
    [{ name: 'a', paths: ['inputs..a'], action: 'drop' }, 'write a path without an empty step'],
    [{ name: 'a', paths: [], action: 'drop' }, 'write at least one path, or leave paths out'],
    [
      { name: 'a', paths: ['val._type'], action: 'drop' },
      'write a path without _type, which says of what class',
    ],
    [{ ...email, colour: 'red' }, 'has colour: there is no such field'],
  ])('refuse the rule of redaction %j and say what to write', (rule, advice) => {
    const message = getMessage({ redact: [rule] });
    expect(message).toContain('setting redact');
    expect(message).toContain(advice);
  });

  const client = { issuer: 'https://a.example', clientId: 'x', admins: ['ada@example.com'] };
  const pool = { cognito: { domainPrefix: 'acme' }, admins: ['ada@example.com'] };

  it.each([
    [true, 'write {"issuer": "https://login.example.com/realms/main"'],
    [{ ...client, issuer: undefined }, '["issuer"]: write the URL of the issuer'],
    [{ ...client, issuer: 'http://a.example' }, 'https, without user, query or fragment'],
    [{ ...client, issuer: 'http://127.0.0.1:8080' }, 'https, without user, query or fragment'],
    [{ ...client, issuer: 'https://a.example?tenant=1' }, 'https, without user, query or fragment'],
    [{ ...client, issuer: 'https://me:pw@a.example' }, 'https, without user, query or fragment'],
    [{ ...client, clientId: 'a b' }, 'write the id of the client at the issuer'],
    [{ ...client, clientSecret: 'x' }, 'has clientSecret: there is no such field'],
    [{ ...client, token: 'both' }, 'write access or id'],
    [{ ...client, scopes: ['email'] }, 'write openid among them'],
    [{ ...client, scopes: 'openid email' }, 'write a list of scopes'],
    [{ ...client, scopes: ['openid email'] }, 'write a scope without spaces'],
    [{ ...client, groupsClaim: '' }, 'write the name of a claim'],
    [{ ...client, admins: [] }, 'write at least one, who can then give rights to others'],
    [{ ...client, admins: ['ada'] }, 'should be an e-mail address'],
    [{ ...client, admins: Array.from({ length: 21 }, (_, i) => `a${i}@b.c`) }, 'write at most 20'],
    [{ ...pool, cognito: true }, 'write {"domainPrefix": "acme-traces"}'],
    [{ ...pool, cognito: { domainPrefix: 'my-aws' } }, 'without aws, amazon or cognito'],
    [{ ...pool, cognito: { domainPrefix: 'Acme' } }, 'write 1 to 63 lower-case letters'],
    [{ ...pool, issuer: 'https://a.example' }, 'has issuer: there is no such field'],
    [{ ...pool, cognito: { domainPrefix: 'acme', providers: ['a b'] } }, 'write the name of an identity'],
  ])('refuse the sign-in %j and say what to write', (signIn, advice) => {
    const message = getMessage({ signIn });
    expect(message).toContain('setting signIn');
    expect(message).toContain(advice);
  });

  it.each([
    [{ minUnits: 0 }, 'write a whole number from 1 to 40000'],
    [{ targetPercent: 95 }, 'write a whole number from 20 to 90'],
    [{ minUnits: 100, maxUnits: 50 }, 'write at least as many units as minUnits'],
    [{ units: 3 }, 'has units: there is no such field'],
  ])('refuse the billing %j and say what to write', (billing, advice) => {
    expect(getMessage({ billing })).toContain(advice);
  });

  it('refuse the dialect that there was once, and say where Weave’s SDKs are served now', () => {
    for (const dialect of ['weave', 'svc'])
      expect(getMessage({ dialect })).toContain(
        'setting dialect is gone, take it out: Weave’s SDKs are served below',
      );
  });

  it('measure routes of Weave’s door, too', () => {
    const routeMetrics = ['/call/start', '/weave/{proxy+}'];
    expect(readConfig({ routeMetrics }).routeMetrics).toEqual(routeMetrics);
  });

  it('refuse an unknown name and list the known ones', () => {
    const message = getMessage({ retentiondays: 30 });
    expect(message).toContain('unknown setting retentiondays');
    expect(message).toContain('retentionDays');
  });

  it('report all problems at once, one per line', () => {
    expect(getMessage({ keepData: 'no', shards: 5, colour: 'red' }).split('\n')).toHaveLength(3);
  });
});

describe('docs/configuration.md', () => {
  const lines = readFileSync(join(root, 'docs/configuration.md'), 'utf8').split('\n');
  const rows = lines.flatMap((line) => {
    const [, name, byDefault, write = ''] =
      /^\| `(\w+)`\s+\| (?:`([^`]+)`|none[^|]*) \| ([^|]*)/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, byDefault, write }];
  });

  it('has a row for each setting and no other', () => {
    expect(rows.map(({ name }) => name).sort()).toEqual(Object.keys(settings.shape).sort());
  });

  it('names the effective defaults', () => {
    const documented = rows.flatMap(({ name, byDefault }) =>
      byDefault === undefined ? [] : [[name, byDefault]],
    );
    const actual = Object.entries(readConfig({})).map(([name, value]) => [name, String(value)]);
    expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(actual));
  });

  it('names the bounds that are checked', () => {
    const bounds = rows.flatMap(({ name, write }) => {
      const [bound] = /a whole number from \d+ to \d+/.exec(write) ?? [];
      return bound === undefined ? [] : [[name, bound] as const];
    });
    expect(bounds.length).toBeGreaterThan(8);
    for (const [name, bound] of bounds) expect(getMessage({ [name]: -1 }), name).toContain(`write ${bound}`);
  });
});
