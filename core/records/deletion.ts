import type { DeletedCounts } from '../../api/project.ts';
import {
  asBytes,
  type Cursor,
  deleteItems,
  deleteObject,
  everyShard,
  type Item,
  type KeyRange,
  listFolders,
  listObjects,
  mapConcurrent,
  queryPage,
  type RequestBudget,
  type ScanFilter,
  scanPage,
  type Table,
} from '../../foundations/storage/index.ts';
import type { Micros, ProjectId } from '../../foundations/wire/index.ts';
import { registerKey } from './alerts.ts';
import { timeRange } from './calls/index.ts';
import { pricesRange } from './costs/index.ts';
import { feedbackTimeRange } from './feedback/index.ts';
import { listRanges } from './objects/index.ts';
import { type PartitionKind, toPartition } from './partitions.ts';
import { droppedKey, noteKey } from './projects.ts';
import { type ProjectStores, Sweep, type SweepState, sweepKey } from './sweeps.ts';

/*
 * Deletes all that a project holds. What makes other things visible or has functions work goes first, by the
 * indexes that lead to it: nobody sees the project any more. No index leads to the rest, payloads and ends
 * without a start among it, so the tables are read as a whole. What items lead to in the bucket goes after
 * them, and the note that there is a project last: docs/decisions/0294.
 */

/** A table's parts that are read at the same time. */
const segments = 4;
/** Rows of an index that are deleted together. */
const rowsAtOnce = 1000;
/** Objects of the bucket that are deleted at the same time. */
const objectsAtOnce = 32;

interface State extends SweepState {
  /** When all was deleted but the note, in microseconds since 1970; 0 before. */
  endedAt: number;
  readonly deleted: Record<keyof DeletedCounts, number>;
  /** Where each part of the table that is being read goes on; null for one that is read. */
  cursors: Record<string, Cursor | null>;
}

const begin = (): State => ({
  next: 0,
  endedAt: 0,
  deleted: {
    calls: 0,
    feedback: 0,
    object_versions: 0,
    tables: 0,
    files: 0,
    prices: 0,
    payloads: 0,
    bucket_objects: 0,
    others: 0,
  },
  cursors: {},
});

type Kind = keyof DeletedCounts;

/** What an item counts as, by its key and the attributes that were read. */
type Classify = (item: Item) => Kind;

const others: Classify = () => 'others';

/** What of a project is in a kind of partition of the table `bookkeeping`. */
type Owned = (project: ProjectId) => ScanFilter;

const own =
  (kind: PartitionKind): Owned =>
  (project) => ({ partitions: [toPartition(kind, project)] });

/** One partition holds something of all projects: it is deleted by its key. */
const byKey: Owned = () => ({});

const inBookkeeping: Readonly<Record<PartitionKind, Owned>> = {
  projects: byKey,
  dropped: byKey,
  alertRegister: byKey,
  sweeps: byKey,
  marks: own('marks'),
  pages: own('pages'),
  issuePages: own('issuePages'),
  issueDays: own('issueDays'),
  knownIssues: own('knownIssues'),
  days: own('days'),
  texts: own('texts'),
  extremes: own('extremes'),
  alerts: own('alerts'),
  leases: own('leases'),
  questions: (project) => ({ prefixes: [toPartition('questions', project, 0)] }),
  counters: (project) => ({
    partitions: [toPartition('counters', 'project', 0, '', 0, project)],
    prefixes: ['user', 'evaluator'].map((of) => toPartition('counters', of, 0, project, 0)),
  }),
};

const ownedIn = (project: ProjectId): ScanFilter => {
  const all = Object.values(inBookkeeping).map((owned) => owned(project));
  return {
    partitions: all.flatMap(({ partitions = [] }) => partitions),
    prefixes: all.flatMap(({ prefixes = [] }) => prefixes),
  };
};

/** The byte behind a project in a partition key, which says what the partition holds. */
const byteBehind = (project: ProjectId, { k }: Item): number | undefined => asBytes(k)?.[project.length + 1];

class Deletion {
  readonly #stores: ProjectStores;
  readonly #project: ProjectId;
  readonly #state: State;
  readonly #budget: RequestBudget;

  constructor(stores: ProjectStores, project: ProjectId, state: State, budget: RequestBudget) {
    this.#stores = stores;
    this.#project = project;
    this.#state = state;
    this.#budget = budget;
  }

  /** All that is to be done, in order. */
  get steps() {
    const { calls, feedback, objects, costs, bookkeeping } = this.#stores;
    const project = this.#project;
    return [
      // Evaluators, alerts and limits go first, then what lists show.
      () => this.#objects(),
      () => this.#keys(bookkeeping, [registerKey(project), droppedKey(project)]),
      () => this.#calls(),
      () => this.#feedback(),
      () => this.#range(costs.table, pricesRange(project), ['k', 'p'], () => 'prices'),
      () => this.#scan(calls.table, ['k', 'p'], this.#byPrefix, this.#ofCalls),
      () => this.#scan(feedback.table, ['k'], this.#byPrefix, others),
      () => this.#scan(objects.table, ['k', 's'], this.#byPrefix, this.#ofObjects),
      () => this.#scan(bookkeeping, ['k', 's'], ownedIn(project), others),
      () => this.#bucket(),
    ];
  }

