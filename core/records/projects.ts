import { setTimeout as sleep } from 'node:timers/promises';
import { allows, type Grant, includesRole } from '../../foundations/auth/index.ts';
import { cutSlice, type Slice } from '../../foundations/listing/index.ts';
import {
  asBytes,
  asNumber,
  asText,
  type Item,
  type NotedProjects,
  type ProjectRetention,
  queryPage,
  type RequestBudget,
  raiseNumber,
  readRange,
  requestBudget,
  setNumbers,
  setText,
  type Table,
} from '../../foundations/storage/index.ts';
import type { TableKey, TableRange } from '../../foundations/storage/tables.ts';
import { formatTime, type ProjectId } from '../../foundations/wire/index.ts';
import { toPartition } from './partitions.ts';

/*
 * Projects are noted in one partition of the table `bookkeeping`, by name.
 */

const partition = toPartition('projects');
const toName = (project: string): Uint8Array => Buffer.from(project, 'utf8');

export const noteKey = (project: ProjectId): TableKey<'bookkeeping'> => ({
  k: partition,
  s: toName(project),
});

/** The project of a note, out of its sort key. */
const notedProject = (sortKey: Uint8Array): ProjectId => Buffer.from(sortKey).toString('utf8') as ProjectId;

/** The notes of all projects, of one entity's (`acme/*`), or of one project, by name. */
const notesRange = (scope: string): TableRange<'bookkeeping'> => {
  if (scope === '*') return { partition: ['k', partition] };
  const prefix = scope.endsWith('/*') ? scope.slice(0, -1) : undefined;
  const [from, to] =
    prefix === undefined
      ? [toName(scope), toName(scope)]
      : [toName(prefix), Buffer.concat([toName(prefix), Buffer.of(0xff)])];
  return { partition: ['k', partition], sort: ['s', from, to] };
};

/** The longest that a note may take, in milliseconds. */
const noteMs = 2000;
/** The share of a request's time for which it waits for a note. */
const waitShare = 1 / 2;

/** The attribute with the time of the first report, in milliseconds since 1970. */
const firstReported = 'f';

/** The attribute with the time of the last verdict that was to wait for its call, in ms since 1970. */
const lastWaiting = 'w';

/** How long a note waits for whom it is left for, as a verdict does for its call, in days. */
export const noteDays = 7;
const waitingMs = noteDays * 86_400_000;
/** How often a container notes that verdicts wait, looks at the note, and notes what was dropped, at most, in ms. */
const noteEveryMs = 3_600_000;
const lookEveryMs = 60_000;
const dropEveryMs = 600_000;
/** How long a look that failed is as good as one that did not, for those who wait, in ms. */
const patienceMs = 10_000;

/*
 * The attributes with a project's own retention: days of calls and of feedback, 0 for none; the fewest days
 * of calls that there ever were, below 0 so that fewer days are a larger number; when the retention last
 * changed, in ms since 1970; and of which change of the object it is.
 */
const callsDays = 'c';
const feedbackDays = 'd';
const fewestDays = 'l';
const changedAt = 't';
const change = 'g';

type Numbers = Readonly<Record<string, number>>;

/** What a project's note says of its retention. */
export interface NotedRetention extends ProjectRetention {
  /** The fewest days of calls that there ever were; undefined if they were always kept. */
  readonly fewestDays: number | undefined;
  /** When it last changed, in milliseconds since 1970; 0 for never. */
  readonly changedAt: number;
}

const dayMs = 86_400_000;

/**
 * The fewest days after which calls expire that started at a time, by what the project says. Those of a former
 * retention count until a day after it changed: what was stored before keeps its expiry.
 *
 * @param startedAt in milliseconds since 1970
 */
export const getFewestDays = (
  retention: NotedRetention | undefined,
  startedAt: number,
): number | undefined => {
  const { callsDays: present, fewestDays: former, changedAt: changed = 0 } = retention ?? {};
  return startedAt >= changed + dayMs ? present : former;
};

const toRetention = (numbers: Numbers): NotedRetention => ({
  callsDays: numbers[callsDays] || undefined,
  feedbackDays: numbers[feedbackDays] || undefined,
  fewestDays: numbers[fewestDays] === undefined ? undefined : -numbers[fewestDays],
  changedAt: numbers[changedAt] ?? 0,
});

/**
 * Notes how long a project keeps what it holds. A later change that is noted already stays.
 *
 * @param at which change of its object this is, counted up
 * @throws ServiceError 503 when storage does not accept it in time
 */
