import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { handlersOf, routes } from '../../../api/routes.ts';
import { root } from '../../support/project.ts';
import { type Resource, resourceOf, resourcesOf, synthesize } from '../../support/synth.ts';

const template = synthesize();
const functionType = 'AWS::Lambda::Function';
const [callsId] = resourceOf(template, 'AWS::DynamoDB::Table', 'StorageCalls');
const [objectsId] = resourceOf(template, 'AWS::DynamoDB::Table', 'StorageObjects');
const [keysId] = resourceOf(template, 'AWS::DynamoDB::Table', 'AuthKeys');
const [payloadsId] = resourceOf(template, 'AWS::S3::Bucket');
const [costsId] = resourceOf(template, 'AWS::DynamoDB::Table', 'StorageCosts');
const [sharedLogId] = resourceOf(template, 'AWS::Logs::LogGroup', 'FunctionsLog');
const [feedbackId] = resourceOf(template, 'AWS::DynamoDB::Table', 'StorageFeedback');
const [rollupsId] = resourceOf(template, 'AWS::DynamoDB::Table', 'StorageRollups');

const functionOf = (path: string, from = template): Resource => {
  const found = [...resourcesOf(from, functionType).values()].filter(({ Properties }) =>
    String(Properties.Description)
      .split(', ')
      .some((request) => /^(?:GET|POST) (.*)$/.exec(request)?.[1] === path),
  );
  expect(found).toHaveLength(1);
  return found[0] as Resource;
};
const environmentOf = (resource: Resource) =>
  (resource.Properties.Environment as { Variables: Record<string, unknown> }).Variables;

interface Statement {
  readonly Effect: string;
  readonly Action: string | string[];
  readonly Resource: unknown;
}

const roleOf = (resource: Resource): Resource => {
  const { 'Fn::GetAtt': target } = resource.Properties.Role as { 'Fn::GetAtt': [string, string] };
  return resourceOf(template, 'AWS::IAM::Role', target[0])[1];
};
interface Allowed {
  readonly resource: unknown;
  readonly actions: readonly string[];
}
const allow = (resource: unknown, ...actions: string[]): Allowed => ({ resource, actions });

/**
 * Every action with its resource, each once, in order: CDK puts statements together where it can.
 */
const pairs = (allowed: readonly Allowed[]): string[] => [
  ...new Set(
    allowed
      .flatMap(({ resource, actions }) => actions.map((action) => `${action} ${JSON.stringify(resource)}`))
      .sort(),
  ),
];

/** What a function's role allows. */
const allowedTo = (resource: Resource) => {
  const { Policies } = roleOf(resource).Properties as {
    Policies: { PolicyDocument: { Statement: Statement[] } }[];
  };
  const statements = Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
  expect(statements.every(({ Effect }) => Effect === 'Allow')).toBe(true);
  return pairs(
    statements.flatMap(({ Resource: resources, Action }) =>
      [resources].flat().map((resource) => allow(resource, ...[Action].flat())),
    ),
  );
};

const arn = (id: string, path?: string) =>
  path === undefined
    ? { 'Fn::GetAtt': [id, 'Arn'] }
    : { 'Fn::Join': ['', [{ 'Fn::GetAtt': [id, 'Arn'] }, path]] };

const everyFunction = (logId: string) => [
  allow(arn(logId), 'logs:CreateLogStream', 'logs:PutLogEvents'),
  allow('*', 'xray:PutTraceSegments', 'xray:PutTelemetryRecords'),
];
const logOf = (resource: Resource) =>
  (resource.Properties.LoggingConfig as { LogGroup: { Ref: string } }).LogGroup.Ref;

describe.each(routes)('the function of $path', (route) => {
  const resource = functionOf(route.path);

  it('runs on ARM and Node 24, with the memory and time of its route, traced', () => {
    expect(resource.Properties).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Handler: 'index.handler',
      MemorySize: route.memoryMb,
      Timeout: route.timeoutSeconds,
      TracingConfig: { Mode: 'Active' },
    });
  });

  it('knows its own stores and what settings say of stores, and no other', () => {
    expect(environmentOf(resource)).toEqual({
      SERVICE_NAME: 'svc',
      ...(Object.keys(route.stores).length > 0 && { SHARDS: '4' }),
      ...(route.stores.calls && { CALLS_TABLE: { Ref: callsId } }),
      ...(route.stores.objects && { OBJECTS_TABLE: { Ref: objectsId } }),
      ...((route.stores.payloads || route.stores.objects || route.stores.feedback) && {
        PAYLOADS_BUCKET: { Ref: payloadsId },
      }),
      ...(route.stores.feedback && { FEEDBACK_TABLE: { Ref: feedbackId } }),
      ...(route.stores.costs && { COSTS_TABLE: { Ref: costsId } }),
      ...(route.stores.rollups && { ROLLUPS_TABLE: { Ref: rollupsId } }),
    });
  });

  it('has no further policy', () => {
    expect(roleOf(resource).Properties).not.toHaveProperty('ManagedPolicyArns');
    expect(resourcesOf(template, 'AWS::IAM::Policy').size).toBe(0);
  });

  it('logs to the log that all endpoints share, and may write no other', () => {
    expect(logOf(resource)).toBe(sharedLogId);
    const allowed = allowedTo(resource).filter((pair) => pair.startsWith('logs:'));
    expect(allowed).toEqual(pairs([allow(arn(sharedLogId), 'logs:CreateLogStream', 'logs:PutLogEvents')]));
  });
});

