import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AttributeType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { describe, expect, it } from 'vitest';
import { bucketDays, expiryTag } from '../../../foundations/storage/retention.ts';
import { type TableDeclaration, tables } from '../../../foundations/storage/tables.ts';
import { readConfig } from '../../../lib/config.ts';
import { ShardHistory } from '../../../lib/storage.ts';
import { temporaryFolder } from '../../support/run/project.ts';
import { findResource, findResources, type Resource, synthesize } from '../../support/stack/template.ts';

const template = synthesize();
const table = 'AWS::DynamoDB::Table';
const bucket = 'AWS::S3::Bucket';
const [callsId] = findResource(template, table, 'StorageCalls');
const [payloadsId] = findResource(template, bucket, 'StoragePayloads');

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
}

describe('every table', () => {
  const tables = findResources(template, table);

  it.each([...tables])('%s is paid per request', (_, { Properties }) => {
    expect(Properties.BillingMode).toBe('PAY_PER_REQUEST');
    expect(Properties).not.toHaveProperty('ProvisionedThroughput');
  });

  it.each([...tables])('%s is protected, recoverable, and stays when the stack is deleted', (_, resource) => {
    expect(resource).toMatchObject({
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        DeletionProtectionEnabled: true,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      },
    });
  });
});

const targetType = 'AWS::ApplicationAutoScaling::ScalableTarget';
const policyType = 'AWS::ApplicationAutoScaling::ScalingPolicy';

describe('with provisioned capacity', () => {
  const scaled = synthesize({ billing: { minUnits: 7, maxUnits: 900, targetPercent: 60 } });
  const capacity = { ReadCapacityUnits: 7, WriteCapacityUnits: 7 };

  it('the calls and each of their indexes begin with the least capacity, and all else is paid per request', () => {
    for (const [id, { Properties }] of findResources(scaled, table)) {
      if (id !== callsId) {
        expect(Properties.BillingMode, id).toBe('PAY_PER_REQUEST');
        continue;
      }
      // CloudFormation takes a table without a mode as provisioned.
      expect(Properties).not.toHaveProperty('BillingMode');
      expect(Properties.ProvisionedThroughput).toEqual(capacity);
      const indexes = Properties.GlobalSecondaryIndexes as Record<string, unknown>[];
      expect(indexes.map((index) => [index.IndexName, index.ProvisionedThroughput])).toEqual(
        Object.keys(tables.calls.indexes).map((name) => [name, capacity]),
      );
    }
  });

  it('reads and writes of the table and of every index scale within the bounds', () => {
    const targets = [...findResources(scaled, targetType).values()].map(({ Properties }) => Properties);
    const ids = (kind: string) =>
      ['', ...Object.keys(tables.calls.indexes).map((name) => `/index/${name}`)].map(
        (path) => `${path} dynamodb:${path ? 'index' : 'table'}:${kind}CapacityUnits`,
      );
    const found = targets.map(({ ResourceId, ScalableDimension }) => {
      const [, parts] = (ResourceId as { 'Fn::Join': [string, unknown[]] })['Fn::Join'];
      expect(parts.slice(0, 2)).toEqual(['table/', { Ref: callsId }]);
      return `${parts[2] ?? ''} ${ScalableDimension}`;
    });
    expect(found.toSorted()).toEqual([...ids('Read'), ...ids('Write')].toSorted());
    for (const target of targets) expect(target).toMatchObject({ MinCapacity: 7, MaxCapacity: 900 });
    const policies = [...findResources(scaled, policyType).values()];
    expect(policies.length).toBe(targets.length);
    for (const { Properties } of policies)
      expect(Properties).toHaveProperty('TargetTrackingScalingPolicyConfiguration.TargetValue', 60);
  });

  it('no table gets another logical id, so the data stays', () => {
    expect([...findResources(scaled, table).keys()]).toEqual([...findResources(template, table).keys()]);
  });

  it('there is nothing of it without the setting', () => {
    for (const settings of [{}, { billing: 'onDemand' }])
      for (const type of [targetType, policyType])
        expect(findResources(synthesize(settings), type).size).toBe(0);
  });
});

