import { randomUUID } from 'node:crypto';
import { CreateBucketCommand, ListBucketsCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { run as runCompact } from '../../../bin/compact.ts';
import { run as runRemove } from '../../../bin/remove.ts';
import { run as runRestore } from '../../../bin/restore.ts';
import { s3Client } from '../../../foundations/storage/index.ts';
import { type ControlPlane, startControlPlane } from '../../support/service/control-plane.ts';
import { synthesize } from '../../support/stack/template.ts';

let aws: ControlPlane;
let s3: S3Client;
/** The names of this test's: others use the same S3. */
let payloads = '';
let files = '';
let table = '';
let parameter = '';

beforeEach(async () => {
  aws = await startControlPlane();
  const stub = {
    AWS_ENDPOINT_URL: aws.endpoint,
    AWS_ENDPOINT_URL_DYNAMODB: aws.endpoint,
    AWS_ENDPOINT_URL_S3: inject('stores').s3,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  };
  for (const [name, value] of Object.entries(stub)) vi.stubEnv(name, value);
  s3 = await s3Client();
  const one = randomUUID().slice(0, 8);
  [payloads, files, table, parameter] = [
    `payloads-${one}`,
    `files-${one}`,
    `Calls-${one}`,
    `/pennytrace/${one}`,
  ];
  for (const Bucket of [payloads, files]) await s3.send(new CreateBucketCommand({ Bucket }));
  aws.parameters.add(parameter);
});
afterEach(async () => {
  s3.destroy();
  vi.unstubAllEnvs();
  await aws[Symbol.asyncDispose]();
});

/** A table as a stack makes it, or as a restore does. */
const put = (items: number, made: boolean): void => {
  aws.tables.set(table, {
    items,
    isProtected: made,
    isRecoverable: made,
    stream: made ? 'NEW_AND_OLD_IMAGES' : undefined,
    expiry: made ? 'x' : undefined,
  });
};

const template = synthesize({ events: true }).toJSON();

const stackIn = (status: string, deleteOthers?: () => Promise<boolean>): void => {
  aws.stacks.push({
    name: 'Pennytrace',
    status,
    resources: [
      { id: 'StorageCalls671F0BAC', type: 'AWS::DynamoDB::Table', name: table },
      { id: 'StoragePayloadsCE68CCE3', type: 'AWS::S3::Bucket', name: payloads },
      { id: 'ShardHistoryEnd4', type: 'AWS::SSM::Parameter', name: parameter },
      ...[...aws.userPools.keys()].map((name) => ({
        id: 'SignInPeople26B168CC',
        type: 'AWS::Cognito::UserPool',
        name,
      })),
      { id: 'FunctionsHealth', type: 'AWS::Lambda::Function', name: 'health' },
    ],
    outputs: { AnalyticsBucket: files },
    template,
    ...(deleteOthers && { deleteOthers }),
  });
};

const runs = async (command: typeof runRemove, argv: string) => {
  const out: string[] = [];
  const err: string[] = [];
  const io = { out: (line: string) => out.push(line), err: (line: string) => err.push(line) };
  return { code: await command(argv.split(' '), io), out: out.join('\n'), err: err.join('\n') };
};
const remove = (argv: string) => runs(runRemove, argv);
const buckets = async (): Promise<string[]> =>
  ((await s3.send(new ListBucketsCommand({}))).Buckets ?? []).flatMap(({ Name }) =>
    Name === payloads || Name === files ? [Name] : [],
  );
const fill = (Bucket: string, objects: number) =>
  Promise.all(
    Array.from({ length: objects }, (_, i) =>
      s3.send(new PutObjectCommand({ Bucket, Key: `calls/${i}`, Body: 'x' })),
    ),
  );

describe('remove', () => {
  it('only lists what it would delete, without --yes', async () => {
    put(1, true);
    stackIn('CREATE_COMPLETE');
    const { code, out } = await remove('--stack Pennytrace --all-data');
    expect(code).toBe(0);
    for (const name of [table, payloads, files, parameter]) expect(out).toContain(name);
    expect(aws.changes).toEqual([]);
    expect(await buckets()).toHaveLength(2);
  });

  it('deletes the stack first, then protected tables, and buckets with all that is in them', async () => {
    put(1, true);
    stackIn('CREATE_COMPLETE');
    await Promise.all([fill(payloads, 3), fill(files, 3)]);
    expect(await remove('--stack Pennytrace --all-data --yes')).toMatchObject({ code: 0 });
    expect(aws.stacks[0]?.status).toBe('DELETE_COMPLETE');
    expect(aws.tables.size + aws.parameters.size).toBe(0);
    expect(await buckets()).toEqual([]);
    expect(aws.changes[0]).toBe('DeleteStack');
    // The stack is found though it is gone, and so is what is gone.
    expect(await remove('--stack Pennytrace --all-data --yes')).toMatchObject({ code: 0 });
  });

  it('is on the audit trail before anything is deleted, and the trail goes last', async () => {
    put(1, true);
    const audit = `Audit-${randomUUID().slice(0, 8)}`;
    const [calls] = aws.tables.values();
    if (calls) aws.tables.set(audit, { ...calls });
    stackIn('CREATE_COMPLETE');
    const [stack] = aws.stacks;
    if (!stack) throw new Error('there is no stack');
    const first = { id: 'StorageAudit', type: 'AWS::DynamoDB::Table', name: audit };
    const outputs = { ...stack.outputs, AuditTable: audit };
    aws.stacks[0] = { ...stack, outputs, resources: [first, ...stack.resources] };
    const gone: string[] = [];
    const remember = aws.tables.delete.bind(aws.tables);
    aws.tables.delete = (name) => gone.push(name) > 0 && remember(name);
    expect(await remove('--stack Pennytrace --all-data --yes')).toMatchObject({ code: 0 });
    expect(aws.changes.slice(0, 2)).toEqual(['BatchExecuteStatement', 'DeleteStack']);
    expect(JSON.stringify(aws.inserted)).toContain('stack.remove');
    expect(gone).toEqual([table, audit]);
    // Whoever goes on with it finds no trail, and no stack to delete.
    expect(await remove('--stack Pennytrace --all-data --yes')).toMatchObject({ code: 0, err: '' });
    expect(aws.inserted).toHaveLength(1);
  });

  it('of a first deployment that failed has nothing on its trail, which has to be empty', async () => {
    put(0, true);
    stackIn('ROLLBACK_COMPLETE');
    const { code, err } = await remove('--stack Pennytrace --failed --yes');
    expect([code, err]).toEqual([0, expect.not.stringContaining('audit trail')]);
  });

  it('empties a bucket that the stack itself is to delete, and deletes the stack again', async () => {
    put(1, false);
    stackIn('CREATE_COMPLETE', async () => {
      const { KeyCount } = await s3.send(
        new (await import('@aws-sdk/client-s3')).ListObjectsV2Command({ Bucket: files }),
      );
      return KeyCount === 0;
    });
    await fill(files, 1);
    expect(await remove('--stack Pennytrace --all-data --yes')).toMatchObject({ code: 0 });
    expect(aws.changes.filter((change) => change === 'DeleteStack')).toHaveLength(2);
    expect(await buckets()).toEqual([]);
  });

  it.each(['ROLLBACK_COMPLETE', 'DELETE_COMPLETE'])(
    'deletes the empty tables that a failed first deployment left, of a stack in %s',
    async (status) => {
      put(0, true);
      stackIn(status);
      expect(await remove('--stack Pennytrace --failed --yes')).toMatchObject({ code: 0 });
      expect(aws.tables.size).toBe(0);
      expect(aws.stacks[0]?.status).toBe('DELETE_COMPLETE');
    },
  );

  it('with --failed spares what is not empty, and stacks that have served', async () => {
    put(1, true);
    stackIn('ROLLBACK_COMPLETE');
    const refused = await remove('--stack Pennytrace --failed --yes');
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(`nothing is deleted: ${table}`) });
    put(0, true);
    aws.stacks.length = 0;
    stackIn('UPDATE_ROLLBACK_COMPLETE');
    const served = await remove('--stack Pennytrace --failed --yes');
    expect(served).toMatchObject({ code: 1, err: expect.stringContaining('UPDATE_ROLLBACK_COMPLETE') });
    expect(aws.changes).toEqual([]);
    expect(aws.tables.size).toBe(1);
  });

  it('deletes the user pool with its people, or spares them with --failed', async () => {
    put(0, true);
    aws.userPools.set('eu-west-1_People', { users: 1, isProtected: true });
    stackIn('ROLLBACK_COMPLETE');
    const spared = await remove('--stack Pennytrace --failed --yes');
    expect(spared).toMatchObject({ code: 1, err: expect.stringContaining('eu-west-1_People') });
    expect(await remove('--stack Pennytrace --all-data --yes')).toMatchObject({ code: 0 });
    expect(aws.userPools.size).toBe(0);
    expect(await remove('--stack Pennytrace --all-data --yes')).toMatchObject({ code: 0 });
  });

  it.each([
    ['--all-data', 'name the stack'],
    ['--stack Pennytrace', 'one of --failed and --all-data'],
    ['--stack Pennytrace --failed --all-data', 'one of --failed and --all-data'],
  ])('asks for more than %s', async (argv, words) => {
    expect(await remove(argv)).toMatchObject({ code: 2, err: expect.stringContaining(words) });
  });

  it('says if there is no such stack', async () => {
    expect(await remove('--stack Nobody --failed')).toMatchObject({
      code: 1,
      err: expect.stringContaining('no stack Nobody in us-east-1'),
    });
  });
});

