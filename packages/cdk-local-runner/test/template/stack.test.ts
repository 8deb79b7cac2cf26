import { describe, expect, it } from 'vitest';
import type { Template } from '../../src/template/cloudformation.ts';
import { getOutput, toStackSpec } from '../../src/template/stack.ts';
import { type FixtureOptions, fixtureTemplate } from '../fixtures/assembly.ts';

const options: FixtureOptions = {
  routes: [
    { path: '/plain', handler: 'plain', timeoutSeconds: 4 },
    { path: '/files/{path+}', handler: 'streaming', streaming: true, open: true, integrationMs: 900_000 },
  ],
  cacheSeconds: 30,
  throttle: { rate: 5, burst: 9 },
};

type Properties = Record<string, unknown>;

const read = (change: (resource: (id: string) => Properties) => void = () => {}) => {
  const { Resources, Outputs } = structuredClone(fixtureTemplate(options)) as Template;
  change((id) => Resources[id]?.Properties ?? {});
  const template = { Resources, Outputs, Parameters: {}, Conditions: {} };
  const assets = new Map(
    [...'authorizer plain streaming'.split(' ')].map((name) => [`${name}.zip`, `/${name}`]),
  );
  return toStackSpec({ stackName: 'Fixture', template, assets });
};

describe('a template', () => {
  it('gives the routes with their paths, functions and authorizers', () => {
    const { api } = read();
    expect(api.routes).toMatchObject([
      {
        method: 'POST',
        path: '/plain',
        function: { name: 'Fixture-Function0', folder: '/plain', timeoutSeconds: 4, memoryMb: 128 },
        authorizer: {
          identityHeaders: ['authorization'],
          cacheSeconds: 30,
          function: { folder: '/authorizer' },
        },
        streaming: false,
        timeoutMs: 29_000,
      },
      { path: '/files/{path+}', streaming: true, timeoutMs: 900_000 },
    ]);
    expect(api.routes[1]).not.toHaveProperty('authorizer');
  });

  it('gives functions the names of the tables in their environment', () => {
    expect(read().api.routes[0]?.function.environment).toEqual({ WHO: 'plain', TABLE: 'Fixture-Table' });
  });

  it('gives the stage, its throttling, the tables and the buckets', () => {
    const { api, tables, buckets, outputs } = read();
    expect(api).toMatchObject({ stage: 'live', throttle: { ratePerSecond: 5, burst: 9 } });
    expect(tables.map(({ name }) => name)).toEqual(['Fixture-Table']);
    expect(buckets).toEqual(['fixture-bucket']);
    expect(outputs).toEqual({ Table: 'Fixture-Table' });
  });

  it('streams if it invokes by the streaming URI, whatever else it says', () => {
    const { api } = read((resource) => {
      const integration = resource('Method1').Integration as Properties;
      delete integration.ResponseTransferMode;
    });
    expect(api.routes[1]?.streaming).toBe(true);
  });

  it('has the throttle of a method apart from the one of the stage', () => {
    const { api } = read((resource) =>
      Object.assign(resource('Stage'), {
        MethodSettings: [{ HttpMethod: 'POST', ResourcePath: '/~1plain', ThrottlingRateLimit: 1 }],
      }),
    );
    const throttled = api.routes.filter(({ throttle }) => throttle);
    expect(throttled).toMatchObject([
      { method: 'POST', path: '/plain', throttle: { ratePerSecond: 1, burst: 1 } },
    ]);
    expect(api.throttle).toBeUndefined();
  });
});

describe('the error about the template', () => {
  it.each<[string, string, (properties: Properties) => void]>([
    [
      'an authorizer that is not there',
      'no authorizer Nobody',
      (method) => Object.assign(method, { AuthorizerId: 'Nobody' }),
    ],
    [
      'authorization by IAM',
      'AuthorizationType',
      (method) => Object.assign(method, { AuthorizationType: 'AWS_IAM' }),
    ],
    ['an API key', 'ApiKeyRequired', (method) => Object.assign(method, { ApiKeyRequired: true })],
    [
      'another integration',
      'Integration',
      (method) => Object.assign(method, { Integration: { Type: 'MOCK' } }),
    ],
  ])('names %s', (_what, message, change) => {
    expect(() => read((resource) => change(resource('Method0')))).toThrow(message);
  });

  it('names the resource with the unsupported function', () => {
    const change = (resource: (id: string) => Properties) =>
      Object.assign(resource('Function0'), { Handler: { 'Fn::ImportValue': 'x' } });
    expect(() => read(change)).toThrow('template resource Function0: Fn::ImportValue');
  });

  it('names a function without a bundle', () => {
    const change = (resource: (id: string) => Properties) =>
      Object.assign(resource('Function0'), { Code: { S3Key: 'elsewhere.zip' } });
    expect(() => read(change)).toThrow('elsewhere.zip is not an asset');
  });

  it('names a missing output', () => {
    expect(() => getOutput(read(), 'Nothing')).toThrow('no output Nothing');
  });
});
