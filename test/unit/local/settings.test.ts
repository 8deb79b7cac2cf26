import { describe, expect, it } from 'vitest';
import { readSettings } from '../../../local/settings.ts';

describe('the settings', () => {
  it('have these defaults', () => {
    expect(readSettings({})).toEqual({ port: 8787, demo: true, verbose: false, settings: {} });
  });

  it('come from the environment', () => {
    const settings = readSettings({
      PORT: '0',
      LOCAL_KEY: 'svc_key',
      DEMO: '0',
      DATA_DIR: '/data',
      AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:8000',
      AWS_ENDPOINT_URL_S3: 'http://localhost:9000',
      INFERENCE_BASE_URL: 'https://api.openai.com/v1',
      INFERENCE_API_KEY: 'sk-key',
      LOG: '1',
      EVENTS: '1',
      ANALYTICS: 'on',
      REDACT: '[]',
      CORS_ORIGINS: 'http://localhost:3000',
    });
    expect(settings).toEqual({
      port: 0,
      key: 'svc_key',
      demo: false,
      dataDir: '/data',
      dynamodb: 'http://127.0.0.1:8000',
      s3: 'http://127.0.0.1:9000',
      inference: { baseUrl: 'https://api.openai.com/v1', key: 'sk-key' },
      verbose: true,
      settings: { events: true, analytics: true, redact: '[]', corsOrigins: 'http://localhost:3000' },
    });
  });

  it('may name hosts, in whatever case and with spaces', () => {
    expect(readSettings({ ALLOWED_HOSTS: 'Host.docker.internal, box' })).toMatchObject({
      hosts: ['host.docker.internal', 'box'],
    });
  });

  it('may name an address for others, who then need a key of the operator', () => {
    const key = `svc_${'a'.repeat(16)}_${'b'.repeat(64)}`;
    expect(readSettings({ HOST: '0.0.0.0', LOCAL_KEY: key })).toMatchObject({ address: '0.0.0.0' });
    expect(readSettings({ HOST: 'localhost' })).toEqual(readSettings({}));
    expect(() => readSettings({ HOST: '0.0.0.0' })).toThrow('which others can reach: set LOCAL_KEY');
    expect(() => readSettings({ HOST: 'mybox', LOCAL_KEY: key })).toThrow(
      'HOST is mybox: write an IP address',
    );
  });

  it('may ask for DynamoDB Local, unless they name another store', () => {
    expect(readSettings({ DYNAMODB_LOCAL: '1' })).toMatchObject({ dynamodbLocal: true });
    const both = { DYNAMODB_LOCAL: '1', AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:8000' };
    expect(() => readSettings(both)).toThrow('are both set: leave one of them out');
  });

  it('refuse the dialect that there was once, and say where Weave’s SDKs are served now', () => {
    expect(() => readSettings({ DIALECT: 'weave' })).toThrow('DIALECT is gone, leave it out');
  });

  it('treat empty variables as absent', () => {
    const empty = { PORT: '', LOCAL_KEY: '', DATA_DIR: '', AWS_ENDPOINT_URL_S3: '' };
    expect(readSettings(empty)).toEqual(readSettings({}));
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
    expect(readSettings({ DEMO: value, LOG: value })).toMatchObject({ demo: on, verbose: on });
  });

  it('address a store on this machine by its IP address, and no other store', () => {
    const readEndpoint = (url: string) => readSettings({ AWS_ENDPOINT_URL_S3: url }).s3;
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
  ])('are refused with what to write if they are wrong: %j', (environment, message) => {
    expect(() => readSettings(environment)).toThrow(message);
  });
});

describe('INFERENCE_UPSTREAMS', () => {
  const read = (upstreams: unknown) =>
    readSettings({ INFERENCE_UPSTREAMS: JSON.stringify(upstreams) }).upstreams;
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
    expect(readSettings({ INFERENCE_UPSTREAMS: '' })).not.toHaveProperty('upstreams');
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
      readSettings({ INFERENCE_UPSTREAMS: typeof given === 'string' ? given : JSON.stringify(given) });
    expect(reading).toThrow(message);
    expect(reading).not.toThrow('sk-own');
    expect(reading).not.toThrow('sk own');
  });
});

describe('WEBHOOKS', () => {
  const bad = (value: unknown): string => {
    try {
      readSettings({ WEBHOOKS: typeof value === 'string' ? value : JSON.stringify(value) });
    } catch (error) {
      return error instanceof Error ? error.message : '';
    }
    return '';
  };

  it('names webhooks, also on this machine', () => {
    const webhooks = { ops: 'http://127.0.0.1:9000/hook', chat: 'https://hooks.slack.com/services/x' };
    expect(readSettings({ WEBHOOKS: JSON.stringify(webhooks) })).toMatchObject({ webhooks });
    expect(readSettings({ WEBHOOKS: '' })).not.toHaveProperty('webhooks');
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
