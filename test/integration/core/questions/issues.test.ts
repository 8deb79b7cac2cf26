import { beforeAll, describe, expect, it, vi } from 'vitest';
import { issuesQuery, issuesUpdate } from '../../../../api/issues.ts';
import { queryIssues } from '../../../../core/questions/issues/index.ts';
import { purgeFeedback } from '../../../../core/records/feedback/index.ts';
import { updateIssue } from '../../../../core/records/issues.ts';
import { requestBudget, type Store } from '../../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../../foundations/wire/index.ts';
import { parseValue } from '../../../../foundations/wire/schema.ts';
import { makeEnd, makeStart, send } from '../../../support/values/calls.ts';
import { createAll, createFeedbackStore } from '../../../support/values/feedback.ts';
import { createObjectStore } from '../../../support/values/objects.ts';
import { createStatsStore } from '../../../support/values/stats.ts';

let calls: Store;
let feedback: Store;
let objects: Store;
beforeAll(async () => {
  calls = await createStatsStore();
  feedback = await createFeedbackStore({ bookkeeping: calls.bookkeeping });
  objects = await createObjectStore();
});

let projects = 0;
const newProject = () => `acme/issues-${projects++}` as ProjectId;

/** So late that all marks are over. */
const late = () => Date.now() + 86_400_000;

/** A time of a day that is long over. */
const at = (seconds: number) => new Date(Date.parse('2026-10-01T12:00:00Z') + seconds * 1000).toISOString();
const day = { start: '2026-10-01T00:00:00Z', end: '2026-10-02T00:00:00Z' };

interface Told {
  readonly id: string;
  readonly trace?: string;
  readonly parent?: string;
  readonly from?: number;
  readonly op?: string;
  readonly attributes?: object;
  readonly inputs?: object;
  readonly output?: unknown;
  readonly exception?: string;
}

const tell = (project: ProjectId, told: readonly Told[]) =>
  send(
    calls,
    told.flatMap(({ id, trace = 'trace', parent = null, from = 0, op = 'answer', ...call }) => [
      makeStart({
        project_id: project,
        id,
        trace_id: trace,
        parent_id: parent,
        op_name: op,
        started_at: at(from),
        attributes: call.attributes ?? {},
        inputs: call.inputs ?? {},
      }),
      makeEnd({
        project_id: project,
        id,
        ended_at: at(from + 1),
        output: call.output ?? null,
        exception: call.exception ?? null,
      }),
    ]),
  );

const ask = async (project: ProjectId, fields: object = {}, now = late()) => {
  const query = parseValue(issuesQuery.request?.() as never, { project_id: project, ...day, ...fields });
  const underWay = queryIssues(
    { calls, feedback, objects },
    query as never,
    requestBudget(30_000),
    () => now,
  );
  const answer = await underWay.answer();
  return { ...answer, counts: { ...underWay.counts } };
};

const update = (project: ProjectId, fields: object, now: string) => {
  const body = parseValue(issuesUpdate.request?.() as never, { project_id: project, ...fields });
  return updateIssue(objects, body as never, 'ada', requestBudget(30_000), {}, () => Date.parse(now));
};