describe('compact', () => {
  const compact = (argv: string) => runs(runCompact, `--project acme/shop ${argv}`);

  it('finds the files of a stack, and is on its audit trail', async () => {
    stackIn('CREATE_COMPLETE');
    const [stack] = aws.stacks;
    if (stack) aws.stacks[0] = { ...stack, outputs: { ...stack.outputs, AuditTable: table } };
    expect(await compact('--stack Pennytrace --dry-run')).toMatchObject({ code: 0, err: '' });
    expect(aws.inserted).toEqual([]);
    expect(await compact('--stack Pennytrace --from 2026-11-01')).toMatchObject({
      code: 0,
      out: '0 days, 0 files, 0 rows: 0 rows are left',
      err: '',
    });
    expect(JSON.stringify(aws.inserted)).toContain('project.compact');
    expect(JSON.stringify(aws.inserted)).toContain('2026-11-01');
  });

  it('takes a bucket whose stack is gone', async () => {
    expect(await compact(`--bucket ${files}`)).toMatchObject({ code: 0, err: '' });
    expect(aws.inserted).toEqual([]);
  });

  it('asks for one of both, and says if the stack has no files', async () => {
    expect(await compact(`--bucket ${files} --stack Pennytrace`)).toMatchObject({ code: 2 });
    expect(await compact('--stack Nobody')).toMatchObject({
      code: 1,
      err: expect.stringContaining('no stack Nobody'),
    });
  });
});

