import { beforeAll, describe, expect, it } from 'vitest';
import { getBodySchema } from '../../../../../api/endpoint.ts';
import { callsStreamQuery } from '../../../../../api/queries.ts';
import { headerAttributes } from '../../../../../api/shared/header-fields.ts';
import { threadsStreamQuery } from '../../../../../api/threads.ts';
import { queryCalls } from '../../../../../core/questions/query/index.ts';
import { queryThreads } from '../../../../../core/questions/threads/index.ts';
import { requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import type { JsonObject } from '../../../../../foundations/wire/index.ts';
import { parseBody } from '../../../../../foundations/wire/schema.ts';
import { createCallStore, makeEnd, makeStart, project, send } from '../../../../support/values/calls.ts';
import { askStats } from '../../../../support/values/stats.ts';

/*
 * Fields of attributes that headers hold. That any value of theirs is answered as a scan of every
 * call answers it, the reference evaluator holds beside this.
 */

const calls: Readonly<Record<string, JsonObject>> = {
  a: { user: { id: 'ada' }, kind: 'agent', environment: 'production', release: '1.0' },
  b: { 'user.id': 'bob', kind: 'model', environment: 'eu', release: null },
  c: { user: { id: 'u'.repeat(129) }, kind: 'model', environment: 'production', release: '1.1' },
  d: { user: { id: 'ada' }, kind: 'guess', deep: { environment: 'eu' } },
};

let store: Store;
beforeAll(async () => {
  store = await createCallStore();
  await send(
    store,
    Object.entries(calls).flatMap(([id, attributes], second) => [
      makeStart({ id, trace_id: 't', attributes, started_at: `2026-10-01T00:00:0${second}Z` }),
      makeEnd({ id, ended_at: '2026-10-01T00:01:00Z' }),
    ]),
  );
});

/** Answers a body, and says of how many calls payloads were read. */
const answer = async (asked: object): Promise<{ rows: JsonObject[]; hydrated: number }> => {
  const body = parseBody(
    getBodySchema(callsStreamQuery),
    JSON.stringify({ project_id: project, columns: ['id'], ...asked }),
  );
  const { json, counts } = queryCalls(store, body, requestBudget(30_000));
  const rows = (await Array.fromAsync(json())).flat().map((text) => JSON.parse(text) as JsonObject);
  return { rows, hydrated: counts.hydrated };
};
const found = async (asked: object) => {
  const { rows, hydrated } = await answer(asked);
  return [rows.map(({ id }) => id).join(' '), hydrated];
};
const is = (path: string, value: unknown) => ({
  query: { $expr: { $eq: [{ $getField: `attributes.${path}` }, { $literal: value }] } },
});
const by = (path: string, direction = 'asc') => ({ sort_by: [{ field: `attributes.${path}`, direction }] });

describe('attributes that headers hold', () => {
  it('are filtered by without payloads, but for values that only the payload has', async () => {
    expect(await found(is('kind', 'model'))).toEqual(['b c', 0]);
    expect(await found(is('kind', 'guess'))).toEqual(['d', 0]);
    expect(await found(is('environment', 'eu'))).toEqual(['b', 0]);
    expect(await found(is('release', null))).toEqual(['b d', 0]);
    expect(await found(is('user.id', 'ada'))).toEqual(['a d', 1]);
    expect(await found(is('user.id', 'u'.repeat(129)))).toEqual(['c', 1]);
    expect(await found(is('deep.environment', 'eu'))).toEqual(['d', 4]);
  });

  it('are sorted by, and answered in their own shape, likewise', async () => {
    expect(await found(by('environment'))).toEqual(['b a c d', 0]);
    expect(await found(by('release', 'desc'))).toEqual(['c a b d', 0]);
    const { rows, hydrated } = await answer({
      columns: ['attributes.user.id', 'attributes.release'],
      ...is('environment', 'eu'),
    });
    expect([rows[0]?.attributes, hydrated]).toEqual([{ 'user.id': 'bob', release: null }, 0]);
    const whole = await answer({ columns: ['attributes'], ...is('environment', 'eu') });
    expect(whole.rows[0]?.attributes).toEqual(calls.b);
  });

  it('are those of the start that was reported last, and of a start that came after its end', async () => {
    const project_id = 'acme/again';
    const start = (id: string, attributes: JsonObject) =>
      makeStart({ project_id, id, trace_id: 't', attributes });
    await send(store, [makeEnd({ project_id, id: 'late' }), makeEnd({ project_id, id: 'never' })]);
    await send(store, [start('twice', { kind: 'tool', release: '1' }), makeEnd({ project_id, id: 'twice' })]);
    await send(store, [start('late', { kind: 'tool' }), start('twice', { kind: { name: 'tool' } })]);
    expect(await found({ project_id, ...is('kind', 'tool') })).toEqual(['late', 1]);
    expect(await found({ project_id, ...is('kind', { name: 'tool' }) })).toEqual(['twice', 1]);
    expect(await found({ project_id, ...is('release', '1') })).toEqual(['', 0]);
    await send(store, [start('twice', {})]);
    expect(await found({ project_id, ...is('kind', null) })).toEqual(['twice', 0]);
    const hour = { start: '2026-10-01T00:00:00Z', end: '2026-10-01T01:00:00Z', granularity: 3600 };
    const { call_buckets } = await askStats(store, {
      project_id,
      ...hour,
      call_metrics: [{ metric: 'call_count' }],
      group_by: ['attributes.kind', 'attributes.user.id'],
    });
    const ofGroup = {
      timestamp: '2026-10-01T00:00:00.000000Z',
      'attributes.user.id': null,
      sum_call_count: 1,
    };
    expect(call_buckets).toEqual([
      { ...ofGroup, 'attributes.kind': 'tool' },
      { ...ofGroup, 'attributes.kind': null },
    ]);
  });
});

describe('statistics by attributes', () => {
  const day = { start: '2026-10-01T00:00:00Z', end: '2026-10-02T00:00:00Z', granularity: 86_400 };
  const counted = async (...group_by: string[]) => {
    const asked = { project_id: project, ...day, call_metrics: [{ metric: 'call_count' }], group_by };
    const { call_buckets } = await askStats(store, asked);
    return call_buckets.map((row) => [...group_by.map((field) => row[field]), row.sum_call_count]);
  };

  it('tell apart what their values are, whatever holds them', async () => {
    expect(await counted('attributes.user.id')).toEqual([
      ['ada', 2],
      ['bob', 1],
      ['u'.repeat(129), 1],
    ]);
    expect(await counted('attributes.kind', 'attributes.environment')).toEqual([
      ['agent', 'production', 1],
      ['guess', null, 1],
      ['model', 'eu', 1],
      ['model', 'production', 1],
    ]);
  });
});

describe('tools, agents, prompts, sources and waits', () => {
  const project_id = 'acme/tools';
  const day = { start: '2026-10-01T00:00:00Z', end: '2026-10-02T00:00:00Z', granularity: 86_400 };
  const inputs = { q: 'which seats are free?' };
  /** Attributes that say each of the fields. */
  const saying = (value: string): JsonObject => {
    const all: Record<string, string | Record<string, string>> = {};
    for (const [outer = '', inner] of headerAttributes.map((name) => name.split('.')))
      all[outer] = inner === undefined ? value : { ...(all[outer] as object | undefined), [inner]: value };
    return all;
  };
  /** Calls that say them: with keys in objects, with dots in keys, and not at all. */
  const examples: Readonly<Record<string, readonly [attributes: JsonObject, summary: JsonObject]>> = {
    one: [saying('b-1'), { waited_ms: 1200 }],
    two: [Object.fromEntries(headerAttributes.map((name) => [name, 'a-2'])), { waiting: true }],
    none: [{ other: 1 }, {}],
  };
  beforeAll(async () => {
    await send(
      store,
      Object.entries(examples).flatMap(([id, [attributes, summary]], second) => [
        makeStart({
          project_id,
          id,
          trace_id: 't',
          inputs,
          attributes,
          started_at: `2026-10-01T00:00:0${second}Z`,
        }),
        makeEnd({ project_id, id, ended_at: '2026-10-01T00:01:00Z', summary }),
      ]),
    );
  });

  it.each(headerAttributes)(
    'attributes.%s: filters, orders, groups and answers read no payload',
    async (name) => {
      const path = `attributes.${name}`;
      expect(await found({ project_id, ...is(name, 'b-1') })).toEqual(['one', 0]);
      // A call that does not say its source is production's.
      const unsaid = name === 'source' ? 'production' : null;
      expect(await found({ project_id, ...is(name, unsaid) })).toEqual(['none', 0]);
      expect(await found({ project_id, ...by(name) })).toEqual(['two one none', 0]);
      const { rows, hydrated } = await answer({ project_id, columns: [path] });
      expect([rows.map(({ attributes }) => JSON.stringify(attributes).includes('-')), hydrated]).toEqual([
        [true, true, false],
        0,
      ]);
      const { call_buckets } = await askStats(store, {
        project_id,
        ...day,
        call_metrics: [{ metric: 'call_count' }],
        group_by: [path, 'op_name'],
      });
      expect(call_buckets.map((row) => [row[path], row.sum_call_count])).toEqual([
        ['a-2', 1],
        ['b-1', 1],
        [unsaid, 1],
      ]);
    },
  );

  it('sources are filtered by, of calls and of threads, and what names none of them is production', async () => {
    const name = 'acme/sources';
    const said: Readonly<Record<string, JsonObject>> = {
      web: { source: 'web' },
      plain: {},
      test: { source: 'test' },
      long: { source: 't'.repeat(200) },
    };
    await send(
      store,
      Object.entries(said).flatMap(([id, attributes], second) => [
        makeStart({
          project_id: name,
          id,
          trace_id: id,
          thread_id: 'th',
          turn_id: id,
          attributes,
          started_at: `2026-10-01T00:00:0${second}Z`,
        }),
        makeEnd({ project_id: name, id, ended_at: '2026-10-01T00:01:00Z' }),
      ]),
    );
    const of = (...sources: string[]) => found({ project_id: name, filter: { sources } });
    expect(await of('production')).toEqual(['web plain long', 0]);
    expect(await of('test', 'judge')).toEqual(['test', 0]);
    expect(await of()).toEqual(['', 0]);
    const turns = async (sources: string[] | null) => {
      const body = parseBody(
        getBodySchema(threadsStreamQuery),
        JSON.stringify({ project_id: name, filter: { sources } }),
      );
      const rows = (await Array.fromAsync(queryThreads(store, body, requestBudget(30_000)).json())).flat();
      return rows.map((text) => (JSON.parse(text) as JsonObject).turn_count);
    };
    expect(await Promise.all([turns(null), turns(['production']), turns(['trial'])])).toEqual([[4], [3], []]);
  });

  it('production alone takes no more read units than everything', async () => {
    const name = 'acme/newest';
    const calls = Array.from({ length: 600 }, (_, at) => ({
      project_id: name,
      id: `${at}`,
      trace_id: `${at}`,
    }));
    for (let from = 0; from < calls.length; from += 100)
      await send(
        store,
        calls.slice(from, from + 100).flatMap((call, at) => [
          makeStart({ ...call, started_at: new Date(1.79e12 + 1000 * (from + at)).toISOString() }),
          makeEnd({
            project_id: name,
            id: call.id,
            ended_at: new Date(1.79e12 + 1000 * (from + at) + 5).toISOString(),
          }),
        ]),
      );
    const units = async (filter: JsonObject) => {
      const asked = parseBody(
        getBodySchema(callsStreamQuery),
        JSON.stringify({
          project_id: name,
          filter: { trace_roots_only: true, ...filter },
          sort_by: [{ field: 'started_at', direction: 'desc' }],
          columns: ['id'],
          limit: 100,
        }),
      );
      const spent = requestBudget(30_000);
      const rows = await Array.fromAsync(queryCalls(store, asked, spent).json());
      return [rows.flat().length, spent.meter.readUnits, spent.meter.requests];
    };
    expect(await units({ sources: ['production'] })).toEqual(await units({}));
  });

  it('summary.svc: waits are filtered by, sorted by and answered without payloads', async () => {
    const path = (field: string) => ({ $getField: `summary.svc.${field}` });
    const where = ($expr: object) => found({ project_id, query: { $expr } });
    expect(await where({ $gt: [path('waited_ms'), { $literal: 1000 }] })).toEqual(['one', 0]);
    expect(await where({ $eq: [path('waiting'), { $literal: true }] })).toEqual(['two', 0]);
    const sort_by = [{ field: 'summary.svc.waited_ms', direction: 'desc' }];
    expect(await found({ project_id, sort_by })).toEqual(['one two none', 0]);
    const { rows, hydrated } = await answer({ project_id, columns: ['summary.svc'] });
    const blocks = rows.map(({ summary }) => (summary as JsonObject).svc as JsonObject);
    expect(blocks.map(({ waited_ms, waiting }) => [waited_ms, waiting])).toEqual([
      [1200, undefined],
      [undefined, true],
      [undefined, undefined],
    ]);
    expect(hydrated).toBe(0);
  });

  it('cost no unit more, if they are of usual length', async () => {
    const usual: JsonObject = {
      kind: 'tool',
      environment: 'production',
      release: '2.14.0',
      source: 'evaluation',
      user: { id: '5d3a8d8e-3c2b-4c57-9a68-3bb2f2f5c1a7' },
      tool: { name: 'orders.refund_order' },
      agent: { name: 'support_agent', version: '2026-11-20' },
      prompt: { name: 'support-prompt', version: '12' },
    };
    const units = async (name: string, attributes: JsonObject, summary: JsonObject) => {
      const calls = Array.from({ length: 10 }, (_, at) => ({
        project_id: name,
        id: `${name} ${at}`,
        trace_id: 't',
        at,
      }));
      const spent = await send(
        store,
        calls.flatMap(({ at, ...call }) => [
          makeStart({ ...call, inputs, attributes, thread_id: 'th', started_at: `2026-10-01T00:00:0${at}Z` }),
          makeEnd({ project_id: name, id: call.id, ended_at: '2026-10-01T00:01:00Z', summary }),
        ]),
      );
      const asked = parseBody(
        getBodySchema(callsStreamQuery),
        JSON.stringify({ project_id: name, columns: ['id'] }),
      );
      const read = requestBudget(30_000);
      await Array.fromAsync(queryCalls(store, asked, read).json());
      return [spent.meter.writeUnits, read.meter.readUnits];
    };
    const plain = await units('acme/plain', {}, {});
    expect(await units('acme/usual', usual, { waited_ms: 12_000 })).toEqual(plain);
  });
});
