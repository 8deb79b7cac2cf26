import { describe, expect, it } from 'vitest';
import { handlersOf } from '../../../api/endpoint.ts';
import { routes } from '../../../api/routes.ts';
import { type Resource, resourceOf, resourcesOf, synthesize } from '../../support/synth.ts';

const template = synthesize();
const functions = [...resourcesOf(template, 'AWS::Lambda::Function').values()];

const functionOf = (path: string, from = template): Resource => {
  const found = [...resourcesOf(from, 'AWS::Lambda::Function').values()].filter(({ Properties }) =>
    String(Properties.Description)
      .split(', ')
      .some((request) => /^(?:GET|POST) (.*)$/.exec(request)?.[1] === path),
  );
  expect(found).toHaveLength(1);
  return found[0] as Resource;
};

const environmentOf = (resource: Resource) =>
  (resource.Properties.Environment as { Variables: Record<string, unknown> } | undefined)?.Variables ?? {};

const logOf = ({ Properties }: Resource) =>
  (Properties.LoggingConfig as { LogGroup: { Ref: string } }).LogGroup.Ref;

describe('the functions', () => {
  it('are one for each handler and the authorizer', () => {
    expect(functions).toHaveLength(handlersOf(routes).length + 1);
  });

  it('run on ARM and Node 24, traced', () => {
    for (const { Properties } of functions)
      expect(Properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Handler: 'index.handler',
        TracingConfig: { Mode: 'Active' },
      });
  });

  it.each(routes)('have the memory and time of the route $path', ({ path, memoryMb, timeoutSeconds }) => {
    expect(functionOf(path).Properties).toMatchObject({ MemorySize: memoryMb, Timeout: timeoutSeconds });
  });

  it.each([
    [
      '/calls/stream_query',
      ['CALLS_TABLE', 'COSTS_TABLE', 'FEEDBACK_TABLE', 'OBJECTS_TABLE', 'PAYLOADS_BUCKET'],
    ],
    ['/call/update', ['CALLS_TABLE']],
    ['/projects/query', ['ROLLUPS_TABLE']],
    ['/health', []],
  ])('know their own stores: %s', (path, stores) => {
    const variables = Object.keys(environmentOf(functionOf(path)));
    expect(variables.filter((name) => /_TABLE|_BUCKET/.test(name)).toSorted()).toEqual(stores);
  });

  it('have their policies in their roles alone', () => {
    expect(resourcesOf(template, 'AWS::IAM::Policy').size).toBe(0);
    for (const [id, { Properties }] of resourcesOf(template, 'AWS::IAM::Role'))
      if (!id.startsWith('ApiRestCloudWatch')) expect(Properties).not.toHaveProperty('ManagedPolicyArns');
  });

  it('write one log, but for the authorizer, whose failures are counted separately', () => {
    const [, authorizer] = resourceOf(template, 'AWS::Lambda::Function', 'AuthAuthorizer');
    const others = functions.filter((each) => each !== authorizer);
    expect(new Set(others.map(logOf)).size).toBe(1);
    expect(logOf(authorizer)).toMatch(/^AuthAuthorizer/);
  });

  it('have logs that are retained for 30 days and deleted with the stack', () => {
    for (const id of new Set(functions.map(logOf))) {
      const [, log] = resourceOf(template, 'AWS::Logs::LogGroup', id);
      expect(log).toMatchObject({ DeletionPolicy: 'Delete', Properties: { RetentionInDays: 30 } });
    }
  });

  it('have no reserved concurrency, which would cost or be taken from others', () => {
    for (const { Properties } of functions) {
      expect(Properties).not.toHaveProperty('ReservedConcurrentExecutions');
      expect(Properties).not.toHaveProperty('VpcConfig');
    }
  });

  it('get the configured settings', () => {
    const custom = synthesize({ shards: '4,16', retentionDays: 90, logRetentionDays: 7, keepFeedback: true });
    const environment = environmentOf(functionOf('/call/upsert_batch', custom));
    expect(environment).toMatchObject({ SHARDS: '4,16', RETENTION_DAYS: '90' });
    for (const { Properties } of resourcesOf(custom, 'AWS::Logs::LogGroup').values()) {
      expect(Properties.RetentionInDays).toBe(7);
    }
    // The table's name is what makes deletions delete feedback.
    expect(environmentOf(functionOf('/calls/delete', custom))).not.toHaveProperty('FEEDBACK_TABLE');
    expect(environmentOf(functionOf('/calls/delete'))).toHaveProperty('FEEDBACK_TABLE');
  });
});