describe('restore --complete', () => {
  const complete = (name: string) => runs(runRestore, `--complete ${name}`);

  it('gives a restored table what its stack says of it, so that the stack can be deployed', async () => {
    put(1, false);
    stackIn('CREATE_COMPLETE');
    const { code, out, err } = await complete(table);
    expect(code).toBe(0);
    expect(aws.tables.get(table)).toEqual({
      items: 1,
      isProtected: true,
      isRecoverable: true,
      stream: 'NEW_AND_OLD_IMAGES',
      expiry: 'x',
    });
    expect(out).toContain('it has a stream');
    expect(err).toContain('cdk deploy -c readStreams=false && npx cdk deploy');
    // It can be repeated: a stream that is there is not switched on again.
    expect(await complete(table)).toMatchObject({ code: 0 });
  });

  it('leads to a stack that can be deployed without its streams, and with them', () => {
    const findStreams = (settings: Record<string, unknown>) => {
      const { Resources } = synthesize(settings).toJSON() as {
        Resources: Record<string, { Type: string; Properties: Record<string, unknown> }>;
      };
      const all = Object.values(Resources);
      return {
        types: all.map(({ Type }) => Type).filter((type) => type !== 'AWS::Lambda::EventSourceMapping'),
        mappings: all.filter(({ Properties }) => Properties?.StartingPosition !== undefined).length,
        streams: all.filter(({ Properties }) => Properties?.StreamSpecification !== undefined).length,
      };
    };
    const settings = { events: true, analytics: true };
    const without = findStreams({ ...settings, readStreams: false });
    const reading = findStreams(settings);
    expect([without.mappings, without.streams]).toEqual([0, 0]);
    expect([reading.mappings, reading.streams]).toEqual([4, 2]);
    // Nothing else goes, above all not the bucket of analytics.
    expect(without.types).toEqual(reading.types);
  });

  it('says if the stack has no such table', async () => {
    stackIn('CREATE_COMPLETE');
    expect(await complete('other')).toMatchObject({
      code: 1,
      err: expect.stringContaining('no table other'),
    });
  });
});

describe('analytics that were switched off', () => {
  it('get their bucket back, and make none', () => {
    const again = synthesize({ analytics: { bucket: 'former-files' } });
    const text = JSON.stringify(again.toJSON());
    expect(again.findResources('AWS::S3::Bucket')).not.toHaveProperty('AnalyticsFiles33EC05FF');
    expect(text).toContain('s3://former-files/calls/');
    expect(text).toContain('s3://former-files/results/');
    const [policy] = Object.values(again.findResources('AWS::S3::BucketPolicy')).filter(
      ({ Properties }) => Properties.Bucket === 'former-files',
    );
    expect(JSON.stringify(policy)).toContain('aws:SecureTransport');
  });
});