describe('the rules of the bucket', () => {
  const getRules = (settings: Record<string, unknown>) => {
    const [, kept] = findResource(synthesize(settings), bucket);
    const { Rules } = kept.Properties.LifecycleConfiguration as {
      Rules: { Prefix?: string; TagFilters?: { Key: string; Value: string }[]; ExpirationInDays?: number }[];
    };
    return Rules.filter(({ ExpirationInDays }) => ExpirationInDays !== undefined);
  };

  it.each([{}, { retentionDays: 90 }, { retentionDays: 40 }])(
    'delete what expires by the retention of a project, by prefix and by tag (%j)',
    (settings) => {
      const rules = getRules(settings);
      for (const days of bucketDays) {
        const ExpirationInDays = days + 3;
        for (const root of ['segments', 'feedback'])
          expect(rules.filter(({ Prefix }) => Prefix === `${root}/expiring-${days}/`)).toEqual([
            expect.objectContaining({ ExpirationInDays }),
          ]);
        const TagFilters = [{ Key: expiryTag, Value: String(days) }];
        expect(rules).toContainEqual(expect.objectContaining({ TagFilters, ExpirationInDays }));
      }
    },
  );

  it('are fewer than S3 takes', () => {
    expect(getRules({ retentionDays: 40 }).length).toBeLessThan(1000);
  });
});

describe('the audit trail', () => {
  const [auditId] = findResource(template, table, 'StorageAudit');
  const [keysId] = findResource(template, table, 'AuthKeys');
  const onTable = (id: string) =>
    [...findResources(template, 'AWS::IAM::Role')].flatMap(([role, { Properties }]) =>
      ((Properties.Policies ?? []) as { PolicyDocument: { Statement: Statement[] } }[]).flatMap(
        ({ PolicyDocument }) =>
          PolicyDocument.Statement.filter(({ Resource }) => JSON.stringify(Resource).includes(`"${id}"`)).map(
            (statement) => ({ role, ...statement }),
          ),
      ),
    );

  it('is inserted to by the functions that audit, queried by one, and nothing else', () => {
    const statements = onTable(auditId);
    const roles = statements.map(({ role }) => role.replace(/^Functions|Role[0-9A-F]{8}$/g, ''));
    expect(roles.toSorted()).toEqual([
      'CallsDelete',
      'CallsStreamQuery',
      'CostPurge',
      'FeedbackPurge',
      'Mcp',
      'ObjCreate',
      'ObjDelete',
      'People',
      'ProjectDelete',
      'Prompts',
    ]);
    for (const { role, Action } of statements)
      expect(Action, role).toEqual(
        role.startsWith('FunctionsPeople')
          ? ['dynamodb:PartiQLInsert', 'dynamodb:Query']
          : 'dynamodb:PartiQLInsert',
      );
  });

  it('ends after the days of the setting, by the attribute of its table', () => {
    const [, { Properties }] = findResource(template, table, 'StorageAudit');
    expect(Properties.TimeToLiveSpecification).toEqual({ AttributeName: 'x', Enabled: true });
    const days = (from: typeof template) =>
      findResource(from, 'AWS::Lambda::Function', 'FunctionsPeople')[1].Properties.Environment;
    expect(days(template)).toMatchObject({ Variables: { AUDIT_DAYS: '365' } });
    expect(days(synthesize({ auditDays: 30 }))).toMatchObject({ Variables: { AUDIT_DAYS: '30' } });
  });

  it('is told on the bus by the functions that audit, with events alone', () => {
    const bus = (from: typeof template, name: string) =>
      findResource(from, 'AWS::Lambda::Function', name)[1].Properties.Environment;
    expect(bus(template, 'FunctionsObjCreate')).not.toHaveProperty('Variables.EVENT_BUS');
    const events = synthesize({ events: { bus: 'agents' } });
    expect(bus(events, 'FunctionsObjCreate')).toMatchObject({ Variables: { EVENT_BUS: 'agents' } });
    expect(bus(events, 'FunctionsObjRead')).not.toHaveProperty('Variables.EVENT_BUS');
  });

  it('lies apart from the keys, of which the authorizer writes one attribute', () => {
    expect(onTable(keysId).filter(({ role }) => role.startsWith('AuthAuthorizer'))).toMatchObject([
      { Action: 'dynamodb:GetItem' },
      {
        Action: 'dynamodb:UpdateItem',
        Condition: {
          'ForAllValues:StringEquals': { 'dynamodb:Attributes': ['id', 'usedOn'] },
          StringEqualsIfExists: { 'dynamodb:ReturnValues': ['NONE'] },
        },
      },
    ]);
  });
});