describe('failed calls', () => {
  it('are one issue by operation and message, whatever varies, with traces, users and releases', async () => {
    const project = newProject();
    const told = [1, 2, 3, 4, 5].map((i) => ({
      id: `c${i}`,
      trace: `t${Math.ceil(i / 2)}`,
      from: i * 3600,
      attributes: { user: { id: i < 4 ? 'eve' : 'bob' }, release: i < 3 ? '1.0' : '1.1' },
      exception: `TimeoutError: no answer for order ${1000 + i} within ${i}s\n  at x`,
    }));
    await tell(project, [...told, { id: 'fine' }, { id: 'other', exception: 'KeyError: "a"' }]);
    const { issues, count, releases } = await ask(project, {
      sort_by: [{ field: 'count', direction: 'desc' }],
    });
    expect(count).toBe(2);
    const [first, second] = issues;
    expect(first).toMatchObject({
      title: 'TimeoutError: no answer for order <n> within <n>s',
      kind: 'error',
      op_name: 'answer',
      count: 5,
      trace_count: 3,
      user_count: 2,
      first_seen: '2026-10-01T13:00:00.000000Z',
      last_seen: '2026-10-01T17:00:00.000000Z',
      releases: ['1.0', '1.1'],
      state: 'open',
      assignee: null,
      examples: ['c5', 'c4', 'c3'],
    });
    expect(first?.series.slice(12, 19)).toEqual([0, 1, 1, 1, 1, 1, 0]);
    expect(second).toMatchObject({ title: 'KeyError: <value>', count: 1 });
    expect(releases.map(({ release }) => release)).toEqual(['1.1', '1.0']);
  });

  it('count where they began, and not where they were passed on', async () => {
    const project = newProject();
    await tell(project, [
      { id: 'root', exception: 'AgentError: tool failed: no stock left' },
      { id: 'agent', parent: 'root', from: 1, exception: 'AgentError: no stock left' },
      {
        id: 'tool',
        parent: 'agent',
        from: 2,
        op: 'execute_tool stock',
        attributes: { kind: 'tool', tool: { name: 'stock' } },
        exception: 'StockError: no stock left',
      },
    ]);
    const { issues } = await ask(project);
    expect(issues.map(({ title, tool_name, examples }) => [title, tool_name, examples])).toEqual([
      ['StockError: no stock left', 'stock', ['tool']],
    ]);
  });

  it('of evaluations and judges are none', async () => {
    const project = newProject();
    await tell(project, [{ id: 'c', attributes: { source: 'evaluation' }, exception: 'E: no' }]);
    expect((await ask(project)).issues).toEqual([]);
  });
});

describe('loops', () => {
  const tool = { kind: 'tool', tool: { name: 'search' } };
  it('are found where a trace calls a tool three times with the same arguments', async () => {
    const project = newProject();
    const told = [0, 1, 2, 3].map((i) => ({
      id: `l${i}`,
      from: i,
      attributes: tool,
      inputs: { q: 'where is it?' },
      output: `nothing ${i}`,
    }));
    const twice = told.slice(0, 2).map((call) => ({ ...call, id: `${call.id}-two`, trace: 'two' }));
    const others = [0, 1, 2].map((i) => ({
      id: `o${i}`,
      trace: 'three',
      from: i,
      attributes: tool,
      inputs: { q: `word ${i}` },
      output: `found ${i}`,
    }));
    await tell(project, [...told, ...twice, ...others]);
    const { issues } = await ask(project, { filter: { kinds: ['loop'] } });
    expect(issues).toMatchObject([
      { title: 'Called again with the same arguments', tool_name: 'search', count: 1, examples: ['l2'] },
    ]);
  });

  it('are found where it answers the same to other arguments, and says something', async () => {
    const project = newProject();
    const make = (trace: string, output: unknown) =>
      [0, 1, 2].map((i) => ({
        id: `${trace}${i}`,
        trace,
        from: i,
        attributes: tool,
        inputs: { q: `word ${i}` },
        output,
      }));
    await tell(project, [...make('a', 'no such order'), ...make('b', null)]);
    const { issues } = await ask(project);
    expect(issues).toMatchObject([{ title: 'Gives the same answer again', count: 1, trace_count: 1 }]);
  });
});

