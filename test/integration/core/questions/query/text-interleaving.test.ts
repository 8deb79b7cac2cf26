import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { deleteCalls } from '../../../../../core/records/calls/index.ts';
import { groupTest, hashesOf, readTexts } from '../../../../../core/records/texts.ts';
import { requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../../../foundations/wire/index.ts';
import type { Fault } from '../../../../support/faults/faults.ts';
import { faultPlan, makeFaulty, planned, type SdkClient } from '../../../../support/faults/faulty-client.ts';
import { crashed, findKinds, interleaved, stopsAmong } from '../../../../support/faults/intercepted.ts';
import { repeatWith } from '../../../../support/run/sampling.ts';
import { ask, makeEnd, makeStart, send } from '../../../../support/values/calls.ts';
import { createStatsStore } from '../../../../support/values/stats.ts';

/*
 * A search that notes what finished hours have and a request that changes their calls, or another search,
 * interleaved; as `stats/interleaving.test.ts` does it with rollups. Afterwards each text is found as if nothing
 * were known, at any time, and what was taken away is nowhere in what is stored.
 */

let store: Store;
/** A store whose requests fail as a plan says. */
let faulty: Store;
beforeAll(async () => {
  store = await createStatsStore({ shards: [1] });
  const other = await createStatsStore({ shards: [1] });
  makeFaulty(other.table.client as SdkClient);
  faulty = other;
});
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

let projects = 0;
const newProject = () => `acme/raced-texts-${projects++}` as ProjectId;
/** So late that all marks are over. */
const waitForMarks = () => vi.setSystemTime(Date.now() + 600_000);

const at = (hour: number, minute = 0): string => new Date(Date.UTC(2026, 9, 1, hour, minute)).toISOString();
const call = (project_id: ProjectId, id: string, hour: number, says: string) =>
  makeStart({ project_id, id, trace_id: 't', started_at: at(hour), inputs: { says } });
const ended = (project_id: ProjectId, id: string, output: string, minute = 1) =>
  makeEnd({ project_id, id, ended_at: at(23, minute), output });

/** The calls that are there before: two whole, one that runs, one whose end came first. */
const prepare = async (project: ProjectId, to: Store = store): Promise<void> => {
  await send(to, [call(project, 'whole', 3, 'aardvarks'), ended(project, 'whole', 'badgers')]);
  await send(to, [call(project, 'beside', 4, 'camels'), ended(project, 'beside', 'dolphins')]);
  await send(to, [call(project, 'running', 3, 'elephants')]);
  await send(to, [ended(project, 'early', 'flamingos')]);
  waitForMarks();
};

/** What calls say, before or after they have changed. */
const words = [
  'aardvarks',
  'badgers',
  'dolphins',
  'elephants',
  'flamingos',
  'gorillas',
  'hedgehogs',
  'ibexes',
];

interface Change {
  readonly do: (to: Store, project: ProjectId) => Promise<unknown>;
  /** What calls no longer say. */
  readonly gone?: readonly string[];
}

const budget = () => requestBudget(30_000);

/** What can change an hour that is long over. */
const changes: Readonly<Record<string, Change>> = {
  'a late call': {
    do: (to, p) => send(to, [call(p, 'late', 3, 'gorillas'), ended(p, 'late', 'hedgehogs')]),
  },
  'a late start': { do: (to, p) => send(to, [call(p, 'late', 3, 'gorillas')]) },
  'a late end': { do: (to, p) => send(to, [ended(p, 'running', 'hedgehogs', 9)]) },
  'the start of an end that came first': { do: (to, p) => send(to, [call(p, 'early', 3, 'gorillas')]) },
  'another end': { do: (to, p) => send(to, [ended(p, 'whole', 'ibexes', 9)]), gone: ['badgers'] },
  'a repeated start that moves a call': {
    do: (to, p) => send(to, [call(p, 'whole', 5, 'gorillas')]),
    gone: ['aardvarks'],
  },
  'a start and end that replace one': {
    do: (to, p) => send(to, [call(p, 'running', 3, 'gorillas'), ended(p, 'running', 'hedgehogs', 9)]),
    gone: ['elephants'],
  },
  'a deletion': {
    do: (to, p) => deleteCalls(to, p, ['whole', 'running'], budget()),
    gone: ['aardvarks', 'badgers', 'elephants'],
  },
};
const names = Object.keys(changes);

const search = async (
  from: Store,
  project: ProjectId,
  text: string,
  direction: 'asc' | 'desc' = 'desc',
): Promise<unknown[]> => {
  const $or = ['inputs', 'output'].map((path) => ({
    $contains: {
      input: { $convert: { input: { $getField: path }, to: 'string' } },
      substr: { $literal: text },
    },
  }));
  const sort_by = [{ field: 'started_at', direction }];
  const found = await ask(from, { project_id: project, query: { $expr: { $or } }, sort_by, columns: ['id'] });
  return found.map(({ id }) => id);
};
/** A search that finds nothing, and notes all that it may. */
const note = (from: Store, project: ProjectId, direction?: 'asc' | 'desc') =>
  search(from, project, 'xylophones', direction);

const expectTruth = async (project: ProjectId, where: string, of: Store = store): Promise<void> => {
  const without = { ...of, bookkeeping: undefined };
  const expected = await Promise.all(words.map((word) => search(without, project, word)));
  // At once, then so late that it is noted again, and from what was noted.
  for (const time of ['at once', 'later', 'again']) {
    if (time === 'later') waitForMarks();
    for (const [i, word] of words.entries())
      expect(await search(of, project, word), `${where}, ${time}: ${word}`).toEqual(expected[i]);
  }
};

/** Whether what is stored of texts may have one, whether it still counts or not. */
const isStored = async (project: ProjectId, text: string): Promise<boolean> => {
  if (!store.bookkeeping) throw new Error('the store keeps no books');
  const test = groupTest({ kind: 'hashes', hashes: hashesOf(text) });
  const pages = await Array.fromAsync(readTexts(store.bookkeeping, project, [0, 1e6], true, budget()));
  return pages.flat().some(({ groups }) => groups.some(test));
};

const expectGone = async (project: ProjectId, { gone = [] }: Change, where: string): Promise<void> => {
  for (const word of gone) expect(await isStored(project, word), `${where}: ${word}`).toBe(false);
};

interface Target {
  readonly TableName?: string;
  readonly IndexName?: string;
  readonly ConsistentRead?: boolean;
}

const getKind = (operation: string, input: object): string => {
  const { TableName, IndexName, ConsistentRead } = input as Target;
  const place = IndexName ?? (TableName === store.bookkeeping?.name ? 'bookkeeping' : '');
  return [operation, place, ConsistentRead ? 'consistent' : ''].filter(Boolean).join(' ');
};

let kindsOfSearch: string[] = [];
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const project = newProject();
  await prepare(project);
  kindsOfSearch = await findKinds(store, (watched) => note(watched, project), getKind);
  vi.useRealTimers();
});