export const noteRetention = async (
  table: Table,
  project: ProjectId,
  retention: ProjectRetention,
  at: number,
  budget: RequestBudget,
): Promise<void> => {
  const key = noteKey(project);
  const now = Date.now();
  await raiseNumber(table, { key, attribute: firstReported, value: now, onlyIfAbsent: true }, budget);
  if (retention.callsDays !== undefined)
    await raiseNumber(table, { key, attribute: fewestDays, value: -retention.callsDays }, budget);
  const values = {
    [callsDays]: retention.callsDays ?? 0,
    [feedbackDays]: retention.feedbackDays ?? 0,
    [changedAt]: now,
  };
  await setNumbers(table, { key, values, version: [change, at] }, budget);
};

/** Reads what a project's note says of its retention, strongly consistent. */
export const readRetention = async (
  table: Table,
  project: ProjectId,
  budget: RequestBudget,
): Promise<NotedRetention> => {
  const { items } = await queryPage(table, notesRange(project), budget, { consistent: true });
  const numbers = Object.entries(items[0] ?? {}).flatMap(([name, value]) => {
    const number = asNumber(value);
    return number === undefined ? [] : [[name, number] as const];
  });
  return toRetention(Object.fromEntries(numbers));
};

/** The most projects whose retentions a container remembers. */
const maxRecalled = 1000;

const recalled = new Map<string, { readonly at: number; readonly read: Promise<NotedRetention> }>();

/**
 * What a project's note says of its retention, as it was a minute ago at most: statistics go by it, and what
 * expires is there for longer than that.
 */
export const recallRetention = (
  table: Table,
  project: ProjectId,
  budget: RequestBudget,
): Promise<NotedRetention> => {
  const name = `${table.name} ${project}`;
  const now = Date.now();
  const known = recalled.get(name);
  if (known && known.at > now - lookEveryMs) return known.read;
  if (recalled.size >= maxRecalled) recalled.clear();
  const read = readRetention(table, project, budget);
  recalled.set(name, { at: now, read });
  read.catch(() => recalled.delete(name));
  return read;
};

/** What a container knows of a project: since when, and its note's numbers. */
interface Known {
  readonly at: number;
  readonly looked: Promise<Numbers | undefined>;
}

/**
 * Notes the projects that are written to, each at most once a minute in a container. Nobody waits for a
 * note but the first write of a minute, which learns the retention, and a note that fails is made again at the next
 * write: it is beside what is written.
 *
 * A note that is there already is shown by the condition that fails. It also says whether verdicts wait in
 * the project for their calls (docs/decisions/0234), and how long the project keeps what it holds
 * (docs/decisions/0295).
 */
export class ProjectNotes implements NotedProjects {
  readonly #table: Table;
  readonly #known = new Map<ProjectId, Known>();
  readonly #retentions = new Map<ProjectId, { readonly at: number; readonly retention: NotedRetention }>();
  readonly #expected = new Map<ProjectId, number>();
  readonly #dropped = new Map<string, number>();

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Begins to note a project that is about to be written to, unless it was or is being noted in the last
   * minute. It never throws.
   */
  note(project: ProjectId): void {
    this.#look(project);
  }

