import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { deleteCalls } from '../../../../../core/records/calls/index.ts';
import { requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import type { JsonObject, ProjectId } from '../../../../../foundations/wire/index.ts';
import { interleaved } from '../../../../support/faults/intercepted.ts';
import { runs, seed } from '../../../../support/run/sampling.ts';
import { everythingStored } from '../../../../support/stored/stored.ts';
import { createCallStore, makeEnd, makeStart, query, read, send } from '../../../../support/values/calls.ts';

/* Calls that are reported before their parent or turn, and without a trace of their own. */

let store: Store;
beforeAll(async () => {
  store = await createCallStore();
});

let fresh = 0;
const newProject = () => `acme/early-${fresh++}` as ProjectId;
const starter =
  (projectId: ProjectId) =>
  (id: string, fields: object = {}) =>
    makeStart({ project_id: projectId, id, inputs: { secret: `secret of ${id}` }, ...fields });
const remove = (projectId: ProjectId, ...ids: string[]) =>
  deleteCalls(store, projectId, ids, requestBudget(60_000));
const getIds = (calls: readonly JsonObject[]) => calls.map(({ id }) => String(id)).sort();
const findChildren = async (projectId: ProjectId, ...parentIds: string[]) =>
  getIds(await query(store, { projectId, filter: { parentIds } }));
const ofTurn = async (projectId: ProjectId, ...turnIds: string[]) =>
  getIds(await query(store, { projectId, filter: { turnIds } }));
const getTrace = async (projectId: ProjectId, id: string) => (await read(store, id, projectId))?.trace_id;

describe('a call that is reported before its parent and without a trace', () => {
  it.each([
    ['names a trace', { trace_id: 't' }],
    ['has a parent with another trace', { parent_id: 'root' }],
    ['names no trace', {}],
  ])('is found by its parent, and deleted with it, if the parent %s', async (_, fields) => {
    const projectId = newProject();
    const start = starter(projectId);
    await send(store, [start('root', { trace_id: 't' })]);
    await send(store, [start('child', { parent_id: 'parent' })]);
    await send(store, [
      start('leaf', { parent_id: 'child' }),
      makeEnd({ project_id: projectId, id: 'leaf' }),
    ]);
    await send(store, [start('sibling', { parent_id: 'parent' })]);
    await send(store, [start('parent', fields)]);
    await send(store, [start('late', { parent_id: 'parent' })]);
    expect(await findChildren(projectId, 'parent')).toEqual(['child', 'late', 'sibling']);
    expect(await remove(projectId, 'parent')).toBe(5);
    expect(getIds(await query(store, { projectId }))).toEqual(['root']);
    const { text, items } = await everythingStored(store, projectId);
    expect(text.match(/secret of \w+/g)).toEqual(['secret of root']);
    expect(items).toBe(1);
  });

  it('is deleted with an ancestor further up', async () => {
    const projectId = newProject();
    const start = starter(projectId);
    await send(store, [start('leaf', { parent_id: 'child' })]);
    await send(store, [start('child', { parent_id: 'parent', trace_id: 't' })]);
    await send(store, [start('parent', { trace_id: 't' }), start('other', { trace_id: 't' })]);
    expect(await getTrace(projectId, 'leaf')).not.toBe('t');
    expect(await remove(projectId, 'parent')).toBe(3);
    expect(getIds(await query(store, { projectId }))).toEqual(['other']);
  });

  it('shares its trace with its siblings, and with its parent if that names none', async () => {
    const projectId = newProject();
    const start = starter(projectId);
    await send(store, [start('a', { parent_id: 'parent' }), start('b', { parent_id: 'parent' })]);
    await send(store, [start('c', { parent_id: 'parent' })]);
    await send(store, [start('parent')]);
    const traces = await Promise.all(['a', 'b', 'c', 'parent'].map((id) => getTrace(projectId, id)));
    expect(new Set(traces).size).toBe(1);
  });

  it('keeps being found when the parent is reported again, ended or renamed', async () => {
    const projectId = newProject();
    const start = starter(projectId);
    const end = (output: unknown) => makeEnd({ project_id: projectId, id: 'parent', output });
    await send(store, [start('child', { parent_id: 'parent' })]);
    await send(store, [start('parent', { trace_id: 't' }), end(1)]);
    await send(store, [end(2)]);
    await send(store, [start('parent', { trace_id: 't', op_name: 'other' })]);
    await send(store, [start('parent', { trace_id: 't', op_name: 'another' }), end(3)]);
    expect(await findChildren(projectId, 'parent')).toEqual(['child']);
    expect(await remove(projectId, 'parent')).toBe(2);
  });

  it('is deleted with a parent that never came, which counts for nothing', async () => {
    const projectId = newProject();
    await send(store, [starter(projectId)('child', { parent_id: 'parent' })]);
    expect(await read(store, 'parent', projectId)).toBeNull();
    expect(await remove(projectId, 'parent')).toBe(1);
    expect(await everythingStored(store, projectId)).toMatchObject({ text: '', items: 0 });
  });

  it('stays where it is if it names another trace', async () => {
    const projectId = newProject();
    const start = starter(projectId);
    await send(store, [start('child', { parent_id: 'parent', trace_id: 'u' })]);
    await send(store, [start('parent', { trace_id: 't' })]);
    expect(await findChildren(projectId, 'parent')).toEqual([]);
    expect(await remove(projectId, 'parent')).toBe(1);
    expect(getIds(await query(store, { projectId }))).toEqual(['child']);
  });

  it('is found by its turn, reported before or after it', async () => {
    for (const order of ['before', 'after']) {
      const projectId = newProject();
      const start = starter(projectId);
      const turn = [start('turn', { trace_id: 't', thread_id: 'h', turn_id: 'turn' })];
      const nested = [start('leaf', { parent_id: 'tool', turn_id: 'turn' })];
      for (const batch of order === 'before' ? [nested, turn] : [turn, nested]) await send(store, batch);
      await send(store, [start('tool', { parent_id: 'turn', turn_id: 'turn' })]);
      expect(await ofTurn(projectId, 'turn'), order).toEqual(['leaf', 'tool', 'turn']);
      expect(await remove(projectId, 'turn'), order).toBe(3);
    }
  });

  it('is found by its turn in the same request, and with very many others', async () => {
    const projectId = newProject();
    const start = starter(projectId);
    const turn = start('turn', { trace_id: 't', turn_id: 'turn' });
    const leaves = Array.from({ length: 70 }, (_, i) =>
      start(`leaf ${i}`, { parent_id: `tool ${i}`, turn_id: 'turn' }),
    );
    await send(store, [turn, ...leaves]);
    await send(store, [start('late', { parent_id: 'late tool', turn_id: 'turn' })]);
    expect(await ofTurn(projectId, 'turn')).toHaveLength(72);
  });
});

describe('a call whose parent is in another trace, though it never named one', () => {
  /** What becomes of calls below `parent`, each of which a test leaves in another trace than it. */
  const expectFamily = async (projectId: ProjectId, ...below: string[]) => {
    expect(await findChildren(projectId, 'parent')).toEqual(below);
    expect(await remove(projectId, 'parent')).toBe(1 + below.length);
    expect(await everythingStored(store, projectId)).toMatchObject({ text: '', items: 0 });
  };

  it('is found and deleted if its parent has moved to the trace that it now names', async () => {
    const projectId = newProject();
    const start = starter(projectId);
    await send(store, [start('parent')]);
    await send(store, [
      start('child', { parent_id: 'parent' }),
      makeEnd({ project_id: projectId, id: 'child' }),
    ]);
    for (const trace_id of ['t', 't', 'u']) await send(store, [start('parent', { trace_id })]);
    await send(store, [start('late', { parent_id: 'parent' })]);
    expect(await getTrace(projectId, 'late')).toBe('u');
    await expectFamily(projectId, 'child', 'late');
  });

  it('is found and deleted if it gets its parent with a second start', async () => {
    const projectId = newProject();
    const start = starter(projectId);
    await send(store, [start('parent', { trace_id: 't' })]);
    await send(store, [start('child')]);
    const trace = await getTrace(projectId, 'child');
    await send(store, [start('child', { parent_id: 'parent' })]);
    expect(await getTrace(projectId, 'child')).toBe(trace);
    await expectFamily(projectId, 'child');
  });

  it.each([
    ['is new', []],
    ['is known', ['t']],
    ['was in another trace', ['u']],
  ])('is found and deleted if it gets one from its own request, which %s', async (_, earlier) => {
    const projectId = newProject();
    const start = starter(projectId);
    await send(store, [start('child')]);
    for (const trace_id of earlier) await send(store, [start('parent', { trace_id })]);
    const batch = [start('child', { parent_id: 'parent' }), start('parent', { trace_id: 't' })];
    for (let again = 0; again < 2; again++) await send(store, batch);
    await expectFamily(projectId, 'child');
  });

  it('is found and deleted with a parent whose batch met another trace of it', async () => {
    const isOver: boolean[] = [];
    for (let at = 0; !isOver.at(-1); at++) {
      const projectId = newProject();
      const start = starter(projectId);
      const isStopped = await interleaved(
        store,
        at,
        (gated) => send(gated, [start('parent'), start('child', { parent_id: 'parent' })]),
        () => send(store, [start('parent', { trace_id: 't' })]),
      );
      isOver.push(!isStopped);
      await expectFamily(projectId, 'child');
    }
  });

  it('is found and deleted if another request made it a root in that moment', async () => {
    for (let at = 0, isStopped = true; isStopped; at++) {
      const projectId = newProject();
      const start = starter(projectId);
      await send(store, [start('parent', { trace_id: 't' })]);
      isStopped = await interleaved(
        store,
        at,
        (gated) => send(gated, [start('child', { parent_id: 'parent' })]),
        () => send(store, [start('child')]),
      );
      // Where the root came last, it has no parent any more.
      const child = await read(store, 'child', projectId);
      if (child?.parent_id) await expectFamily(projectId, 'child');
    }
  });

  it('is found and deleted whatever it was before, and in whatever requests it was reported', async () => {
    const callIds = ['a', 'b', 'c', 'd'];
    const someId = fc.constantFrom(...callIds);
    const report = fc.record({
      id: someId,
      parent: fc.option(someId, { nil: null }),
      // Only a root names its trace: a nested call that does may stay out of its parent's.
      trace: fc.option(fc.constantFrom('t', 'u'), { nil: null }),
    });
    const requests = fc.array(fc.array(report, { minLength: 1, maxLength: 3 }), {
      minLength: 2,
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(requests, someId, async (requests, root) => {
        const projectId = newProject();
        const start = starter(projectId);
        const parents = new Map<string, string | null>();
        for (const request of requests) {
          for (const { id, parent } of request) parents.set(id, parent);
          const batch = request.map(({ id, parent, trace }) =>
            start(id, parent === null ? { trace_id: trace } : { parent_id: parent }),
          );
          await send(store, batch);
        }
        for (const id of callIds) {
          const children = [...parents].filter(([, parent]) => parent === id).map(([child]) => child);
          expect(await findChildren(projectId, id)).toEqual(children.sort());
        }
        const family = new Set([root]);
        for (const member of family)
          for (const [id, parent] of parents) if (parent === member) family.add(id);
        await remove(projectId, root);
        const left = [...parents.keys()].filter((id) => !family.has(id));
        expect(getIds(await query(store, { projectId }))).toEqual(left.sort());
      }),
      { numRuns: runs(12, 300), seed },
    );
  });
});

describe('calls that name their traces, or whose parents are known', () => {
  it('cost no more than they did, to report, to find and to delete', async () => {
    const projectId = newProject();
    const start = starter(projectId);
    const sent = await send(store, [
      start('parent', { trace_id: 't' }),
      start('child', { parent_id: 'parent' }),
      start('other', { parent_id: 'unknown', trace_id: 'u' }),
    ]);
    // One look at the starts without a trace, one segment, one batch of starts.
    expect(sent.meter.requests).toBe(3);
    const requests = async (filter: object) => {
      const asked = requestBudget(60_000);
      await query(store, { projectId, filter, columns: ['id'] }, asked);
      return asked.meter.requests;
    };
    expect(await requests({ parentIds: ['parent'] })).toBe(1 + (await requests({ traceIds: ['t'] })));
    const deleted = requestBudget(60_000);
    await deleteCalls(store, projectId, ['parent'], deleted);
    // Starts; the trace; both items of both; the segment, read and written; the starts' deletion; a
    // last look at both.
    expect(deleted.meter.requests).toBe(1 + 1 + 1 + 2 + 2 + 1 + 1);
  });
});

describe('a call without a trace and its parent that are reported at once', () => {
  const reports = (projectId: ProjectId) => {
    const start = starter(projectId);
    return {
      child: [start('child', { parent_id: 'parent', turn_id: 'turn' })],
      parent: [start('parent', { trace_id: 't', turn_id: 'turn' }), start('turn', { trace_id: 't' })],
    };
  };
  const cases = [
    ['child', 'parent'],
    ['parent', 'child'],
  ] as const;

  type Batch = Parameters<typeof send>[1];

  /** Has one batch wait before each of its commands in turn, while the other is stored. */
  const atEachMoment = async (
    makeBatches: (projectId: ProjectId) => readonly [waiting: Batch, other: Batch],
    look: (projectId: ProjectId, where: string) => Promise<void>,
  ): Promise<void> => {
    for (let at = 0, isStopped = true; isStopped; at++) {
      const projectId = newProject();
      const [waiting, other] = makeBatches(projectId);
      isStopped = await interleaved(
        store,
        at,
        (gated) => send(gated, waiting),
        () => send(store, other),
      );
      await look(projectId, `stopped before command ${at}`);
    }
  };

  it.each(cases)('find each other whatever the moment at which the %s waits for the %s', (one, other) =>
    atEachMoment(
      (projectId) => [reports(projectId)[one], reports(projectId)[other]],
      async (projectId, where) => {
        expect(await findChildren(projectId, 'parent'), where).toEqual(['child']);
        expect(await ofTurn(projectId, 'turn'), where).toEqual(['child', 'parent']);
        // Sent again, nothing changes.
        for (const batch of Object.values(reports(projectId))) await send(store, batch);
        expect(await remove(projectId, 'parent'), where).toBe(2);
        expect(getIds(await query(store, { projectId })), where).toEqual(['turn']);
      },
    ),
  );

  it.each(cases)(
    'share a trace whatever the moment at which the %s waits for the %s, if none is named',
    (one, other) =>
      atEachMoment(
        (projectId) => {
          const start = starter(projectId);
          const batches = {
            child: [start('child', { parent_id: 'parent' }), start('leaf', { parent_id: 'child' })],
            parent: [start('parent')],
          };
          return [batches[one], batches[other]];
        },
        async (projectId, where) => {
          const traces = await Promise.all(['parent', 'child', 'leaf'].map((id) => getTrace(projectId, id)));
          expect(new Set(traces).size, where).toBe(1);
        },
      ),
  );

  it('are in the trace that the parent names, if it comes before the child has reserved one', async () => {
    const projectId = newProject();
    const start = starter(projectId);
    // The first command looks for the parent, the second reserves.
    await interleaved(
      store,
      1,
      (gated) => send(gated, [start('child', { parent_id: 'parent' })]),
      () => send(store, [start('parent', { trace_id: 't' })]),
    );
    expect(await getTrace(projectId, 'child')).toBe('t');
  });

  it('share a trace with a sibling that is reported at once', () =>
    atEachMoment(
      (projectId) => {
        const start = starter(projectId);
        return [[start('child', { parent_id: 'parent' })], [start('sibling', { parent_id: 'parent' })]];
      },
      async (projectId, where) => {
        const [child, sibling] = await Promise.all(['child', 'sibling'].map((id) => getTrace(projectId, id)));
        expect(child, where).toBe(sibling);
      },
    ));
});