describe('loops by agent', () => {
  const agent = (name: string) => ({ kind: 'agent', agent: { name } });
  const tool = { kind: 'tool', tool: { name: 'search' } };
  const loop = (trace: string, parent: string | undefined, from: number, attributes: object = tool): Told[] =>
    [0, 1, 2].map((i) => ({
      id: `${trace}-${i}`,
      trace,
      ...(parent !== undefined && { parent }),
      from: from + i,
      attributes,
      inputs: { q: 'where is it?' },
      output: `nothing ${i}`,
    }));
  const told: Told[] = [
    { id: 'boss', trace: 'a', attributes: agent('boss') },
    { id: 'clerk', trace: 'a', parent: 'boss', from: 1, attributes: agent('clerk') },
    { id: 'step', trace: 'a', parent: 'clerk', from: 2 },
    ...loop('a', 'step', 3),
    { id: 'long', trace: 'b', from: -90, attributes: agent('boss') },
    { id: 'between', trace: 'b', parent: 'long', from: -80 },
    // Its agent began in the hour before.
    ...loop('b', 'between', 10),
    // It names its agent itself, and its parent is in another trace.
    ...loop('c', 'boss', 20, { ...tool, agent: { name: 'clerk' } }),
    ...loop('d', 'boss', 30),
    ...loop('e', 'nobody', 40),
    ...loop('f', undefined, 50),
  ];

  it('count at the nearest agent above them, wherever it began, scanned and rolled up', async () => {
    const project = newProject();
    await tell(project, told);
    const { issues, counts } = await ask(project);
    expect(issues).toMatchObject([
      {
        count: 6,
        agents: [
          { name: null, count: 3 },
          { name: 'clerk', count: 2 },
          { name: 'boss', count: 1 },
        ],
      },
    ]);
    expect(counts.scanned).toBeGreaterThan(0);
    const again = await ask(project);
    expect(again.counts.scanned).toBe(0);
    expect(again.issues).toEqual(issues);
  });

  it('are asked for by agent, and other issues have none', async () => {
    const project = newProject();
    await tell(project, [...told, { id: 'fails', parent: 'boss', trace: 'a', exception: 'E: no' }]);
    const kinds = async (filter: object) => (await ask(project, { filter })).issues.map(({ kind }) => kind);
    expect(await kinds({ agents: ['boss'] })).toEqual(['loop']);
    expect(await kinds({ agents: ['none'] })).toEqual([]);
    expect((await ask(project, { filter: { kinds: ['error'] } })).issues).toMatchObject([{ agents: [] }]);
  });

  it('end at parents that go round', async () => {
    const project = newProject();
    await tell(project, [
      { id: 'one', trace: 'g', parent: 'two' },
      { id: 'two', trace: 'g', parent: 'one' },
      ...loop('g', 'two', 1),
    ]);
    expect((await ask(project)).issues).toMatchObject([{ agents: [{ name: null, count: 1 }] }]);
  });
});

describe('verdicts and feedback', () => {
  const soon = { start: new Date(Date.now() - 3_600_000).toISOString(), end: null };
  const give = (project: ProjectId, id: string, feedback_type: string, payload: object, callId = 'c') => ({
    project_id: project,
    id,
    svc_ref: `svc:///${project}/call/${callId}`,
    feedback_type,
    payload,
  });

  it('are issues if they refuse, by evaluator and operation', async () => {
    const project = newProject();
    await tell(project, [{ id: 'c' }, { id: 'd', op: 'plan' }]);
    await createAll(feedback, [
      give(project, '1', 'evaluation.tone', { value: false, reason: 'rude' }),
      give(project, '2', 'evaluation.tone', { value: true }),
      give(project, '3', 'evaluation.tone', { value: 'fail' }, 'd'),
      give(project, '4', 'evaluation.score', { value: 0.2 }),
      give(project, '5', 'evaluation.score', { value: 4 }),
      give(project, '6', 'thumbs', { up: false }),
      give(project, '7', 'thumbs', { up: true }),
      give(project, '8', 'evaluation.tone', { value: false }, 'unknown'),
    ] as never);
    const { issues } = await ask(project, soon, Date.now());
    expect(issues.map(({ kind, title, op_name, count }) => [kind, title, op_name, count]).toSorted()).toEqual(
      [
        ['feedback', 'Thumbs down', 'answer', 1],
        ['verdict', 'score: below 0.5', 'answer', 1],
        ['verdict', 'tone: fail', 'plan', 1],
        ['verdict', 'tone: false', null, 1],
        ['verdict', 'tone: false', 'answer', 1],
      ],
    );
  });

  it('that are purged after their hour was stored are none any more', async () => {
    const project = newProject();
    await tell(project, [{ id: 'c' }]);
    vi.useFakeTimers({ now: Date.now() - 3 * 3_600_000, toFake: ['Date'] });
    const range = { start: new Date(Date.now() - 3_600_000).toISOString(), end: null };
    await createAll(feedback, [give(project, 'p', 'thumbs', { up: false })] as never);
    vi.useRealTimers();
    expect((await ask(project, range, Date.now())).issues).toHaveLength(1);
    const again = await ask(project, range, Date.now());
    expect([again.issues.length, again.counts.feedback]).toEqual([1, 0]);
    await purgeFeedback(feedback, project, ['p'], requestBudget(30_000));
    expect((await ask(project, range, Date.now())).issues).toEqual([]);
  });
});

