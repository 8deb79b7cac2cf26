import { beforeAll, describe, expect, it } from 'vitest';
import { deleteCalls } from '../../../../../core/records/calls/index.ts';
import { requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../../../foundations/wire/index.ts';
import { crashed, findKinds, interleaved, stopsAmong } from '../../../../support/faults/intercepted.ts';
import { repeatWith } from '../../../../support/run/sampling.ts';
import { makeEnd, makeStart, query, send } from '../../../../support/values/calls.ts';
import { askStats, createStatsStore, later } from '../../../../support/values/stats.ts';

/*
 * A reader that stores rollups and a request that changes their calls, interleaved. One is stopped
 * before one of its DynamoDB commands, the other runs to its end, and the first goes on. Afterwards
 * an answer must show what the calls are, at any time and as often as it is asked for. An ordinary
 * run stops before one command of each kind over all changes, at least one for each change, and a
 * deep one before all.
 */

let store: Store;
beforeAll(async () => {
  store = await createStatsStore();
});

let projects = 0;
const newProject = () => `acme/raced-${projects++}` as ProjectId;

const at = (hour: number, minute = 0): string => new Date(Date.UTC(2026, 9, 1, hour, minute)).toISOString();
const call = (project_id: ProjectId, id: string, hour: number) =>
  makeStart({ project_id, id, trace_id: 't', started_at: at(hour) });
const ended = (project_id: ProjectId, id: string, minute = 1) =>
  makeEnd({ project_id, id, ended_at: at(23, minute), ...(minute > 1 && { exception: 'failed' }) });

/** The calls that are there before: one whole, one that runs, one whose end came first. */
const prepare = async (project_id: ProjectId): Promise<void> => {
  await send(store, [call(project_id, 'whole', 3), ended(project_id, 'whole')]);
  await send(store, [call(project_id, 'running', 3)]);
  await send(store, [ended(project_id, 'early')]);
};

type Change = (to: Store, project: ProjectId) => Promise<unknown>;

/** What can change an hour that is long over. */
const changes: Readonly<Record<string, Change>> = {
  'a late call': (to, p) => send(to, [call(p, 'late', 3), ended(p, 'late')]),
  'a late start': (to, p) => send(to, [call(p, 'late', 3)]),
  'a late end': (to, p) => send(to, [ended(p, 'running', 9)]),
  'the start of an end that came first': (to, p) => send(to, [call(p, 'early', 3)]),
  'another end': (to, p) => send(to, [ended(p, 'whole', 9)]),
  'a repeated start that moves a call': (to, p) => send(to, [call(p, 'whole', 5)]),
  'a start and end that move a call': (to, p) => send(to, [call(p, 'whole', 5), ended(p, 'whole', 9)]),
  'a start and end that replace one': (to, p) => send(to, [call(p, 'running', 3), ended(p, 'running', 9)]),
  'a deletion': (to, p) => deleteCalls(to, p, ['whole', 'running'], requestBudget(30_000)),
};
const names = Object.keys(changes);

const day = { start: at(0), end: at(23, 59), granularity: 3600 };
const ask = (from: Store, project_id: ProjectId, now?: () => number) =>
  askStats(
    from,
    {
      project_id,
      ...day,
      call_metrics: [
        { metric: 'call_count' },
        { metric: 'error_count' },
        { metric: 'latency_ms', aggregations: ['count', 'sum'] },
      ],
    },
    now && { now },
  );

/** What an answer should be: each hour with its calls, errors, finished calls and latencies. */
const truth = async (projectId: ProjectId) => {
  const hours = new Map<string, number[]>();
  for (const found of await query(store, { projectId })) {
    const { svc } = found.summary as { svc: { status: string; latency_ms: number | null } };
    const [calls = 0, errors = 0, count = 0, sum = 0] = hours.get(String(found.started_at)) ?? [];
    const latency = svc.latency_ms;
    hours.set(String(found.started_at), [
      calls + 1,
      errors + Number(svc.status === 'error'),
      count + Number(latency !== null),
      sum + (latency ?? 0),
    ]);
  }
  return [...hours].sort();
};

const shown = ({ call_buckets: rows }: Awaited<ReturnType<typeof ask>>) =>
  rows.map((row) => [
    row.timestamp,
    [row.sum_call_count, row.sum_error_count, row.count_latency_ms, row.sum_latency_ms],
  ]);

/** The answers at once, when marks are over, and again when those have stored rollups. */
const expectTruth = async (project: ProjectId, where: string): Promise<void> => {
  const expected = await truth(project);
  for (const now of [Date.now, later, later]) {
    const answer = await ask(store, project, now);
    expect(shown(answer), where).toEqual(expected);
  }
};

interface Target {
  readonly TableName?: string;
  readonly IndexName?: string;
  readonly ConsistentRead?: boolean;
}

/** What a command does and where: marks are read strongly consistent, rollups are not. */
const getKind = (operation: string, input: object): string => {
  const { TableName, IndexName, ConsistentRead } = input as Target;
  const place = IndexName ?? (TableName === store.bookkeeping?.name ? 'bookkeeping' : '');
  return [operation, place, ConsistentRead ? 'consistent' : ''].filter(Boolean).join(' ');
};

let readerKinds: string[] = [];
beforeAll(async () => {
  const project = newProject();
  await prepare(project);
  readerKinds = await findKinds(store, (watched) => ask(watched, project, later), getKind);
});

describe('the reader', () => {
  it('is stopped before it reads marks, rollups and calls, and before it stores rollups', () => {
    expect([...new Set(readerKinds)].sort()).toEqual([
      'BatchGetItemCommand',
      'BatchWriteItemCommand',
      'QueryCommand bookkeeping',
      'QueryCommand bookkeeping consistent',
      'QueryCommand by_time',
    ]);
  });
});

/** The kinds of commands that a test of an earlier change has stopped before. */
const taken = { read: new Set<string>(), underWay: new Set<string>(), died: new Set<string>() };

describe.each(names)('%s', (name) => {
  const change = changes[name] as Change;
  let kinds: string[] = [];
  beforeAll(async () => {
    const project = newProject();
    await prepare(project);
    await ask(store, project, later);
    kinds = await findKinds(store, (watched) => change(watched, project), getKind);
  });

  it('is in the answer after a reader that began before it and stores after it', async () => {
    for (const at of stopsAmong(readerKinds, `read, ${name}`, taken.read)) {
      const project = newProject();
      await prepare(project);
      await interleaved(
        store,
        at,
        (through) => ask(through, project, later),
        () => change(store, project),
      );
      await expectTruth(project, `${repeatWith}: the reader stopped before command ${at}`);
    }
  });

  it('is in the answer after readers that came while it was under way, and stored what they may', async () => {
    for (const at of stopsAmong(kinds, `under way, ${name}`, taken.underWay)) {
      const project = newProject();
      await prepare(project);
      await ask(store, project, later);
      await interleaved(
        store,
        at,
        (through) => change(through, project),
        // The clock is that of the request, so that its mark holds.
        () => ask(store, project, Date.now),
      );
      await expectTruth(project, `${repeatWith}: the change stopped before command ${at}`);
    }
  });

  it('is in the answer although it died before it was done', async () => {
    for (const at of stopsAmong(kinds, `died, ${name}`, taken.died)) {
      const project = newProject();
      await prepare(project);
      await ask(store, project, later);
      await crashed(store, at, (dying) => change(dying, project));
      await expectTruth(project, `${repeatWith}: died before command ${at}`);
    }
  });
});

describe('an index that lags', () => {
  it('is not rolled up as long as it may lag behind a write', async () => {
    const project = newProject();
    await prepare(project);
    // The reader has read the index as it was before a write that is over by its clock.
    const soon = () => Date.now() + 100_000;
    await interleaved(
      store,
      3,
      (through) => ask(through, project, soon),
      async () => changes['a late call']?.(store, project),
    );
    await expectTruth(project, 'the index behind by less than the safe lag');
  });

  it('cannot have what is written last stored too early: the latest end of all marks counts', async () => {
    const project = newProject();
    await prepare(project);
    await deleteCalls(store, project, ['early'], requestBudget(300_000));
    await deleteCalls(store, project, ['running'], requestBudget(400_000));
    await send(store, [call(project, 'late', 3)]);
    // After the shorter request's mark, and before the longer one's.
    await ask(store, project, () => Date.now() + 450_000);
    const again = await ask(store, project, () => Date.now() + 450_000);
    expect(again.scanned).toBe(2);
    await expectTruth(project, 'marks of several requests');
  });
});
