import { beforeAll, describe, expect, it } from 'vitest';
import { deleteCalls } from '../../../../../core/records/calls/index.ts';
import { requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import type { JsonObject, ProjectId } from '../../../../../foundations/wire/index.ts';
import { Crash, crashed, intercepted, interleaved, stops } from '../../../../support/faults/intercepted.ts';
import { deep, repeatWith, seed } from '../../../../support/run/sampling.ts';
import { everythingStored } from '../../../../support/stored/stored.ts';
import { createCallStore, makeEnd, makeStart, query, read, send } from '../../../../support/values/calls.ts';

/*
 * Deletions that are stopped before each of their commands in turn, or whose process dies there,
 * while the same calls or their neighbours are reported. Beside them, reports that are stopped
 * while the calls are deleted. Where that takes long, an ordinary run stops before one command of
 * each operation over all payloads and reports. A deep one stops before all commands.
 */

let store: Store;
beforeAll(async () => {
  store = await createCallStore();
});

let fresh = 0;
const newProject = () => `acme/deleted-${fresh++}` as ProjectId;
const remove = (from: Store, projectId: ProjectId, ids: readonly string[]) =>
  deleteCalls(from, projectId, ids, requestBudget(60_000));

/** Text that does not compress. */
const noise = (length: number, seed: number): string =>
  Array.from({ length: length / 18 }, (_, i) => Math.sin(i + 1e6 * seed)).join('');

/**
 * What several tests begin with: a parent, a child and a grandchild that are deleted, and a
 * neighbour in the same requests.
 */
const family = (projectId: ProjectId, length: number): object[][] => {
  const makeIds = (id: string) => ({ project_id: projectId, id, trace_id: 't', thread_id: 'h', turn_id: id });
  const victim = (id: string, seed: number, parent: string | null = null) =>
    makeStart({
      ...makeIds(id),
      parent_id: parent,
      inputs: { text: `secret of ${id} ${noise(parent === null ? length : Math.min(length, 2000), seed)}` },
    });
  const ended = (id: string) => makeEnd({ project_id: projectId, id, output: `secret end of ${id}` });
  return [
    [
      victim('parent', 1),
      victim('child', 2, 'parent'),
      makeStart({ ...makeIds('neighbour'), parent_id: 'elsewhere', inputs: { n: 1 } }),
      ended('child'),
    ],
    [victim('grandchild', 3, 'child')],
    [
      ended('parent'),
      ended('grandchild'),
      makeEnd({ project_id: projectId, id: 'neighbour', output: 'kept' }),
    ],
  ];
};

const views = (projectId: ProjectId): Promise<JsonObject[][]> =>
  Promise.all(
    [
      {},
      { traceIds: ['t'] },
      { threadIds: ['h'] },
      { callIds: ['parent', 'child', 'grandchild', 'neighbour'] },
    ].map((filter) => query(store, { projectId, filter })),
  );

/** The kinds of commands that an earlier test of the same name has stopped before. */
const taken = { dies: new Set<string>(), 'reported again': new Set<string>(), reported: new Set<string>() };

describe.each([
  ['items', 40],
  ['segments', 2000],
  ['objects', 320_000],
])('a deletion with payloads in %s', (kind, length) => {
  const places = async (name: 'dies' | 'reported again'): Promise<number[]> => {
    const projectId = newProject();
    for (const request of family(projectId, length)) await send(store, request);
    const removing = (watched: Store) => remove(watched, projectId, ['parent']);
    return stops(store, `${name} in ${kind}`, removing, taken[name]);
  };

  it('that dies before any of its commands is completed by sending it again', async () => {
    for (const at of await places('dies')) {
      const projectId = newProject();
      for (const request of family(projectId, length)) await send(store, request);
      const neighbour = await read(store, 'neighbour', projectId);
      await crashed(store, at, (dying) => remove(dying, projectId, ['parent']));
      const where = `${repeatWith}: died before command ${at}`;
      // Whatever is half gone, nobody fails on it, and the neighbour is there.
      expect(await read(store, 'neighbour', projectId), where).toEqual(neighbour);
      for (const filter of [
        {},
        { traceIds: ['t'] },
        { threadIds: ['h'] },
        { callIds: ['parent', 'child'] },
      ]) {
        for (const call of await query(store, { projectId, filter }))
          expect(call.inputs, where).not.toBeNull();
      }
      await remove(store, projectId, ['parent']);
      expect(await query(store, { projectId }), where).toEqual([neighbour]);
      const stored = await everythingStored(store, projectId);
      expect(stored.text, where).not.toContain('secret');
      expect(stored).toMatchObject({ items: 2 + 2, segments: 2, objects: 0 });
    }
  });

  it('does not touch its neighbours while all of them are reported again at any moment', async () => {
    for (const at of await places('reported again')) {
      const projectId = newProject();
      const requests = family(projectId, length);
      for (const request of requests) await send(store, request);
      const before = await views(projectId);
      const neighbour = await read(store, 'neighbour', projectId);
      await interleaved(
        store,
        at,
        (gated) => remove(gated, projectId, ['parent']),
        async () => {
          for (const request of requests) await send(store, request);
        },
      );
      const where = `${repeatWith}: stopped before command ${at}`;
      expect(await read(store, 'neighbour', projectId), where).toEqual(neighbour);
      // Each of the others is whole, or gone from every view.
      const after = await views(projectId);
      const alive = new Set(after.flat().map(({ id }) => id));
      const expected = before.map((view) => view.filter(({ id }) => alive.has(id)));
      expect(after, where).toEqual(expected);
      const lives = await Promise.all(
        ['parent', 'child', 'grandchild'].map(async (id) => (await read(store, id, projectId)) !== null),
      );
      expect(
        ['parent', 'child', 'grandchild'].map((id) => alive.has(id)),
        where,
      ).toEqual(lives);
    }
  });
});

describe('a deletion that dies', () => {
  it('soon after a descendant got another end is also completed by sending it again', async () => {
    for (const commandsLeft of [0, 1, 2, 3]) {
      for (let at = 0, died = true; died; at++) {
        // An ordinary run tries each command once, and each number of commands after it.
        if (!deep && (at + seed) % 4 !== commandsLeft) continue;
        const projectId = newProject();
        for (const request of family(projectId, 40)) await send(store, request);
        const dying = intercepted(store, async (command) => {
          if (command === at)
            await send(store, [makeEnd({ project_id: projectId, id: 'child', output: 'other' })]);
          if (command > at + commandsLeft) throw new Crash();
        });
        const end = await remove(dying, projectId, ['parent']).catch((error: unknown) => error);
        died = end instanceof Crash;
        await remove(store, projectId, ['parent']);
        // Headers alone: they show what has lost its payload as well.
        const left = await query(store, { projectId, columns: ['id'] });
        const where = `died ${commandsLeft} commands after command ${at}`;
        expect(
          left.map(({ id }) => id),
          where,
        ).toEqual(['neighbour']);
      }
    }
  });
});

describe('a call that is reported while it is deleted', () => {
  const makeIds = (projectId: ProjectId, id: string) => ({ project_id: projectId, id, trace_id: 't' });
  const batch = (projectId: ProjectId, text = 'first'): object[] =>
    ['victim', 'neighbour'].flatMap((id) => [
      makeStart({ ...makeIds(projectId, id), inputs: { text: `secret ${text} of ${id}` } }),
      makeEnd({ project_id: projectId, id, output: `secret end of ${id}` }),
    ]);
  interface Report {
    readonly batch: (projectId: ProjectId) => object[];
    /** What of the payload is gone if the call is. */
    readonly gone: RegExp;
  }
  const anything = /secret \w+ of victim/;
  const second = 'secret second of victim';
  const reports: Record<string, Report> = {
    'as before, with its neighbour': {
      batch: (projectId) => batch(projectId),
      gone: anything,
    },
    'otherwise, with its neighbour': {
      batch: (projectId) => batch(projectId, 'second'),
      gone: anything,
    },
    'with another start': {
      batch: (projectId) => [
        makeStart({ ...makeIds(projectId, 'victim'), op_name: 'other', inputs: { second } }),
      ],
      gone: anything,
    },
    // Its own payload stays where it comes after the deletion: it lies by itself then, as one does
    // that comes before its start.
    'with another end': {
      batch: (projectId) => [makeEnd({ project_id: projectId, id: 'victim', output: second })],
      gone: /secret (first|end) of victim/,
    },
  };

  const check = async (projectId: ProjectId, neighbours: JsonObject[], where: string) => {
    const neighbour = await read(store, 'neighbour', projectId);
    expect(neighbours, where).toContainEqual(neighbour);
    const victim = await read(store, 'victim', projectId);
    const expected = [neighbour, victim].filter((call) => call !== null);
    for (const filter of [{}, { traceIds: ['t'] }]) {
      const found = await query(store, { projectId, filter });
      expect(
        found.sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1)),
        where,
      ).toEqual(expected);
    }
    return victim;
  };

  const prepare = async ({ batch: report }: Report) => {
    const projectId = newProject();
    await send(store, batch(projectId));
    const before = await read(store, 'neighbour', projectId);
    const untouched = newProject();
    await send(store, [...batch(untouched)]);
    await send(store, report(untouched));
    const after = await read(store, 'neighbour', untouched);
    const neighbours = [before, after].flatMap((call) => (call ? [{ ...call, project_id: projectId }] : []));
    return { projectId, neighbours };
  };

  it.each(Object.entries(reports))(
    '%s is complete afterwards or gone with its payload',
    async (kind, report) => {
      const watched = await prepare(report);
      const removing = (from: Store) => remove(from, watched.projectId, ['victim']);
      const places = await stops(store, kind, removing, taken.reported);
      for (const at of places) {
        const { projectId, neighbours } = await prepare(report);
        await interleaved(
          store,
          at,
          (gated) => remove(gated, projectId, ['victim']),
          () => send(store, report.batch(projectId)),
        );
        const where = `${repeatWith}: deletion stopped before command ${at}`;
        const victim = await check(projectId, neighbours, where);
        const { text } = await everythingStored(store, projectId);
        if (victim === null) expect(text, where).not.toMatch(report.gone);
      }
    },
  );

  it.each(Object.entries(reports))(
    '%s and stopped fails nobody, and is repaired by sending either request again',
    async (_, report) => {
      for (const heal of ['report', 'deletion']) {
        for (let at = 0, isStopped = true; isStopped; at++) {
          // An ordinary run sends one of them again after each command.
          if (!deep && (at + seed) % 2 !== (heal === 'report' ? 0 : 1)) continue;
          const { projectId, neighbours } = await prepare(report);
          isStopped = await interleaved(
            store,
            at,
            (gated) => send(gated, report.batch(projectId)),
            () => remove(store, projectId, ['victim']),
          );
          const where = `report stopped before command ${at}, ${heal} sent again`;
          await check(projectId, neighbours, where);
          if (heal === 'deletion') {
            await remove(store, projectId, ['victim']);
            expect(await check(projectId, neighbours, where), where).toBeNull();
            expect((await everythingStored(store, projectId)).text, where).not.toMatch(report.gone);
          } else {
            await send(store, batch(projectId));
            await send(store, report.batch(projectId));
            expect(await check(projectId, neighbours, where), where).not.toBeNull();
          }
        }
      }
    },
  );

  it('by another deletion is gone, and counted at least once', async () => {
    for (let at = 0, isStopped = true; isStopped; at++) {
      const projectId = newProject();
      await send(store, batch(projectId));
      const counts: number[] = [];
      const removing = async (from: Store) => counts.push(await remove(from, projectId, ['victim']));
      isStopped = await interleaved(store, at, removing, () => removing(store));
      expect(await read(store, 'victim', projectId)).toBeNull();
      expect(Math.max(...counts)).toBe(1);
      expect(await query(store, { projectId })).toEqual([await read(store, 'neighbour', projectId)]);
    }
  });
});