describe('with retentionDays', () => {
  it('the bucket deletes kept answers no later than calls', () => {
    const [, kept] = findResource(synthesize({ retentionDays: 7 }), bucket);
    expect(kept.Properties.LifecycleConfiguration).toMatchObject({
      Rules: expect.arrayContaining([expect.objectContaining({ ExpirationInDays: 7, Prefix: 'answers/' })]),
    });
  });

  it('the bucket deletes expiring objects three days later, and kept answers', () => {
    const [, kept] = findResource(synthesize({ retentionDays: 90 }), bucket);
    expect(kept.Properties.LifecycleConfiguration).toMatchObject({
      Rules: expect.arrayContaining([
        expect.objectContaining({ Id: 'uploads' }),
        expect.objectContaining({ ExpirationInDays: 30, Prefix: 'answers/' }),
        expect.objectContaining({ ExpirationInDays: 93, Prefix: 'segments/expiring-90/' }),
        expect.objectContaining({ ExpirationInDays: 93, Prefix: 'feedback/expiring-90/' }),
      ]),
    });
  });
});

it('with pointInTimeRecovery off, tables stay and are not recoverable', () => {
  for (const { DeletionPolicy, Properties } of findResources(
    synthesize({ pointInTimeRecovery: false }),
    table,
  ).values())
    expect({ DeletionPolicy, ...Properties }).toMatchObject({
      DeletionPolicy: 'Retain',
      DeletionProtectionEnabled: true,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: false },
    });
});

describe('with keepData off', () => {
  const temporary = synthesize({ keepData: false });

  it.each([...findResources(temporary, table)])('%s is deleted with the stack', (_, resource) => {
    expect(resource).toMatchObject({
      DeletionPolicy: 'Delete',
      Properties: {
        DeletionProtectionEnabled: false,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: false },
      },
    });
  });

  it('the bucket is deleted with the stack', () => {
    expect(findResource(temporary, bucket)[1].DeletionPolicy).toBe('Delete');
  });

  it('the data stays in place: no table or bucket gets another logical id', () => {
    expect([...findResources(temporary, table).keys()]).toContain(callsId);
    expect(findResource(temporary, bucket)[0]).toBe(payloadsId);
  });
});

describe('the tables of the template', () => {
  const listStreams = (settings: Record<string, unknown>) =>
    [...findResources(synthesize(settings), table).values()].flatMap(({ Properties }) =>
      Properties.StreamSpecification === undefined ? [] : [Properties.StreamSpecification],
    );

  it('have the streams that are declared with events, and only then', () => {
    const declared = Object.values(tables).flatMap((declaration: TableDeclaration) =>
      declaration.stream === undefined ? [] : [{ StreamViewType: declaration.stream }],
    );
    expect(declared.length).toBeGreaterThan(0);
    expect(listStreams({ analytics: true })).toEqual(declared);
    expect(listStreams({})).toEqual([]);
  });
});

const parameterType = 'AWS::SSM::Parameter';

