import { beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '../../../../../foundations/storage/index.ts';
import type { JsonObject, JsonValue } from '../../../../../foundations/wire/index.ts';
import {
  type Conversion,
  knownCall,
  type Operand,
  type QueryJson,
  referenceAnswer,
} from '../../../../support/reference/index.ts';
import { ask, createCallStore, makeEnd, makeStart, project, send } from '../../../../support/values/calls.ts';

/*
 * The rules of queries by example. Each is held against the service and against the reference
 * evaluator. The evaluator in turn is held against the service on bodies and calls of any kind.
 */

/** The inputs of one call each, by the call's id, in order of time. */
const inputs = {
  missing: {},
  null: { v: null },
  false: { v: false },
  true: { v: true },
  zero: { v: 0 },
  two: { v: 2.5 },
  ten: { v: 10 },
  empty: { v: '' },
  'ten as text': { v: '10' },
  word: { v: 'Abc' },
  'last code unit': { v: '\uffff' },
  'beyond code units': { v: '😀' },
  list: { v: [1, 'a', null] },
  'empty list': { v: [] },
  object: { v: { a: 1, b: { c: 2 } } },
  dotted: { v: { 'b.c': 3, b: { d: 4, 0: 5 } } },
} satisfies Record<string, JsonObject>;

const ids = Object.keys(inputs);
const allBut = (...without: string[]): string[] => ids.filter((id) => !without.includes(id));
const there = allBut('missing', 'null');
const truthy = allBut('missing', 'null', 'false', 'zero', 'empty');
const texts = ['empty', 'ten as text', 'word', 'last code unit', 'beyond code units'];

const starts = Object.entries(inputs).map(([id, own], second) =>
  makeStart({
    id,
    trace_id: second < 4 ? 't1' : 't2',
    inputs: own,
    parent_id: second < 2 ? null : 'missing',
    op_name: id === 'list' ? 'list' : `svc:///acme/shop/op/${id === 'two' ? 'two' : 'o'}:${second}`,
    started_at: `2026-10-01T00:00:${String(second).padStart(2, '0')}Z`,
    svc_run_step: second % 3,
  }),
);
const ends = [
  makeEnd({ id: 'zero', ended_at: '2026-10-01T00:00:04.25Z', output: ['svc:///acme/shop/object/o:1'] }),
  makeEnd({
    id: 'two',
    ended_at: '2026-10-01T00:00:06Z',
    summary: { usage: { 'gpt-4.1': { total_tokens: 7 } } },
  }),
  makeEnd({
    id: 'ten',
    ended_at: '2026-10-01T00:00:07Z',
    summary: { usage: { 'gpt-4.1': { total_tokens: 30 } } },
  }),
];
const endRecord = (id: unknown): JsonObject | null =>
  (ends.find(({ req }) => (req.end as JsonObject).id === id)?.req.end as JsonObject | undefined) ?? null;
const known = starts.map(({ req }) => {
  const start = req.start as JsonObject;
  return knownCall(start, endRecord(start.id), 'ada');
});

let store: Store;
beforeAll(async () => {
  store = await createCallStore();
  await send(store, [...starts, ...ends]);
});

/** What the service answers, after seeing that the reference answers the same. */
const answer = async (part: Omit<QueryJson, 'project_id'>): Promise<JsonObject[]> => {
  const body = { project_id: project, ...part };
  const answered = await ask(store, body);
  expect(referenceAnswer(body, known)).toEqual(answered);
  return answered;
};
const findIds = async (part: Omit<QueryJson, 'project_id'>): Promise<unknown[]> =>
  (await answer(part)).map(({ id }) => id);

const field = ($getField: string): Operand => ({ $getField });
const literal = ($literal: JsonValue): Operand => ({ $literal });
const v = field('inputs.v');
const above1: Operand = { $gt: [v, literal(1)] };

describe('a query', () => {
  it.each<[Operand, string[]]>([
    // Equality is of the same type, and of lists and objects as JSON.
    [{ $eq: [v, literal(10)] }, ['ten']],
    [{ $eq: [literal('10'), v] }, ['ten as text']],
    [{ $eq: [v, literal(true)] }, ['true']],
    [{ $eq: [v, literal({ b: { c: 2 }, a: 1 })] }, ['object']],
    [{ $eq: [v, literal([1, 'a', null])] }, ['list']],
    [{ $eq: [v, literal(['a', 1, null])] }, []],
    [{ $eq: [v, v] }, there],
    [{ $ne: [v, literal(10)] }, there.filter((id) => id !== 'ten')],
    [{ $ne: [v, v] }, []],
    // A null literal is what is missing.
    [{ $eq: [v, literal(null)] }, ['missing', 'null']],
    [{ $ne: [literal(null), v] }, there],
    [{ $eq: [literal(null), literal(null)] }, ids],
    [{ $ne: [literal(null), literal(0)] }, ids],
    // Only booleans, numbers and texts have an order, each among themselves.
    [{ $gt: [v, literal(0)] }, ['two', 'ten']],
    [{ $gte: [v, literal(2.5)] }, ['two', 'ten']],
    [{ $lt: [v, literal(10)] }, ['zero', 'two']],
    [{ $lte: [literal(2.5), v] }, ['two', 'ten']],
    [{ $lt: [v, literal('B')] }, ['empty', 'ten as text', 'word']],
    [{ $gt: [v, literal('\uffff')] }, ['beyond code units']],
    [{ $gt: [v, literal(false)] }, ['true']],
    [{ $lte: [v, literal(null)] }, []],
    [{ $gte: [v, literal([])] }, []],
    [{ $lte: [v, literal({})] }, []],
    // Lists of operands.
    [{ $in: [v, [literal(10), literal('Abc'), literal([])]] }, ['ten', 'word', 'empty list']],
    [{ $in: [v, [literal(null), literal(0)]] }, ['missing', 'null', 'zero']],
    [{ $in: [v, []] }, []],
    [{ $in: [v, [v]] }, there],
    // Parts of texts, items of lists.
    [{ $contains: { input: v, substr: literal('b') } }, ['word']],
    [{ $contains: { input: v, substr: literal('B') } }, []],
    [{ $contains: { input: v, substr: literal('B'), case_insensitive: true } }, ['word']],
    [{ $contains: { input: v, substr: literal('a') } }, ['list']],
    [{ $contains: { input: v, substr: literal('A'), case_insensitive: true } }, ['word']],
    [{ $contains: { input: v, substr: literal('') } }, texts],
    [{ $contains: { input: v, substr: literal(1) } }, ['list']],
    [{ $contains: { input: v, substr: literal(null) } }, []],
    [{ $contains: { input: v, substr: field('inputs.nope') } }, []],
    // What counts as true.
    [v, truthy],
    [{ $not: [v] }, allBut(...truthy)],
    [{ $and: [v, above1] }, ['two', 'ten']],
    [{ $or: [{ $not: [v] }, above1] }, [...allBut(...truthy), 'two', 'ten']],
    [{ $and: [] }, ids],
    [{ $or: [] }, []],
    [{ $and: [literal('yes')] }, ids],
    [literal(''), []],
    [{ $not: [literal(0)] }, ids],
    // Operations are operands, true or false.
    [{ $eq: [above1, literal(true)] }, ['two', 'ten']],
    [{ $ne: [above1, literal(true)] }, allBut('two', 'ten')],
    [{ $not: [{ $not: [above1] }] }, ['two', 'ten']],
    // Conversions that have no result are missing.
    [{ $gte: [{ $convert: { input: v, to: 'double' } }, literal(1)] }, ['true', 'two', 'ten', 'ten as text']],
    [{ $convert: { input: v, to: 'exists' } }, there],
    [{ $eq: [{ $convert: { input: above1, to: 'int' } }, literal(1)] }, ['two', 'ten']],
    // Paths: numbers index lists, keys may hold dots, and the shortest that leads on is taken.
    [{ $eq: [field('inputs.v.0'), literal(1)] }, ['list']],
    [{ $eq: [field('inputs.v.b.0'), literal(5)] }, ['dotted']],
    [{ $gt: [field('inputs.v.b.c'), literal(0)] }, ['object', 'dotted']],
    [{ $gt: [field('inputs.v.b.d'), literal(0)] }, ['dotted']],
    [{ $convert: { input: field('inputs.v.length'), to: 'exists' } }, []],
    [{ $convert: { input: field('inputs.v.2'), to: 'exists' } }, []],
    [{ $gt: [field('summary.usage.gpt-4.1.total_tokens'), literal(7)] }, ['ten']],
    [{ $eq: [field('summary.svc.latency_ms'), literal(250)] }, ['zero']],
    [{ $ne: [field('summary.svc.status'), literal('running')] }, ['zero', 'two', 'ten']],
    [{ $eq: [field('summary.svc.trace_name'), literal('two')] }, ['two']],
    [{ $and: [{ $eq: [field('ended_at'), literal(null)] }, above1] }, []],
  ])('%j', async ($expr, wanted) => {
    expect(new Set(await findIds({ query: { $expr } }))).toEqual(new Set(wanted));
  });

  it.each<[JsonValue, string[]]>([
    ['2026-10-01T00:00:02Z', ['missing', 'null']],
    ['2026-10-01T02:00:02.000000+02:00', ['missing', 'null']],
    ['2026-09-30 23:59:59.999999', []],
    [Date.UTC(2026, 9, 1, 0, 0, 2) / 1000, ['missing', 'null']],
    [Date.UTC(2026, 9, 1, 0, 0, 1) / 1000 + 0.000001, ['missing', 'null']],
    ['2026-10-01T00:00:02', ['missing', 'null']],
    [null, []],
  ])('takes %j for a time beside a time column', async (time, wanted) => {
    const before: Operand = { $lt: [field('started_at'), literal(time)] };
    const after: Operand = { $gt: [literal(time), field('started_at')] };
    for (const $expr of [before, after]) expect(await findIds({ query: { $expr } })).toEqual(wanted);
  });

  it.each<[JsonValue, Conversion, JsonValue]>([
    [' -2.50e1\n', 'double', -25],
    ['0x10', 'double', null],
    ['+.5', 'double', 0.5],
    ['01.', 'double', 1],
    ['.', 'double', null],
    ['1,5', 'double', null],
    ['', 'double', null],
    ['1e400', 'double', null],
    [true, 'double', 1],
    [[1], 'double', null],
    [-2.9, 'int', -2],
    ['2.9', 'int', 2],
    [false, 'int', 0],
    [1e21, 'string', '1e+21'],
    [true, 'string', 'true'],
    ['x', 'string', 'x'],
    [{ a: [1, null] }, 'string', '{"a":[1,null]}'],
    [null, 'string', null],
    [' TRUE\n', 'bool', true],
    ['0', 'bool', false],
    ['yes', 'bool', null],
    ['', 'bool', null],
    [0.5, 'bool', true],
    [[], 'bool', null],
    [false, 'exists', true],
    ['', 'exists', true],
    [null, 'exists', false],
  ])('converts %j to %s: %j', async (from, to, wanted) => {
    const $expr: Operand = { $eq: [{ $convert: { input: literal(from), to } }, literal(wanted)] };
    expect(await findIds({ query: { $expr } })).toEqual(ids);
  });
});

describe('an order', () => {
  const ascending = ['false', 'true', 'zero', 'two', 'ten', 'empty', 'ten as text', 'word', 'last code unit'];
  const structures = ['object', 'dotted'];
  const lists = ['list', 'empty list'];

  it('is by type and value, with missing values last', async () => {
    const wanted = [...ascending, 'beyond code units', ...lists, ...structures, 'missing', 'null'];
    expect(await findIds({ sort_by: [{ field: 'inputs.v', direction: 'asc' }] })).toEqual(wanted);
  });

  it('is reversed except for ties and missing values', async () => {
    const wanted = [
      ...structures,
      ...lists,
      'beyond code units',
      ...ascending.toReversed(),
      'missing',
      'null',
    ];
    expect(await findIds({ sort_by: [{ field: 'inputs.v', direction: 'desc' }] })).toEqual(wanted);
  });

  it('applies its keys in turn, and then time', async () => {
    const sort_by = [
      { field: 'trace_id', direction: 'desc' },
      { field: 'svc_run_step', direction: 'asc' },
    ] as const;
    const bySteps = [2, 0, 1].flatMap((first) => ids.slice(4).filter((_, i) => i % 3 === first));
    expect(await findIds({ sort_by, limit: 12 })).toEqual(bySteps);
    expect(await findIds({ sort_by, offset: 12 })).toEqual(['missing', 'true', 'null', 'false']);
  });

  it('includes times like other values', async () => {
    const sort_by = [{ field: 'ended_at', direction: 'desc' }] as const;
    expect(await findIds({ sort_by, limit: 4 })).toEqual(['ten', 'two', 'zero', 'missing']);
  });
});

describe('a filter', () => {
  it.each<[QueryJson['filter'], string[]]>([
    [{ op_names: ['list'] }, ['list']],
    [{ op_names: ['svc:///acme/shop/op/two:*', 'list:*'] }, ['two']],
    [{ op_names: ['svc:///acme/shop/op/two'] }, []],
    [{ output_refs: ['svc:///acme/shop/object/o:*'] }, ['zero']],
    [{ input_refs: ['svc:///acme/shop/object/o:1'] }, []],
    [{ trace_roots_only: true }, ['missing', 'null']],
    [{ trace_ids: ['t1'], parent_ids: ['missing', 'nobody'] }, ['false', 'true']],
    [{ call_ids: ['ten', 'list', 'nobody'], trace_ids: null }, ['ten', 'list']],
    [{ thread_ids: ['null'] }, []],
    [{ turn_ids: [] }, []],
    [{ svc_user_ids: ['ada'], trace_ids: ['t1'] }, ids.slice(0, 4)],
    [{ svc_run_ids: [''] }, []],
  ])('%j', async (filter, wanted) => {
    expect(await findIds({ filter })).toEqual(wanted);
  });
});

describe('columns', () => {
  const readColumns = async (id: string, columns: string[]): Promise<JsonObject> => {
    const [{ id: _, project_id, op_name, trace_id, started_at, ...others } = {}] = await answer({
      filter: { call_ids: [id] },
      columns,
    });
    expect([project_id, op_name, trace_id, started_at]).not.toContain(undefined);
    return others;
  };

  it.each<[string, string[], JsonObject]>([
    ['object', [], {}],
    [
      'object',
      ['inputs.v.b', 'inputs.v.b.c', 'ended_at'],
      { ended_at: null, inputs: { v: { b: { c: 2 } } } },
    ],
    ['dotted', ['inputs.v.b.c'], { inputs: { v: { 'b.c': 3 } } }],
    ['list', ['inputs.v.1'], { inputs: { v: [null, 'a'] } }],
    ['list', ['inputs.v.7', 'display_name'], { display_name: null, inputs: {} }],
    [
      'zero',
      ['output.0', 'summary.svc.status'],
      { output: ['svc:///acme/shop/object/o:1'], summary: { svc: { status: 'success' } } },
    ],
    ['two', ['summary.usage'], { summary: { usage: { 'gpt-4.1': { total_tokens: 7 } } } }],
  ])('of %s: %j', async (id, columns, wanted) => {
    expect(await readColumns(id, columns)).toEqual(wanted);
  });

  it('include sizes in all clauses of a query, but only if they are requested', async () => {
    const bySize = {
      query: { $expr: { $gt: [field('storage_size_bytes'), literal(0)] } },
      sort_by: [{ field: 'storage_size_bytes', direction: 'desc' }],
      columns: [],
    } satisfies Partial<QueryJson>;
    const found = await answer({ ...bySize, include_storage_size: true });
    const sizes = found.map(({ storage_size_bytes }) => Number(storage_size_bytes));
    expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
    expect(new Set(sizes).size).toBeGreaterThan(1);
    await expect(ask(store, { project_id: project, ...bySize })).rejects.toMatchObject({ status: 422 });
    expect(() => referenceAnswer({ project_id: project, ...bySize }, known)).toThrow(RangeError);
  });

  it('come with sizes if they are requested', async () => {
    const bytes = (record: unknown) => Buffer.byteLength(JSON.stringify(record));
    const own = bytes(starts[ids.indexOf('zero')]?.req.start) + bytes(endRecord('zero'));
    const trace = [...starts.slice(4).map(({ req }) => req.start), ...ends.map(({ req }) => req.end)];
    const [call] = await answer({
      filter: { call_ids: ['zero'] },
      include_storage_size: true,
      include_total_storage_size: true,
    });
    expect(call).toMatchObject({
      storage_size_bytes: own,
      total_storage_size_bytes: trace.map(bytes).reduce((sum, size) => sum + size),
    });
  });
});
