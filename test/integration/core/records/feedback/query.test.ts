import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { getBodySchema } from '../../../../../api/endpoint.ts';
import { feedbackKind, feedbackQuery } from '../../../../../api/feedback.ts';
import { queryFeedback } from '../../../../../core/records/feedback/index.ts';
import {
  compareBy,
  compareText,
  compile,
  parseQuery,
  sortable,
  toPath,
  type Value,
  valueAt,
} from '../../../../../foundations/expression/index.ts';
import { requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import type { JsonObject } from '../../../../../foundations/wire/index.ts';
import { parseBody } from '../../../../../foundations/wire/schema.ts';
import { intercepted } from '../../../../support/faults/intercepted.ts';
import { runs } from '../../../../support/run/sampling.ts';
import { project } from '../../../../support/values/calls.ts';
import {
  ask,
  callRef,
  createAll,
  createFeedbackStore,
  makeFeedback,
  noise,
  purge,
  refusal,
  replace,
  whereEqual,
} from '../../../../support/values/feedback.ts';

const count = 60;
let store: Store;
/** All that is stored, in order of creation. */
let all: JsonObject[];
beforeAll(async () => {
  store = await createFeedbackStore();
  const batch = Array.from({ length: count }, (_, i) =>
    makeFeedback({
      id: `f-${i}`,
      svc_ref: callRef(`c-${i % 7}`),
      feedback_type: ['stars', 'note', 'emoji'][i % 3],
      payload: {
        n: i % 5,
        ...(i % 4 && { text: `text ${i % 9}` }),
        mixed: [null, true, 3, 'three', [1], { a: 1 }][i % 6],
        ...(i % 10 === 0 && noise(4000)),
      },
      creator: i % 2 ? `creator ${i % 6}` : null,
    }),
  );
  await createAll(store, [...batch, makeFeedback({ project_id: 'acme/lab' })]);
  await replace(store, 'f-10', { id: 'r-10', payload: { n: 9 }, svc_ref: callRef('c-1') });
  await replace(store, 'f-20', { id: 'r-20', payload: { n: 0, ...noise(4000) }, feedback_type: 'stars' });
  await purge(store, 'f-30', 'r-20', 'never');
  all = await ask(store);
});

const getIds = (records: JsonObject[]) => records.map(({ id }) => id);

describe('a query', () => {
  it('answers all of a project, in order of creation', () => {
    const created = all.map(({ created_at }) => String(created_at));
    expect(created).toEqual([...created].sort());
    const gone = ['f-10', 'f-20', 'f-30'];
    const stay = Array.from({ length: count }, (_, i) => `f-${i}`).filter((id) => !gone.includes(id));
    expect(getIds(all)).toEqual([...stay, 'r-10']);
  });

  it('answers whole records with their fields in order', () => {
    expect(Object.keys(all[0] ?? {})).toEqual(feedbackKind().fields);
  });

  it('answers the fields that were asked for, paths in the shape of the payload', async () => {
    const query = whereEqual('id', 'f-5');
    expect(
      await ask(store, { query, fields: ['payload.n', 'id', 'payload.mixed.a', 'payload.none'] }),
    ).toEqual([{ id: 'f-5', payload: { n: 0, mixed: { a: 1 } } }]);
    expect(await ask(store, { query, fields: [] })).toEqual([{}]);
    expect(await ask(store, { query, fields: ['payload.n', 'payload'] })).toEqual([
      { payload: all[5]?.payload },
    ]);
  });

  it.each([
    [{ fields: ['nothing'] }, ['body', 'fields', '0']],
    [{ query: whereEqual('nothing', 1) }, ['body', 'query', '$expr', '$eq', '0', '$getField']],
    [{ sort_by: [{ field: 'nothing', direction: 'asc' }] }, ['body', 'sort_by', '0', 'field']],
    [{ limit: -1 }, ['body', 'limit']],
    [{ more: 1 }, ['body', 'more']],
  ])('is refused where it makes no sense: %j', async (body, loc) => {
    expect(await refusal((async () => ask(store, body))())).toMatchObject({ status: 422, loc });
  });

  it('reads no more than it takes', async () => {
    const shards = Math.max(...store.shards);
    const spent = requestBudget(60_000);
    expect(getIds(await ask(store, { limit: 3, fields: ['id'] }, spent))).toEqual(['f-0', 'f-1', 'f-2']);
    expect(spent.meter).toMatchObject({ readUnits: expect.closeTo(shards / 2, 0), requests: shards });
    const byId = requestBudget(60_000);
    await ask(store, { query: whereEqual('id', 'f-1') }, byId);
    expect(byId.meter).toMatchObject({ readUnits: 1, requests: 1 });
    const byRef = requestBudget(60_000);
    await ask(store, { query: whereEqual('svc_ref', callRef('c-5')), fields: ['id'] }, byRef);
    expect(byRef.meter).toMatchObject({ requests: 1 });
    const byType = requestBudget(60_000);
    await ask(store, { query: whereEqual('feedback_type', 'note'), fields: ['id'] }, byType);
    expect(byType.meter).toMatchObject({ requests: shards });
  });
});

const field = (name: string) => ({ $getField: name });
const literal = (value: unknown) => ({ $literal: value });

/** Expressions of which many are true of some records, and which are pushed down in part. */
const expressions = (times: () => string[]) => {
  const value = fc.constantFrom<[string, unknown]>(
    ...Array.from({ length: 8 }, (_, i): [string, unknown] => ['svc_ref', callRef(`c-${i}`)]),
    ...['stars', 'note', 'none', 7].map((type): [string, unknown] => ['feedback_type', type]),
    ...['f-1', 'f-10', 'r-10', 'f-59', 'none', null].map((id): [string, unknown] => ['id', id]),
    ...[0, 1, '1', null].map((n): [string, unknown] => ['payload.n', n]),
    ...['text 1', true, 3].map((n): [string, unknown] => ['payload.mixed', n]),
    ['creator', null],
    ['creator', 'creator 1'],
  );
  const comparison = fc
    .tuple(fc.constantFrom('$eq', '$eq', '$ne', '$gt', '$lte'), value, fc.boolean())
    .map(([operator, [name, value], turned]) => ({
      [operator]: turned ? [literal(value), field(name)] : [field(name), literal(value)],
    }));
  const bound = fc
    .tuple(fc.constantFrom('$gt', '$gte', '$lt', '$lte', '$eq'), fc.nat(), fc.boolean())
    .map(([operator, at, turned]) => {
      const known = times();
      const time = literal(known[at % known.length]);
      return { [operator]: turned ? [time, field('created_at')] : [field('created_at'), time] };
    });
  const among = fc
    .array(value, { maxLength: 4 })
    .map((values) => ({ $in: [field(values[0]?.[0] ?? 'id'), values.map(([, value]) => literal(value))] }));
  const contains = fc.constantFrom('1', 'TEXT').map((substr) => ({
    $contains: { input: field('payload.text'), substr: literal(substr), case_insensitive: true },
  }));
  return fc.letrec<{ any: object; leaf: object }>((tie) => ({
    leaf: fc.oneof({ weight: 4, arbitrary: comparison }, bound, among, contains),
    any: fc.oneof(
      { maxDepth: 2 },
      tie('leaf'),
      fc.array(tie('any'), { maxLength: 3 }).map((operands) => ({ $and: operands })),
      fc.array(tie('any'), { maxLength: 3 }).map((operands) => ({ $or: operands })),
      tie('any').map((operand) => ({ $not: [operand] })),
    ),
  })).any;
};

const sorts = fc.array(
  fc.record({
    field: fc.constantFrom(
      'created_at',
      'id',
      'svc_ref',
      'payload.n',
      'payload.mixed',
      'creator',
      'payload.text',
    ),
    direction: fc.constantFrom('asc', 'desc'),
  }),
  { maxLength: 3 },
);

const valueIn = (record: JsonObject, path: string): Value => {
  const { field: name, steps } = toPath(path);
  return valueAt(record[name], steps);
};

/** What a query is to answer, by looking at every record. */
const expected = (where: object, sort: readonly { field: string; direction: string }[]) => {
  const kind = feedbackKind();
  const parsed = parseQuery(kind, { $expr: where });
  if (!('expression' in parsed)) throw new Error(parsed.problem.msg);
  const holds = compile<JsonObject>(
    kind,
    parsed.expression,
    ({ text }) =>
      (record) =>
        valueIn(record, text),
  );
  const byKeys = compareBy(sort.map(({ direction }) => ({ descending: direction === 'desc' })));
  const keys = (record: JsonObject) => sort.map((key) => sortable(valueIn(record, key.field)));
  return all
    .filter(holds)
    .sort(
      (a, b) =>
        byKeys(keys(a), keys(b)) ||
        compareText(String(a.created_at), String(b.created_at)) ||
        compareText(String(a.id), String(b.id)),
    );
};

describe('any query', () => {
  it('answers what looking at every record does', async () => {
    const paging = fc.option(fc.nat(8), { nil: null });
    const where = expressions(() => all.map(({ created_at }) => String(created_at)));
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(where, sorts, paging, paging, async (expression, sort, offset, limit) => {
        const body = { query: { $expr: expression }, sort_by: sort, offset, limit };
        const found = await ask(store, body);
        const from = offset ?? 0;
        expect(found).toEqual(
          expected(expression, sort).slice(from, limit === null ? undefined : from + limit),
        );
        answered += found.length;
      }),
      { numRuns: runs(150, 1000) },
    );
    expect(answered, 'many queries match something').toBeGreaterThan(500);
  });

  it('over more records than a page holds answers each once, in either direction', async () => {
    const own = await createFeedbackStore({ shards: [2, 8] });
    const batch = Array.from({ length: 700 }, (_, n) => makeFeedback({ payload: { n } }));
    await createAll({ ...own, shards: [2] }, batch.slice(0, 300));
    await createAll(own, batch.slice(300));
    const numbers = async (body: object) =>
      (await ask(own, { fields: ['payload.n'], ...body })).map(({ payload }) => (payload as JsonObject).n);
    const inOrder = batch.map((_, n) => n);
    expect(await numbers({})).toEqual(inOrder);
    expect(await numbers({ query: whereEqual('feedback_type', 'note') })).toEqual(inOrder);
    expect(await numbers({ query: whereEqual('svc_ref', callRef('c')) })).toEqual(inOrder);
    const newest = [{ field: 'created_at', direction: 'desc' }];
    expect(await numbers({ sort_by: newest })).toEqual(inOrder.toReversed());
    expect(await numbers({ sort_by: newest, limit: 5, offset: 10 })).toEqual([689, 688, 687, 686, 685]);
  });
});

