import { describe, expect, it } from 'vitest';
import { resourceOf, resourcesOf, synthesize } from '../../support/synth.ts';

const template = synthesize();
const table = 'AWS::DynamoDB::Table';
const bucket = 'AWS::S3::Bucket';
const [callsId, calls] = resourceOf(template, table, 'StorageCalls');
const [payloadsId, payloads] = resourceOf(template, bucket, 'StoragePayloads');

const index = (name: string, partition: string, sort: string, projected = ['h']) => ({
  IndexName: name,
  KeySchema: [
    { AttributeName: partition, KeyType: 'HASH' },
    { AttributeName: sort, KeyType: 'RANGE' },
  ],
  Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: projected },
});

describe('the calls table', () => {
  it('has a binary partition key and the part as its sort key', () => {
    expect(calls.Properties.KeySchema).toEqual([
      { AttributeName: 'k', KeyType: 'HASH' },
      { AttributeName: 'p', KeyType: 'RANGE' },
    ]);
  });

  it('declares the types of all keys', () => {
    const definitions = calls.Properties.AttributeDefinitions as {
      AttributeName: string;
      AttributeType: string;
    }[];
    const types = Object.fromEntries(definitions.map((d) => [d.AttributeName, d.AttributeType]));
    expect(types).toEqual({ k: 'B', p: 'S', tk: 'B', ts: 'B', rk: 'B', hk: 'B', hs: 'B', ek: 'B' });
  });

  it('has indexes of headers, of which two hold small payloads as well', () => {
    expect(calls.Properties.GlobalSecondaryIndexes).toEqual([
      index('by_time', 'tk', 'ts', ['h', 'c']),
      index('by_trace', 'rk', 'ts'),
      index('by_thread', 'hk', 'hs'),
      index('by_error', 'ek', 'ts', ['h', 'c']),
    ]);
  });

  it('expires items by x', () => {
    expect(calls.Properties.TimeToLiveSpecification).toEqual({ AttributeName: 'x', Enabled: true });
  });
});

describe('the objects table', () => {
  const [, objects] = resourceOf(template, table, 'StorageObjects');

  it('has binary keys and no index', () => {
    expect(objects.Properties).toMatchObject({
      KeySchema: [
        { AttributeName: 'k', KeyType: 'HASH' },
        { AttributeName: 's', KeyType: 'RANGE' },
      ],
      AttributeDefinitions: [
        { AttributeName: 'k', AttributeType: 'B' },
        { AttributeName: 's', AttributeType: 'B' },
      ],
    });
    expect(objects.Properties).not.toHaveProperty('GlobalSecondaryIndexes');
  });

  it('retains its items for good', () => {
    expect(objects.Properties).not.toHaveProperty('TimeToLiveSpecification');
  });
});

describe('the feedback table', () => {
  const [, feedback] = resourceOf(template, table, 'StorageFeedback');

  it('has one binary key', () => {
    expect(feedback.Properties.KeySchema).toEqual([{ AttributeName: 'k', KeyType: 'HASH' }]);
    const definitions = feedback.Properties.AttributeDefinitions as { AttributeType: string }[];
    expect(new Set(definitions.map(({ AttributeType }) => AttributeType))).toEqual(new Set(['B']));
  });

  it('has three indexes in order of time, so that a small record takes four write units', () => {
    expect(feedback.Properties.GlobalSecondaryIndexes).toEqual(
      [index('by_time', 'tk', 't'), index('by_ref', 'rk', 't'), index('by_type', 'yk', 't')].map((made) => ({
        ...made,
        Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['h', 'f', 'r'] },
      })),
    );
  });

  it('expires items by x', () => {
    expect(feedback.Properties.TimeToLiveSpecification).toEqual({ AttributeName: 'x', Enabled: true });
  });
});

describe('the costs table', () => {
  const [, costs] = resourceOf(template, table, 'StorageCosts');

  it('has a binary partition key and sort key, and no expiry', () => {
    expect(costs.Properties.KeySchema).toEqual([
      { AttributeName: 'k', KeyType: 'HASH' },
      { AttributeName: 'p', KeyType: 'RANGE' },
    ]);
    expect(costs.Properties.AttributeDefinitions).toEqual([
      { AttributeName: 'k', AttributeType: 'B' },
      { AttributeName: 'p', AttributeType: 'B' },
    ]);
    expect(costs.Properties).not.toHaveProperty('GlobalSecondaryIndexes');
    expect(costs.Properties).not.toHaveProperty('TimeToLiveSpecification');
  });
});

describe('every table', () => {
  const tables = resourcesOf(template, table);

  it('is one of six', () => {
    expect(tables.size).toBe(6);
  });

  it.each([...tables])('%s is paid per request', (_, { Properties }) => {
    expect(Properties.BillingMode).toBe('PAY_PER_REQUEST');
    expect(Properties).not.toHaveProperty('ProvisionedThroughput');
  });

  it.each([...tables])('%s is encrypted with a key that AWS owns', (_, { Properties }) => {
    expect(Properties).not.toHaveProperty('SSESpecification');
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

describe('the payloads bucket', () => {
  it('is closed to the public and encrypted, and has no access lists', () => {
    expect(payloads.Properties).toMatchObject({
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
      },
      OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
    });
  });

  it('keeps no versions, so that a deleted payload is gone', () => {
    expect(payloads.Properties).not.toHaveProperty('VersioningConfiguration');
  });

  it('refuses requests without TLS or with an old version', () => {
    const [, policy] = resourceOf(template, 'AWS::S3::BucketPolicy');
    expect(policy.Properties).toMatchObject({
      Bucket: { Ref: payloadsId },
      PolicyDocument: {
        Statement: [
          { Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
          { Effect: 'Deny', Condition: { NumericLessThan: { 's3:TlsVersion': 1.2 } } },
        ],
      },
    });
  });

  it('drops unfinished uploads and keeps everything else', () => {
    expect(payloads.Properties.LifecycleConfiguration).toEqual({
      Rules: [
        { Id: 'uploads', Status: 'Enabled', AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } },
      ],
    });
  });

  it('stays when the stack is deleted', () => {
    expect(payloads).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
  });
});

describe('with retentionDays', () => {
  it('the bucket deletes expiring objects three days later, and nothing else', () => {
    const [, kept] = resourceOf(synthesize({ retentionDays: 90 }), bucket);
    expect(kept.Properties.LifecycleConfiguration).toMatchObject({
      Rules: [
        { Id: 'uploads' },
        { ExpirationInDays: 93, Prefix: 'segments/expiring-90/' },
        { ExpirationInDays: 93, Prefix: 'feedback/expiring-90/' },
      ],
    });
  });
});

describe('with keepData off', () => {
  const temporary = synthesize({ keepData: false });

  it.each([...resourcesOf(temporary, table)])('%s is deleted with the stack', (_, resource) => {
    expect(resource).toMatchObject({
      DeletionPolicy: 'Delete',
      Properties: {
        DeletionProtectionEnabled: false,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: false },
      },
    });
  });

  it('the bucket is deleted with the stack', () => {
    expect(resourceOf(temporary, bucket)[1].DeletionPolicy).toBe('Delete');
  });

  it('the data stays in place: no table or bucket gets another logical id', () => {
    expect([...resourcesOf(temporary, table).keys()]).toContain(callsId);
    expect(resourceOf(temporary, bucket)[0]).toBe(payloadsId);
  });
});