describe('the function of the authorizer', () => {
  const [, resource] = resourceOf(template, functionType, 'AuthAuthorizer');

  it('has a log of its own, because its failures are counted separately', () => {
    expect(logOf(resource)).toMatch(/^AuthAuthorizer/);
  });

  it('knows the keys table and no other store', () => {
    expect(environmentOf(resource)).toEqual({
      SERVICE_NAME: 'svc',
      KEYS_TABLE: { Ref: keysId },
    });
  });

  it('may get a key and nothing else', () => {
    expect(allowedTo(resource)).toEqual(
      pairs([...everyFunction(logOf(resource)), allow(arn(keysId), 'dynamodb:GetItem')]),
    );
  });
});

describe('the functions', () => {
  it('are one for each handler and the authorizer', () => {
    expect(resourcesOf(template, functionType).size).toBe(handlersOf(routes).length + 1);
  });

  it('have logs that are retained for 30 days and deleted with the stack', () => {
    const logs = new Set([...resourcesOf(template, functionType).values()].map(logOf));
    expect(logs.size).toBe(2);
    for (const id of logs) {
      const [, log] = resourceOf(template, 'AWS::Logs::LogGroup', id);
      expect(log).toMatchObject({ DeletionPolicy: 'Delete', Properties: { RetentionInDays: 30 } });
    }
  });

  it('have no reserved concurrency, which would cost or be taken from others', () => {
    for (const { Properties } of resourcesOf(template, functionType).values()) {
      expect(Properties).not.toHaveProperty('ReservedConcurrentExecutions');
      expect(Properties).not.toHaveProperty('VpcConfig');
    }
  });

  it('get the configured settings', () => {
    const settings = {
      serviceName: 'weft',
      shards: '4,16',
      retentionDays: 90,
      logRetentionDays: 7,
      keepFeedback: true,
    };
    const custom = synthesize(settings);
    const environment = environmentOf(functionOf('/call/upsert_batch', custom));
    expect(environment).toMatchObject({ SERVICE_NAME: 'weft', SHARDS: '4,16', RETENTION_DAYS: '90' });
    expect(environmentOf(functionOf('/health', custom))).toEqual({ SERVICE_NAME: 'weft' });
    for (const { Properties } of resourcesOf(custom, 'AWS::Logs::LogGroup').values()) {
      expect(Properties.RetentionInDays).toBe(7);
    }
    // The table's name is what makes deletions delete feedback.
    expect(environmentOf(functionOf('/calls/delete', custom))).not.toHaveProperty('FEEDBACK_TABLE');
    expect(environmentOf(functionOf('/calls/delete'))).toHaveProperty('FEEDBACK_TABLE');
  });
});

describe('the actions that the functions are granted', () => {
  /**
   * The actions that each command of the AWS SDK needs. A command that is not here has to be added,
   * and granted.
   */
  const actionsOf: Record<string, string | readonly string[]> = {
    BatchGetCommand: 'dynamodb:BatchGetItem',
    QueryCommand: 'dynamodb:Query',
    BatchWriteCommand: 'dynamodb:BatchWriteItem',
    PutCommand: 'dynamodb:PutItem',
    DeleteCommand: 'dynamodb:DeleteItem',
    UpdateCommand: 'dynamodb:UpdateItem',
    // Its statements are INSERTs.
    BatchExecuteStatementCommand: 'dynamodb:PartiQLInsert',
    GetObjectCommand: 's3:GetObject',
    PutObjectCommand: 's3:PutObject',
    DeleteObjectCommand: 's3:DeleteObject',
    // It is made of puts, deletes and checks.
    TransactWriteCommand: ['dynamodb:PutItem', 'dynamodb:DeleteItem', 'dynamodb:ConditionCheckItem'],
  };
  const folder = join(root, 'core/foundations/storage');
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(folder, file), 'utf8'));
  const commands = sources.flatMap((source) =>
    [...source.matchAll(/new (\w+Command)\(/g)].map(([, name]) => name),
  );

  it('are those that the commands in core/foundations/storage need, and no more', () => {
    const needed = new Set(commands.flatMap((command) => actionsOf[command ?? ''] ?? `unknown: ${command}`));
    // No command: it makes S3 tell a missing object from a forbidden one.
    needed.add('s3:ListBucket');
    const granted = routes
      .flatMap((route) => allowedTo(functionOf(route.path)))
      .map((pair) => pair.split(' ', 1)[0] ?? '')
      .filter((action) => /^(dynamodb|s3):/.test(action));
    expect(new Set(granted)).toEqual(needed);
  });
});