  get #byPrefix(): ScanFilter {
    return { prefixes: [Buffer.from(`${this.#project}\0`, 'utf8')] };
  }

  readonly #ofCalls: Classify = (item) =>
    item.p === 'P' && byteBehind(this.#project, item) === payloadByte ? 'payloads' : 'others';

  readonly #ofObjects: Classify = (item) => {
    const byte = byteBehind(this.#project, item);
    if (byte === tableByte) return 'tables';
    return byte === fileByte ? 'files' : 'others';
  };

  #count(kinds: readonly Kind[]): void {
    for (const kind of kinds) this.#state.deleted[kind]++;
  }

  /** Deletes items and counts them. */
  async #delete(
    table: Table,
    items: readonly Item[],
    keyNames: readonly string[],
    classify: Classify,
  ): Promise<void> {
    const keys = items.map((item) => Object.fromEntries(keyNames.map((name) => [name, item[name] ?? null])));
    await deleteItems(table, keys, this.#budget);
    this.#count(items.map(classify));
  }

  async *#objects(): AsyncGenerator<void> {
    for (const { kind, range } of listRanges(this.#project)) {
      const counted: Kind = kind === 'v' ? 'object_versions' : 'others';
      yield* this.#range(this.#stores.objects.table, range, ['k', 's'], () => counted);
    }
  }

  async *#calls(): AsyncGenerator<void> {
    const { calls } = this.#stores;
    const ofPart: Classify = ({ p }) => (p === 'S' ? 'calls' : 'others');
    for (const level of ['roots', 'nested'] as const)
      for (const shard of everyShard(calls))
        yield* this.#range(calls.table, timeRange(this.#project, level, shard, {}), ['k', 'p'], ofPart);
  }

  async *#feedback(): AsyncGenerator<void> {
    const { feedback } = this.#stores;
    const classify: Classify = ({ r }) => (r === undefined ? 'feedback' : 'others');
    for (const shard of everyShard(feedback))
      yield* this.#range(feedback.table, feedbackTimeRange(this.#project, shard, {}), ['k'], classify, ['r']);
  }

  async *#keys(table: Table, keys: readonly Item[]): AsyncGenerator<void> {
    await deleteItems(table, keys, this.#budget);
    yield;
  }

  /** Deletes what lies in a key range. Rows of an index that lead to nothing any more do no harm. */
  async *#range(
    table: Table,
    range: KeyRange,
    keyNames: readonly string[],
    classify: Classify,
    further: readonly string[] = [],
  ): AsyncGenerator<void> {
    const options = { attributes: [...keyNames, ...further], limit: rowsAtOnce };
    let start: Cursor | undefined;
    do {
      const page = await queryPage(table, range, this.#budget, { ...options, start });
      await this.#delete(table, page.items, keyNames, classify);
      start = page.next;
      yield;
    } while (start);
  }

  /** Looks through a whole table, a page of each part at a time, and deletes what is the project's. */
  async *#scan(
    table: Table,
    keyNames: readonly string[],
    filter: ScanFilter,
    classify: Classify,
  ): AsyncGenerator<void> {
    const state = this.#state;
    for (;;) {
      const left = Array.from({ length: segments }, (_, segment) => ({
        segment,
        name: `${table.name} ${segment}`,
      })).filter(({ name }) => state.cursors[name] !== null);
      if (left.length === 0) break;
      await mapConcurrent(left, segments, async ({ segment, name }) => {
        const part = { segment, segments, attributes: keyNames, start: state.cursors[name] ?? undefined };
        const { items, next } = await scanPage(table, filter, part, this.#budget);
        await this.#delete(table, items, keyNames, classify);
        state.cursors[name] = next ?? null;
      });
      yield;
    }
    state.cursors = {};
  }

  async *#bucket(): AsyncGenerator<void> {
    const { bucket } = this.#stores.calls;
    const project = this.#project;
    const folders = [
      ...(await listFolders(bucket, 'segments/', this.#budget)),
      ...(await listFolders(bucket, 'feedback/', this.#budget)),
      'objects/',
      'files/',
      'tables/',
      'answers/projects/',
    ];
    for (const folder of folders)
      for await (const keys of listObjects(bucket, `${folder}${project}/`, this.#budget)) {
        await mapConcurrent(keys, objectsAtOnce, (key) => deleteObject(bucket, key, this.#budget));
        this.#count(keys.map(() => 'bucket_objects'));
        yield;
      }
  }
}

/** The bytes of payload segments, tables and files in keys. */
const payloadByte = 2;
const tableByte = 't'.charCodeAt(0);
const fileByte = 'f'.charCodeAt(0);

/** Says of a deletion that it begins, or that all was deleted, at a time in microseconds since 1970. */
type Announce = (end: { readonly deleted: DeletedCounts; readonly at: Micros } | null) => Promise<void>;

/**
 * Deletes all that a project holds, as far as there is time for it. What is stored meanwhile is new: it may
 * stay, lose what it needs, or go.
 *
 * @param announce is told that it begins, and before the note of the project goes what was deleted, and when
 * @returns whether all is done, and what was deleted since the deletion began
 * @throws ServiceError 503 when storage does not answer in time; the same request goes on
 */
export const deleteProject = async (
  stores: ProjectStores,
  project: ProjectId,
  budget: RequestBudget,
  announce: Announce = async () => {},
): Promise<{ readonly done: boolean; readonly deleted: DeletedCounts }> => {
  const { bookkeeping } = stores;
  const sweep = await Sweep.load(bookkeeping, sweepKey(project, 'delete'), begin, budget);
  const { state } = sweep;
  const { deleted } = state;
  if (sweep.isNew) await announce(null);
  const done = await sweep.run(new Deletion(stores, project, state, budget).steps);
  if (done) {
    // It is announced once, whoever of several requests does so.
    state.endedAt ||= Date.now() * 1000;
    await sweep.keep();
    await announce({ deleted, at: state.endedAt });
    // The note goes last: until then the project is found, and can be deleted to its end.
    await sweep.forget([sweepKey(project, 'retain'), noteKey(project)]);
  }
  return { done, deleted };
};