describe('feedback that is read page by page', () => {
  /** In one shard, and more than the first two pages hold: 128 and 512. */
  const count = 700;
  let store: Store;
  beforeAll(async () => {
    store = await createFeedbackStore({ shards: [1] });
    const batch = Array.from({ length: count }, (_, i) => makeFeedback({ id: `f-${i}`, creator: 'ada' }));
    await createAll(store, batch);
  });

  /** Every record passes, but the plan cannot know that. */
  const everyRecord = { $expr: { $ne: [{ $getField: 'creator' }, { $literal: 'nobody' }] } };

  /**
   * Takes two batches of a query, whose third request is held until it is released.
   *
   * @returns how many requests have begun by then, and all records once the rest is taken
   */
  const readTwoBatches = async (body: object) => {
    const released = Promise.withResolvers<void>();
    let begun = 0;
    const gate = intercepted(store, async (command) => {
      begun++;
      if (command === 2) await released.promise;
    });
    const query = parseBody(
      getBodySchema(feedbackQuery),
      JSON.stringify({ project_id: project, fields: ['id'], query: everyRecord, ...body }),
    );
    const spent = requestBudget(60_000);
    const { records } = queryFeedback(gate, query, spent);
    const batches = [await records.next(), await records.next()];
    // Long enough for a request that has been made to be on its way.
    await sleep(100);
    const whileUsed = begun;
    released.resolve();
    const rest = await Array.fromAsync(records);
    const read = batches.reduce((sum, { value }) => sum + (value?.length ?? 0), rest.flat().length);
    return { whileUsed, requests: spent.meter.requests, read };
  };

  it('has its next page under way while the second is used, when all is wanted', async () => {
    expect(await readTwoBatches({})).toEqual({ whileUsed: 3, requests: 3, read: count });
  });

  it('is read ahead in the reverse order too', async () => {
    const newest = [{ field: 'created_at', direction: 'desc' }];
    expect(await readTwoBatches({ sort_by: newest })).toEqual({ whileUsed: 3, requests: 3, read: count });
  });

  it('is read no further than it is used, when a limit may end it', async () => {
    expect(await readTwoBatches({ limit: 600 })).toEqual({ whileUsed: 2, requests: 2, read: 600 });
    expect(await readTwoBatches({ limit: 650 })).toEqual({ whileUsed: 2, requests: 3, read: 650 });
  });
});
