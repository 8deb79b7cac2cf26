import { randomBytes } from 'node:crypto';
import {
  type AttributeValue,
  DescribeTableCommand,
  type DynamoDBClient,
  PutItemCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { run } from '../../../bin/restore.ts';
import { queryAudit } from '../../../core/records/audit.ts';
import { deleteCalls } from '../../../core/records/calls/index.ts';
import { parseScope, type Scope } from '../../../foundations/auth/index.ts';
import { requestBudget } from '../../../foundations/storage/index.ts';
import { type ControlPlane, startControlPlane } from '../../support/service/control-plane.ts';
import { createStores, type Stores } from '../../support/service/stores.ts';
import { createCallStore, makeStart, project, read, send } from '../../support/values/calls.ts';

let stores: Stores;
/**
 * What the table was at some time, as point-in-time recovery brings it back: a table of its own.
 */
let restored: Stores;
let dynamodb: DynamoDBClient;
/** Has the stack of the first stores. */
let aws: ControlPlane;
beforeAll(async () => {
  [stores, restored] = await Promise.all([createStores(), createStores()]);
  dynamodb = stores.dynamodb;
  aws = await startControlPlane();
  const outputs = { CostsTable: stores.costsTable, AuditTable: stores.auditTable };
  aws.stacks.push({ name: 'Pennytrace', status: 'CREATE_COMPLETE', resources: [], outputs, template: {} });
});
afterAll(() => aws[Symbol.asyncDispose]());

beforeEach(() => {
  const environment = { ...stores.environment, AWS_ENDPOINT_URL_CLOUDFORMATION: aws.endpoint };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
});
afterEach(() => vi.unstubAllEnvs());

const restore = async (argv: string) => {
  const out: string[] = [];
  const err: string[] = [];
  const code = await run(argv.split(' ').filter(Boolean), {
    out: (text) => out.push(text),
    err: (text) => err.push(text),
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
};

const put = (table: string, id: string, attributes: Record<string, AttributeValue> = {}) =>
  dynamodb.send(
    new PutItemCommand({
      TableName: table,
      Item: { k: { B: Buffer.from(id) }, p: { B: Buffer.from('p') }, ...attributes },
    }),
  );

/** The items of a table, by the text of their keys. */
const readItems = async (table: string) => {
  const { Items = [] } = await dynamodb.send(new ScanCommand({ TableName: table }));
  return new Map(Items.map((item) => [Buffer.from(item.k?.B ?? []).toString(), item]));
};

describe('restore', () => {
  it('writes only what the table lacks', async () => {
    await put(restored.costsTable, 'a\0lost', { v: { N: '1' } });
    await put(restored.costsTable, 'a\0kept', { v: { N: '1' } });
    await put(stores.costsTable, 'a\0kept', { v: { N: '2' } });
    const tables = `--from ${restored.costsTable} --to ${stores.costsTable}`;
    expect(await restore(`${tables} --dry-run`)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^2 items/),
    });
    expect((await readItems(stores.costsTable)).size).toBe(1);
    const { code, out } = await restore(tables);
    expect([code, out]).toEqual([0, expect.stringContaining('1 written')]);
    const items = await readItems(stores.costsTable);
    expect(items.get('a\0lost')).toMatchObject({ v: { N: '1' } });
    expect(items.get('a\0kept')).toMatchObject({ v: { N: '2' } });
  });

  it('says if events and analytics would get nothing of the table', async () => {
    const dryRun = async (name: 'callsTable' | 'costsTable') =>
      (await restore(`--from ${restored[name]} --to ${stores[name]} --dry-run`)).err;
    const { StreamSpecification: stream } =
      (await dynamodb.send(new DescribeTableCommand({ TableName: stores.callsTable }))).Table ?? {};
    expect(await dryRun('callsTable')).toEqual(
      stream?.StreamEnabled ? '' : expect.stringContaining(`${stores.callsTable} has no stream`),
    );
    expect(await dryRun('costsTable')).toBe('');
  });

  it('replaces existing items with --replace', async () => {
    await restore(`--from ${restored.costsTable} --to ${stores.costsTable} --replace`);
    expect((await readItems(stores.costsTable)).get('a\0kept')).toMatchObject({ v: { N: '1' } });
  });

  it('copies only one project, not another whose name starts alike', async () => {
    // Prices are under the project itself, all else is under keys that begin with it.
    for (const id of ['b/c', 'b/c\0x', 'b/cd', 'b/cd\0x']) await put(restored.costsTable, id);
    await restore(`--from ${restored.costsTable} --to ${stores.costsTable} --project b/c`);
    const items = await readItems(stores.costsTable);
    expect([...items.keys()].filter((id) => id.startsWith('b/')).toSorted()).toEqual(['b/c', 'b/c\0x']);
  });

  it.each([[''], [' --replace']])('copies every kind of value to the last digit%s', async (how) => {
    const id = `every kind${how}`;
    const values: Record<string, AttributeValue> = {
      long: { N: '12345678901234567890123456789012345678' },
      precise: { N: '0.12345678901234567890123456789' },
      large: { N: '1000000000000000000000000000000' },
      negative: { N: '-1.5' },
      text: { S: '' },
      bytes: { B: Uint8Array.of(0, 255) },
      truth: { BOOL: false },
      nothing: { NULL: true },
      map: { M: { list: { L: [{ N: '9007199254740993' }, { M: {} }] } } },
      texts: { SS: ['a', 'b'] },
      numbers: { NS: ['9007199254740993'] },
      binaries: { BS: [Uint8Array.of(1)] },
    };
    await put(restored.costsTable, id, values);
    await restore(`--from ${restored.costsTable} --to ${stores.costsTable}${how}`);
    const copied = (await readItems(stores.costsTable)).get(id);
    expect(copied).toEqual((await readItems(restored.costsTable)).get(id));
    expect(copied).toMatchObject(values);
  });

  it('leaves out expired items', async () => {
    await put(restored.costsTable, 'e\0old', { x: { N: '1' } });
    await restore(`--from ${restored.costsTable} --to ${stores.costsTable}`);
    expect((await readItems(stores.costsTable)).has('e\0old')).toBe(false);
  });

  it('restores deleted calls with their payloads in segments of calls that were not deleted', async () => {
    const service = await createCallStore();
    const then = await createCallStore();
    const inputs = (id: string) => ({ text: `${id} ${randomBytes(600).toString('hex')}` });
    await send(service, [
      makeStart({ id: 'gone', trace_id: 'a', inputs: inputs('gone') }),
      makeStart({ id: 'here', trace_id: 'b', inputs: inputs('here') }),
    ]);
    const [gone, here] = await Promise.all(['gone', 'here'].map((id) => read(service, id)));
    // As point-in-time recovery would copy the table.
    await restore(`--from ${service.table.name} --to ${then.table.name}`);
    await deleteCalls(service, project, ['gone'], requestBudget(10_000));
    expect(await read(service, 'gone')).toBeNull();
    const { code } = await restore(`--from ${then.table.name} --to ${service.table.name} --replace`);
    expect(code).toBe(0);
    expect(gone).not.toBeNull();
    expect([await read(service, 'gone'), await read(service, 'here')]).toEqual([gone, here]);
  });
});

describe('the audit trail', () => {
  const audited = parseScope('audited/shop') ?? '*';
  const trail = (scope: Scope) =>
    queryAudit(
      { client: dynamodb, name: stores.auditTable },
      { scope, start: 0, end: Number.MAX_SAFE_INTEGER, action: 'table', limit: 100 },
      requestBudget(10_000),
    );
  const copy = () => `--from ${restored.costsTable} --to ${stores.costsTable}`;

  it('of the stack has who restored what from where, and no dry run', async () => {
    const actor = { kind: 'operator', user: expect.stringMatching(/^aws:./) };
    const before = (await trail('*')).length;
    await restore(`${copy()} --project audited/shop --dry-run`);
    expect(await trail(audited)).toEqual([]);
    expect((await restore(`${copy()} --project audited/shop --replace`)).err).toBe('');
    const entry = { action: 'table.restore', target: stores.costsTable, address: null, actor };
    expect(await trail(audited)).toMatchObject([
      { ...entry, project_id: 'audited/shop', after: { from: restored.costsTable, replace: true } },
    ]);
    await restore(copy());
    const all = await trail('*');
    expect(all).toHaveLength(before + 1);
    expect(all[0]).toMatchObject({ ...entry, project_id: null, after: { replace: false } });
  });

  it.each([
    ['of another table', '', 'is no table of the stack Pennytrace. Name its stack: --stack NAME'],
    ['of a stack that is not there', '--stack Nobody', 'no stack Nobody'],
  ])('%s has nothing, which is said and hinders nobody', async (_, more, words) => {
    const to = more === '' ? stores.rollupsTable : stores.costsTable;
    const from = more === '' ? restored.rollupsTable : restored.costsTable;
    const before = (await trail('*')).length;
    const { code, err } = await restore(`--from ${from} --to ${to} ${more}`);
    expect([code, err]).toEqual([0, expect.stringContaining('This is not on the audit trail')]);
    expect(err).toContain(words);
    expect(await trail('*')).toHaveLength(before);
  });
});

describe('a wrong command line', () => {
  it.each([
    ['', 'give both tables'],
    ['--from a', 'give both tables'],
    ['--from a --to a', 'are the same table'],
    ['--from a --to b --project shop', 'should be <entity>/<project>'],
    ['--from a --to b --force', "Unknown option '--force'"],
  ])('%j is refused', async (argv, advice) => {
    expect(await restore(argv)).toMatchObject({ code: 2, err: expect.stringContaining(advice) });
  });

  it('tables with different keys are refused before anything is written', async () => {
    const { code, err } = await restore(`--from ${restored.keysTable} --to ${stores.costsTable}`);
    expect([code, err]).toEqual([1, expect.stringContaining('have different keys')]);
  });

  it('a missing table is named as such', async () => {
    const { code, err } = await restore(`--from nowhere --to ${stores.costsTable}`);
    expect([code, err]).toEqual([1, expect.stringContaining('no such table')]);
  });

  it('help is no failure', async () => {
    expect(await restore('--help')).toMatchObject({ code: 0, out: expect.stringContaining('--dry-run') });
  });
});
