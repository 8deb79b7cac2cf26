import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readLocalSettings } from '../../../local/settings.ts';

describe('the settings', () => {
  it('have these defaults', () => {
    expect(readLocalSettings({})).toEqual({ port: 8787, demo: true, verbose: false, settings: {} });
  });

  it('come from the environment', () => {
    const settings = readLocalSettings({
      PORT: '0',
      LOCAL_KEY: 'svc_key',
      DEMO: '0',
      DATA_DIR: '/data',
      AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:8000',
      AWS_ENDPOINT_URL_S3: 'http://localhost:9000',
      AWS_ENDPOINT_URL_STS: 'http://localhost:9001',
      IAM: '1',
      INFERENCE_BASE_URL: 'https://api.openai.com/v1',
      INFERENCE_API_KEY: 'sk-key',
      LOG: '1',
      EVENTS: '1',
      ANALYTICS: 'on',
      REDACT: '[]',
      CORS_ORIGINS: 'http://localhost:3000',
      ENVIRONMENT_SOURCES: '{"*": {"ci": "test"}}',
    });
    expect(settings).toEqual({
      port: 0,
      key: 'svc_key',
      demo: false,
      dataDir: '/data',
      dynamodb: 'http://127.0.0.1:8000',
      s3: 'http://127.0.0.1:9000',
      sts: 'http://127.0.0.1:9001',
      inference: { baseUrl: 'https://api.openai.com/v1', key: 'sk-key' },
      verbose: true,
      settings: {
        events: true,
        analytics: true,
        iam: true,
        redact: '[]',
        corsOrigins: 'http://localhost:3000',
        environmentSources: '{"*": {"ci": "test"}}',
      },
    });
  });

  it('may name hosts, in whatever case and with spaces', () => {
    expect(readLocalSettings({ ALLOWED_HOSTS: 'Host.docker.internal, box' })).toMatchObject({
      hosts: ['host.docker.internal', 'box'],
    });
  });

  it('may name an address for others, who then need a key of the operator', () => {
    const key = `svc_${'a'.repeat(16)}_${'b'.repeat(64)}`;
    expect(readLocalSettings({ HOST: '0.0.0.0', LOCAL_KEY: key })).toMatchObject({ address: '0.0.0.0' });
    expect(readLocalSettings({ HOST: 'localhost' })).toEqual(readLocalSettings({}));
    expect(() => readLocalSettings({ HOST: '0.0.0.0' })).toThrow('which others can reach: set LOCAL_KEY');
    expect(() => readLocalSettings({ HOST: 'mybox', LOCAL_KEY: key })).toThrow(
      'HOST is mybox: write an IP address',
    );
  });

  it('may ask for DynamoDB Local, unless they name another store', () => {
    expect(readLocalSettings({ DYNAMODB_LOCAL: '1' })).toMatchObject({ dynamodbLocal: true });
    const both = { DYNAMODB_LOCAL: '1', AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:8000' };
    expect(() => readLocalSettings(both)).toThrow('are both set: leave one of them out');
  });

  it('refuse the dialect that there was once, and say where Weave’s SDKs are served now', () => {
    expect(() => readLocalSettings({ DIALECT: 'weave' })).toThrow('DIALECT is gone, leave it out');
  });

  it('may have people sign in, at a provider that is started or at an issuer', () => {
    const stack = { signIn: expect.objectContaining({ issuer: 'https://issuer.example' }) };
    expect(readLocalSettings({ SIGN_IN: '1' })).toMatchObject({ signIn: 'local', settings: stack });
    expect(readLocalSettings({ SIGN_IN: '0' })).toEqual(readLocalSettings({}));
    const issuer = {
      issuer: 'http://127.0.0.1:8080/realms/main',
      clientId: 'x',
      admins: ['ada@example.com'],
    };
    expect(readLocalSettings({ SIGN_IN: JSON.stringify(issuer) })).toMatchObject({
      signIn: { ...issuer, token: 'access', scopes: ['openid', 'email', 'profile'] },
      settings: stack,
    });
  });

  it.each([
    ['maybe', 'SIGN_IN is maybe: write 1 or 0'],
    ['{"issuer"', 'SIGN_IN: write {"issuer"'],
    [
      '{"issuer": "http://a.example", "clientId": "x", "admins": ["a@b.c"]}',
      'SIGN_IN["issuer"]: write the URL',
    ],
    [
      '{"cognito": {"domainPrefix": "acme"}, "admins": ["a@b.c"]}',
      'SIGN_IN: has cognito: there is no such field',
    ],
  ])('refuse SIGN_IN=%s, and say what to write', (text, advice) => {
    expect(() => readLocalSettings({ SIGN_IN: text })).toThrow(advice);
  });

  it('treat empty variables as absent', () => {
    const empty = { PORT: '', LOCAL_KEY: '', DATA_DIR: '', AWS_ENDPOINT_URL_S3: '' };
    expect(readLocalSettings(empty)).toEqual(readLocalSettings({}));
  });

  it.each([
    ['1', true],
    ['true', true],
    ['Yes', true],
    ['ON', true],
    ['0', false],
    ['False', false],
    ['no', false],
    ['off', false],
  ])('read %s as %s', (value, on) => {
    expect(readLocalSettings({ DEMO: value, LOG: value })).toMatchObject({ demo: on, verbose: on });
  });

  it('address a store on this machine by its IP address, and no other store', () => {
    const readEndpoint = (url: string) => readLocalSettings({ AWS_ENDPOINT_URL_S3: url }).s3;
    expect(readEndpoint('http://localhost')).toBe('http://127.0.0.1');
    expect(readEndpoint('https://LOCALHOST/s3')).toBe('https://127.0.0.1/s3');
    expect(readEndpoint('http://localhost.example:1')).toBe('http://localhost.example:1');
  });

  it.each([
    [{ PORT: 'http' }, 'PORT is http: write a number'],
    [{ PORT: '65536' }, 'PORT is 65536'],
    [{ ALLOWED_HOSTS: 'box,http://other' }, 'ALLOWED_HOSTS has http://other: write names without ports'],
    [{ ALLOWED_HOSTS: 'box:8787' }, 'ALLOWED_HOSTS has box:8787'],
    [{ ALLOWED_HOSTS: 'box,' }, 'ALLOWED_HOSTS has an empty name'],
    [{ PORT: '-1' }, 'PORT is -1'],
    [
      { AWS_ENDPOINT_URL_DYNAMODB: 'localhost:8000' },
      'AWS_ENDPOINT_URL_DYNAMODB is localhost:8000: write a URL',
    ],
    [{ DEMO: 'maybe' }, 'DEMO is maybe: write 1 or 0'],
    [{ LOG: '2' }, 'LOG is 2: write 1 or 0'],
    [{ AWS_ENDPOINT_URL_S3: 'http://' }, 'AWS_ENDPOINT_URL_S3 is http://: write a URL'],
    [{ AWS_ENDPOINT_URL_S3: 'nonsense' }, 'AWS_ENDPOINT_URL_S3 is nonsense: write a URL'],
    [{ INFERENCE_BASE_URL: 'api.openai.com' }, 'INFERENCE_BASE_URL is api.openai.com: write a URL'],
    [{ INFERENCE_API_KEY: 'sk-key' }, 'INFERENCE_API_KEY is set: set INFERENCE_BASE_URL too'],
    [{ CORS_ORIGINS: 'app.example.com' }, /^CORS_ORIGINS\[0\]: write an origin/],
    [{ REDACT: '{' }, /^REDACT is "\{": write a list of rules/],
    [{ REDACT: '[{"name": "email"}]' }, /^REDACT\[0\]/],
  ])('are refused with what to write if they are wrong: %j', (environment, message) => {
    expect(() => readLocalSettings(environment)).toThrow(message);
  });
});

describe('INFERENCE_UPSTREAMS', () => {
  const read = (upstreams: unknown) =>
    readLocalSettings({ INFERENCE_UPSTREAMS: JSON.stringify(upstreams) }).upstreams;
  const own = { name: 'own', baseUrl: 'http://127.0.0.1:9000/v1', models: ['own/*'], key: 'sk-own' };

  it('has upstreams as the setting has them, with their keys and on loopback', () => {
    const claude = {
      name: 'claude',
      api: 'anthropic',
      baseUrl: 'https://api.anthropic.com/v1',
      models: ['c'],
    };
    const bedrock = {
      name: 'bedrock',
      bedrock: { region: 'eu-west-1' },
      baseUrl: 'http://127.0.0.1:9001',
      models: [{ match: 'amazon.nova-lite-v1:0', api: 'converse' }],
      firstByteSeconds: 5,
    };
    expect(read([own, claude, bedrock])).toEqual([own, claude, bedrock]);
    expect(readLocalSettings({ INFERENCE_UPSTREAMS: '' })).not.toHaveProperty('upstreams');
  });

  it.each([
    ['{', 'INFERENCE_UPSTREAMS: write a list of upstreams'],
    [[], 'INFERENCE_UPSTREAMS: write at least one upstream'],
    [[{ ...own, baseUrl: 'http://example.com' }], 'INFERENCE_UPSTREAMS[0]["baseUrl"]: write a URL like'],
    [[{ ...own, keySecret: 'a' }], 'INFERENCE_UPSTREAMS[0]: has keySecret: there is no such field'],
    [[{ ...own, key: 'sk own' }], 'INFERENCE_UPSTREAMS[0]["key"]: write a key without spaces'],
    [[{ name: 'b', bedrock: true, models: ['cohere.embed-v4:0'] }], 'it makes embeddings'],
  ])('is refused with what to write, and without the key: %j', (given, message) => {
    const reading = () =>
      readLocalSettings({ INFERENCE_UPSTREAMS: typeof given === 'string' ? given : JSON.stringify(given) });
    expect(reading).toThrow(message);
    expect(reading).not.toThrow('sk-own');
    expect(reading).not.toThrow('sk own');
  });
});

describe('WEBHOOKS', () => {
  const bad = (value: unknown): string => {
    try {
      readLocalSettings({ WEBHOOKS: typeof value === 'string' ? value : JSON.stringify(value) });
    } catch (error) {
      return error instanceof Error ? error.message : '';
    }
    return '';
  };

  it('names webhooks, also on this machine', () => {
    const webhooks = { ops: 'http://127.0.0.1:9000/hook', chat: 'https://hooks.slack.com/services/x' };
    expect(readLocalSettings({ WEBHOOKS: JSON.stringify(webhooks) })).toMatchObject({ webhooks });
    expect(readLocalSettings({ WEBHOOKS: '' })).not.toHaveProperty('webhooks');
  });

  it.each([
    ['{', 'WEBHOOKS is not JSON: write names and URLs as JSON, {"ops": "http://127.0.0.1:9000/hook"}'],
    [['https://hooks.example/secret'], 'WEBHOOKS is not an object of strings'],
    [{ 'o ps': 'https://hooks.example/secret' }, 'has the name o ps, which should be 1 to 64 letters'],
    [{ ops: 'http://10.0.0.1/secret' }, 'has a URL for ops that cannot be used: its address is not public'],
    [{ ops: 'http://hooks.example:x/secret' }, 'cannot be used: it is not a URL'],
  ])('%j is refused with what to write, and without the URL', (value, message) => {
    expect(bad(value)).toContain(message);
    expect(bad(value)).not.toContain('secret');
  });
});

describe('docs/local.md', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../docs/local.md'), 'utf8');
  const namesIn = (part = '') =>
    Array.from(part.matchAll(/`([A-Z][A-Z0-9_]+)(?:=1|=0)?`/g), ([, name]) => name);

  it('has a row for each variable and no other', () => {
    const variables = new Set<string>();
    readLocalSettings(
      new Proxy<NodeJS.ProcessEnv>({}, { get: (_, name) => void variables.add(String(name)) }),
    );
    // It is read to say that it is gone.
    variables.delete('DIALECT');
    const rows = Array.from(text.matchAll(/^\| (`[A-Z].*?) \| .* \| .* \|$/gm), ([, names]) =>
      namesIn(names),
    );
    expect(rows.flat().sort()).toEqual(Array.from(variables).sort());
  });

  it('names the switches', () => {
    const isSwitch = (name: string | undefined) => {
      try {
        readLocalSettings({ [String(name)]: 'maybe' });
      } catch (error) {
        return String(error).includes('write 1 or 0');
      }
      return false;
    };
    const [, listed] = /^(`DEMO`, .*?) also take `true`/ms.exec(text) ?? [];
    expect(namesIn(listed).sort()).toEqual(
      namesIn(text)
        .filter((name, at, all) => isSwitch(name) && all.indexOf(name) === at)
        .sort(),
    );
  });
});