describe('rollups', () => {
  it('answer the same as calls do, by hour and by day, and read no more of them', async () => {
    const told = Array.from({ length: 40 }, (_, i) => ({
      id: `r${i}`,
      trace: `t${i % 7}`,
      from: i * 7200,
      attributes: { user: { id: `u${i % 5}` } },
      ...(i % 2 === 0 && { exception: `E: ${i % 4 === 0 ? 'one' : 'two'} ${i}` }),
    }));
    for (const span of [
      { start: '2026-10-01T06:20:00Z', end: '2026-10-05T00:00:00Z' },
      { start: '2026-09-25T06:20:00Z', end: '2026-10-08T00:00:00Z' },
    ]) {
      const project = newProject();
      await tell(project, told);
      const { counts: first, ...scanned } = await ask(project, span);
      const { counts: second, ...rolledUp } = await ask(project, span);
      expect(rolledUp).toEqual(scanned);
      expect(first.scanned).toBeGreaterThan(40);
      expect(second.scanned).toBe(0);
      expect(second.rollups).toBeGreaterThan(0);
    }
  });

  it('do not count where a call came later', async () => {
    const project = newProject();
    await tell(project, [{ id: 'a', exception: 'E: no' }]);
    await ask(project);
    expect((await ask(project)).counts.scanned).toBe(0);
    await tell(project, [{ id: 'b', exception: 'E: no' }]);
    expect((await ask(project)).issues).toMatchObject([{ count: 2 }]);
  });
});

describe('what people decide', () => {
  it('is kept as an object, and a resolved issue that comes back has regressed', async () => {
    const project = newProject();
    await tell(project, [{ id: 'a', exception: 'E: no' }]);
    const [found] = (await ask(project)).issues;
    const issue_id = found?.issue_id ?? '';
    await update(project, { issue_id, assignee: 'bob', note: 'a flaky shop' }, '2026-10-01T12:30:00Z');
    await update(project, { issue_id, state: 'resolved' }, '2026-10-01T13:00:00Z');
    expect((await ask(project)).issues).toMatchObject([
      { state: 'resolved', assignee: 'bob', note: 'a flaky shop' },
    ]);
    expect((await ask(project, { state: 'open' })).issues).toEqual([]);
    await tell(project, [{ id: 'b', from: 7200, exception: 'E: no' }]);
    expect((await ask(project, { state: ['regressed'] })).issues).toMatchObject([
      { count: 2, state: 'regressed' },
    ]);
    await update(project, { issue_id, state: 'ignored', assignee: null }, '2026-10-01T15:00:00Z');
    expect((await ask(project)).issues).toMatchObject([
      { state: 'ignored', assignee: null, note: 'a flaky shop' },
    ]);
  });

  it('keeps what several people decide at the same moment', async () => {
    const project = newProject();
    const issue_id = 'b'.repeat(32);
    const now = '2026-10-01T12:30:00Z';
    await Promise.all([
      update(project, { issue_id, state: 'resolved' }, now),
      update(project, { issue_id, assignee: 'bob' }, now),
      update(project, { issue_id, note: 'a flaky shop' }, now),
    ]);
    expect(await update(project, { issue_id, state: 'ignored' }, now)).toMatchObject({
      assignee: 'bob',
      note: 'a flaky shop',
    });
  });

  it('is something', async () => {
    await expect(
      update(newProject(), { issue_id: 'a'.repeat(32) }, '2026-10-01T12:30:00Z'),
    ).rejects.toThrow();
  });
});

describe('a query', () => {
  it('filters, sorts and slices', async () => {
    const project = newProject();
    await tell(
      project,
      ['alpha', 'beta', 'gamma'].flatMap((name, i) =>
        Array.from({ length: i + 1 }, (_, j) => ({ id: `${name}${j}`, op: name, from: i, exception: name })),
      ),
    );
    const titles = async (fields: object) => (await ask(project, fields)).issues.map(({ title }) => title);
    expect(await titles({ sort_by: [{ field: 'count', direction: 'asc' }] })).toEqual([
      'alpha',
      'beta',
      'gamma',
    ]);
    expect(await titles({ limit: 1, offset: 1 })).toEqual(['beta']);
    expect(await titles({ filter: { op_names: ['gamma'] } })).toEqual(['gamma']);
    expect(await titles({ filter: { first_seen_after: at(1) } })).toEqual(['gamma']);
  });
});