/** The parameters of a stack that has nothing else but a table. */
const listMarkers = (settings: Record<string, unknown>): ReadonlyMap<string, Resource> => {
  const stack = new Stack(new App({ outdir: temporaryFolder(), analyticsReporting: false }), 'Shards');
  const table = new Table(stack, 'Calls', { partitionKey: { name: 'k', type: AttributeType.BINARY } });
  new ShardHistory(stack, 'History', { config: readConfig(settings), table });
  return findResources(Template.fromStack(stack), parameterType);
};

const getName = ({ Properties }: Resource): string => JSON.stringify(Properties.Name);

/**
 * An account that deploys the parameters of one stack after another as CloudFormation does. New
 * resources come first, and none under a name that is taken. What is not in the template any more
 * goes afterwards, unless its policy retains it.
 */
class Account {
  readonly names = new Set<string>();
  #deployed: ReadonlyMap<string, Resource> = new Map();

  deploy(settings: Record<string, unknown>): void {
    const next = listMarkers(settings);
    for (const [id, resource] of next) {
      const existing = this.#deployed.get(id);
      if (existing) expect(getName(resource)).toBe(getName(existing));
      else if (this.names.has(getName(resource))) throw new Error(`${getName(resource)} already exists`);
    }
    for (const resource of next.values()) this.names.add(getName(resource));
    for (const [id, resource] of this.#deployed) if (!next.has(id)) this.#drop(resource);
    this.#deployed = next;
  }

  /** Deletes the stack. */
  destroy(): void {
    for (const resource of this.#deployed.values()) this.#drop(resource);
    this.#deployed = new Map();
  }

  #drop(resource: Resource): void {
    if (resource.DeletionPolicy !== 'RetainExceptOnCreate') this.names.delete(getName(resource));
  }
}

/** Deploys each history after the other. Gives the last one that was refused, if any. */
const deployed = (...histories: string[]): string => {
  const account = new Account();
  for (const shards of histories) {
    try {
      account.deploy({ shards });
    } catch {
      return `${shards} is refused`;
    }
  }
  return 'deployed';
};

describe('the setting shards', () => {
  it.each([[['4', '4']], [['4', '4,16', '4,16,64']], [['4', '4,2', '4,2,16']], [['16', '16,4,64']]])(
    'may stay and be appended to: %j',
    (histories) => {
      expect(deployed(...histories)).toBe('deployed');
    },
  );

  it.each([
    ['taken back', ['4', '4,16', '4']],
    ['taken back after more', ['4', '4,16', '4,16,64', '4,16']],
    ['taken back to the start', ['4', '4,16', '4,16,64', '4']],
    ['replaced', ['4', '16']],
    ['replaced in its first place', ['4', '4,16', '8,16']],
    ['replaced in its last place', ['4', '4,16', '4,32']],
    ['replaced and appended to', ['4', '8,16']],
    ['put in another order', ['4', '4,16', '16,4']],
  ])('cannot be %s: %j', (_, histories) => {
    expect(deployed(...histories)).toBe(`${histories.at(-1)} is refused`);
  });

  it('is deployed as it was after a deployment that was refused', () => {
    const account = new Account();
    account.deploy({ shards: '4,16' });
    expect(() => account.deploy({ shards: '16' })).toThrow('shards-can-only-be-appended-to');
    account.deploy({ shards: '4,16' });
    account.deploy({ shards: '4,16,64' });
  });

  it('belongs to the table whose items lie in the shards, whose name another stack never has', () => {
    const markers = findResources(synthesize(), parameterType);
    expect(markers.size).toBe(2);
    for (const resource of markers.values())
      expect(getName(resource)).toMatch(/"\/pennytrace\/",\{"Ref":"StorageCalls\w+"\}/);
  });

  it('leaves nothing behind if data goes with the stack', () => {
    const account = new Account();
    account.deploy({ keepData: false });
    account.destroy();
    expect(account.names.size).toBe(0);
  });
});