/** The kinds of commands that a test of an earlier change has stopped before. */
const taken = { search: new Set<string>(), underWay: new Set<string>(), died: new Set<string>() };

describe.each(names)('%s', (name) => {
  const change = changes[name] as Change;
  let kinds: string[] = [];
  beforeAll(async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const project = newProject();
    await prepare(project);
    await note(store, project);
    kinds = await findKinds(store, (watched) => change.do(watched, project), getKind);
    vi.useRealTimers();
  });

  it('is found after a search that began before it and notes hours after it', async () => {
    for (const stop of stopsAmong(kindsOfSearch, `texts, ${name}`, taken.search)) {
      const project = newProject();
      await prepare(project);
      await interleaved(
        store,
        stop,
        (through) => note(through, project),
        () => change.do(store, project),
      );
      const where = `${repeatWith}: the search stopped before command ${stop}`;
      await expectGone(project, change, where);
      await expectTruth(project, where);
    }
  });

  it('is found after searches that came while it was under way', async () => {
    for (const stop of stopsAmong(kinds, `texts under way, ${name}`, taken.underWay)) {
      const project = newProject();
      await prepare(project);
      await note(store, project);
      await interleaved(
        store,
        stop,
        (through) => change.do(through, project),
        () => note(store, project),
      );
      const where = `${repeatWith}: the change stopped before command ${stop}`;
      await expectGone(project, change, where);
      await expectTruth(project, where);
    }
  });

  it('is found although it died before it was done, and has gone once it is repeated', async () => {
    for (const stop of stopsAmong(kinds, `texts died, ${name}`, taken.died)) {
      const project = newProject();
      await prepare(project);
      await note(store, project);
      await crashed(store, stop, (dying) => change.do(dying, project));
      const where = `${repeatWith}: died before command ${stop}`;
      await expectTruth(project, where);
      await change.do(store, project);
      await expectGone(project, change, where);
      await expectTruth(project, where);
    }
  });
});

describe('a search that notes hours', () => {
  it('may be stopped anywhere while another notes the same hours in the other direction', async () => {
    for (const stop of stopsAmong(kindsOfSearch, 'two searches')) {
      const project = newProject();
      await prepare(project);
      await interleaved(
        store,
        stop,
        (through) => note(through, project),
        () => note(store, project, 'asc'),
      );
      await expectTruth(project, `${repeatWith}: stopped before command ${stop}`);
    }
  });

  it('may die before any of its commands', async () => {
    for (const stop of stopsAmong(kindsOfSearch, 'a search that dies')) {
      const project = newProject();
      await prepare(project);
      await crashed(store, stop, (dying) => note(dying, project));
      await expectTruth(project, `${repeatWith}: died before command ${stop}`);
    }
  });

  it.each<Fault>(['throttle', 'error', 'reset', 'half', 'down', 'refuse'])(
    'answers right or not at all if a request meets with the fault %s',
    async (fault) => {
      for (let number = 0; number < kindsOfSearch.length; number++) {
        const project = newProject();
        await prepare(project, faulty);
        const plan = faultPlan((request) => (request === number ? fault : 'none'));
        const answer = await planned(plan, () => search(faulty, project, 'badgers')).catch(() => 'failed');
        expect([['whole'], 'failed'], `${fault} at ${number}`).toContainEqual(answer);
        await expectTruth(project, `${fault} at ${number}`, faulty);
      }
    },
  );
});