  /** Notes a project, and learns what its note says: what was learned in the last minute, or is being. */
  #look(project: ProjectId): Promise<Numbers | undefined> {
    const now = Date.now();
    const known = this.#known.get(project);
    if (known && known.at > now - lookEveryMs) return known.looked;
    const note = {
      key: noteKey(project),
      attribute: firstReported,
      value: now,
      onlyIfAbsent: true,
    };
    const looked = raiseNumber(this.#table, note, requestBudget(noteMs)).then(
      (found) => {
        this.#retentions.set(project, { at: now, retention: toRetention(found) });
        return found;
      },
      () => {
        this.#known.delete(project);
        // Nobody waits for the next try for a while, or an outage of this table would slow all writes.
        const retention = this.#retentions.get(project)?.retention ?? toRetention({});
        this.#retentions.set(project, { at: now - lookEveryMs + patienceMs, retention });
        return undefined;
      },
    );
    this.#known.set(project, { at: now, looked });
    return looked;
  }

  async learnRetention(
    projects: Iterable<ProjectId>,
    { deadline }: Pick<RequestBudget, 'deadline'>,
  ): Promise<void> {
    const unknown = [...projects].flatMap((project) => {
      const looked = this.#look(project);
      return (this.#retentions.get(project)?.at ?? 0) > Date.now() - lookEveryMs ? [] : [looked];
    });
    if (unknown.length === 0) return;
    const learned = new AbortController();
    const late = sleep(Math.max(0, (deadline - Date.now()) * waitShare), undefined, learned).catch(() => {});
    await Promise.race([Promise.all(unknown), late]);
    learned.abort();
  }

  getRetention(project: ProjectId): ProjectRetention {
    return this.#retentions.get(project)?.retention ?? {};
  }

  async expectsCalls(project: ProjectId): Promise<boolean> {
    const found = await this.#look(project);
    return (found?.[lastWaiting] ?? 0) > Date.now() - waitingMs;
  }

  async expectCalls(project: ProjectId, budget: RequestBudget): Promise<void> {
    const now = Date.now();
    if ((this.#expected.get(project) ?? 0) > now - noteEveryMs) return;
    await raiseNumber(this.#table, { key: noteKey(project), attribute: lastWaiting, value: now }, budget);
    this.#expected.set(project, now);
    this.note(project);
  }

  /**
   * Notes an export of which something was not kept, in the place of the one before. For a reason, it does so
   * once in some minutes in the life of a container. It never throws.
   */
  async drop(project: ProjectId, dropped: DroppedExport): Promise<void> {
    const name = `${project}\n${dropped.path}\n${dropped.reason}`;
    const now = Date.now();
    if ((this.#dropped.get(name) ?? 0) > now - dropEveryMs) return;
    if (this.#dropped.size >= maxDropped) this.#dropped.clear();
    this.#dropped.set(name, now);
    const note = {
      key: droppedKey(project),
      attribute: droppedText,
      value: JSON.stringify({ ...dropped, at: formatTime(now * 1000) }),
      expiry: { x: Math.floor(now / 1000) + droppedDays * 86_400 },
    };
    await setText(this.#table, note, requestBudget(noteMs)).catch(() => this.#dropped.delete(name));
  }
}

/** An export of which not all was kept. */
export interface DroppedExport {
  /** Where it was sent. */
  readonly path: string;
  /** How many spans, records or data points were not kept; null if the request was refused as a whole. */
  readonly count: number | null;
  readonly reason: string;
  /** The program, by its `user-agent`; null if it has none. */
  readonly program: string | null;
}

/** Dropped exports are one partition, too, by the names of their projects. */
const droppedPartition = toPartition('dropped');
/** The key of the last dropped export of a project. */
export const droppedKey = (project: ProjectId): TableKey<'bookkeeping'> => ({
  k: droppedPartition,
  s: toName(project),
});

/** The attribute with the last dropped export of a project, as JSON. */
const droppedText = 'd';
/** How long it is told, in days. */
const droppedDays = 30;
/** How many projects and reasons a container remembers. */
const maxDropped = 1000;

/** The last export of a project of which not all was kept, as it is answered. */
export interface DroppedRow extends DroppedExport {
  readonly project_id: ProjectId;
  /** When it came, as text. */
  readonly at: string;
}

const toDropped = ({ s, [droppedText]: text }: Item): DroppedRow => ({
  project_id: notedProject(asBytes(s) ?? Buffer.of()),
  ...(JSON.parse(asText(text) ?? '{}') as DroppedExport & { at: string }),
});

/** The most dropped exports that are answered. */
const maxDroppedRows = 100;

/** The last dropped exports of the projects that grants allow to read, one of each project, the newest first. */
export const queryDropped = async (
  table: Table,
  grants: readonly Grant[],
  budget: RequestBudget,
): Promise<DroppedRow[]> => {
  const rows = new Map<string, DroppedRow>();
  for (const scope of readable(grants)) {
    const range = { ...notesRange(scope), partition: ['k', droppedPartition] } as const;
    for await (const page of readRange(table, range, { toRow: toDropped, consistent: true }, budget))
      for (const row of page) if (allows(grants, row.project_id, 'read')) rows.set(row.project_id, row);
  }
  return [...rows.values()].sort((a, b) => (a.at > b.at ? -1 : 1)).slice(0, maxDroppedRows);
};

/** A project as it is answered. */
export type ProjectRow = {
  readonly project_id: ProjectId;
  /** When it was first written to, as text. */
  readonly first_reported_at: string;
};

const toRow = (item: Item): ProjectRow => {
  const name = asBytes(item.s);
  const first = asNumber(item[firstReported]);
  if (!name || first === undefined) throw new Error('the note of a project is damaged');
  return { project_id: notedProject(name), first_reported_at: formatTime(first * 1000) };
};

const readable = (grants: readonly Grant[]): string[] => {
  const scopes = grants.filter(({ role }) => includesRole(role, 'read')).map(({ scope }) => scope);
  return scopes.includes('*') ? ['*'] : [...new Set<string>(scopes)];
};

/**
 * Lists the projects that have ever been written to and that grants allow to read, by name. It
 * reads what the grants name and no more.
 */
export const queryProjects = async (
  table: Table,
  grants: readonly Grant[],
  slice: Slice,
  budget: RequestBudget,
): Promise<ProjectRow[]> => {
  const rows = new Map<string, ProjectRow>();
  for (const scope of readable(grants))
    for await (const page of readRange(table, notesRange(scope), { toRow, consistent: true }, budget))
      for (const row of page) if (allows(grants, row.project_id, 'read')) rows.set(row.project_id, row);
  const sorted = [...rows.values()].sort((a, b) => (a.project_id < b.project_id ? -1 : 1));
  return cutSlice(sorted, slice);
};
