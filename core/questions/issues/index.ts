import {
  type IssueRow,
  type IssuesAnswer,
  type IssuesFilter,
  type IssuesQuery,
  type IssueUpdate,
  type SavedIssue,
  savedIssue,
} from '../../../api/issues.ts';
import { type IssueState, issueClass, issueOfObject, toIssueObject } from '../../../api/shared/issues.ts';
import { compareText } from '../../../foundations/expression/index.ts';
import type { RequestBudget, Store } from '../../../foundations/storage/index.ts';
import {
  formatTime,
  invalidAt,
  type JsonValue,
  type Micros,
  type ProjectId,
  parseTime,
} from '../../../foundations/wire/index.ts';
import { safeParse } from '../../../foundations/wire/schema.ts';
import { createObject, type ObjectChecks, readClass, readNewest } from '../../records/objects/index.ts';
import { hourMicros, hoursOfDay } from '../../records/rollups.ts';
import type { IssueStores } from './find.ts';
import { takeIssues } from './rollups.ts';
import { commonestAgents, newestReleases, Tallies, type Tally } from './tally.ts';

export { toOpName } from './find.ts';

/** What a question about issues reads. */
export interface IssueSources extends IssueStores {
  /** Where people's decisions are. */
  readonly objects: Store;
}

/** Longer ranges have a series by day. */
const maxByHour = 7 * hoursOfDay * hourMicros;
const maxReleases = 20;

const parseSaved = (value: JsonValue): SavedIssue | undefined => {
  const parsed = safeParse(savedIssue(), value);
  return parsed.success ? parsed.data : undefined;
};

/** What was decided on an issue. */
export interface Decision extends Omit<SavedIssue, 'resolvedAt'> {
  /** Since when what is seen is a regression; undefined if the issue is not resolved. */
  readonly resolvedAt: Micros | undefined;
}

const toDecision = (saved: SavedIssue): Decision => ({
  ...saved,
  resolvedAt: saved.state === 'resolved' ? parseTime(saved.resolvedAt ?? saved.savedAt ?? '') : undefined,
});

/** Reads what was decided on issues, by their ids. */
export const readDecisions = async (
  objects: Store,
  projectId: ProjectId,
  isWanted: (issueId: string) => boolean,
  budget: RequestBudget,
): Promise<ReadonlyMap<string, Decision>> => {
  const isOne = (objectId: string) => isWanted(issueOfObject(objectId) ?? '');
  const found = await readClass(objects, projectId, issueClass, isOne, budget);
  return new Map(
    found.flatMap(({ header, value }) => {
      const id = issueOfObject(header.objectId);
      const saved = parseSaved(value);
      return id !== undefined && saved ? [[id, toDecision(saved)] as const] : [];
    }),
  );
};

/** The state of an issue: one that was resolved, and seen since, has regressed. */
const toState = (decision: Decision | undefined, lastSeen: Micros): IssueState => {
  const resolvedAt = decision?.resolvedAt;
  return resolvedAt !== undefined && lastSeen > resolvedAt ? 'regressed' : (decision?.state ?? 'open');
};

const passes =
  ({ issueIds, kinds, opNames, toolNames, agents, releases, assignees, firstSeenAfter }: IssuesFilter) =>
  (row: IssueRow, { first }: Tally): boolean => {
    const among = (list: readonly string[] | null, value: string | null): boolean =>
      list === null || (value !== null && list.includes(value));
    return (
      among(issueIds, row.issue_id) &&
      among(kinds, row.kind) &&
      among(opNames, row.op_name) &&
      among(toolNames, row.tool_name) &&
      among(assignees, row.assignee) &&
      (agents === null || row.agents.some(({ name }) => name !== null && agents.includes(name))) &&
      (releases === null || row.releases.some((release) => releases.includes(release))) &&
      (firstSeenAfter === null || first > firstSeenAfter)
    );
  };

/** Compares by the keys of an order, and then by id. What is null comes last. */
const compareRows =
  (sort: IssuesQuery['sort']) =>
  (a: IssueRow, b: IssueRow): number => {
    for (const { field, descending } of sort) {
      const [x, y] = [a[field], b[field]].map((value) => (Array.isArray(value) ? value.length : value));
      if (x === y || x === undefined || y === undefined) continue;
      if (x === null || y === null) return x === null ? 1 : -1;
      const order =
        typeof x === 'number' && typeof y === 'number' ? x - y : compareText(String(x), String(y));
      return descending ? -order : order;
    }
    return compareText(a.issue_id, b.issue_id);
  };

/** A question about issues under way: counts as they grow, and the answer, to be asked for once. */
export interface IssuesUnderWay {
  readonly counts: {
    readonly scanned: number;
    readonly hydrated: number;
    readonly feedback: number;
    readonly rollups: number;
  };
  readonly answer: () => Promise<IssuesAnswer>;
}

/**
 * Groups what went wrong in a project as issues.
 *
 * @param now the time, in milliseconds since 1970
 * @throws ServiceError 503, when the answer is asked for, if storage does not give something in time
 */
export const queryIssues = (
  { calls, feedback, objects }: IssueSources,
  query: IssuesQuery,
  budget: RequestBudget,
  now: () => number = Date.now,
): IssuesUnderWay => {
  const { projectId, start, end, state: states, filter, sort, limit, offset } = query;
  const counts = { scanned: 0, hydrated: 0, feedback: 0, rollups: 0 };
  const answer = async (): Promise<IssuesAnswer> => {
    const byDay = end - start > maxByHour;
    const bucket = byDay ? hoursOfDay * hourMicros : hourMicros;
    const first = Math.floor(start / bucket);
    const buckets = Math.ceil(end / bucket) - first;
    const all = new Tallies();
    const series = new Map<string, number[]>();
    await takeIssues(
      {
        stores: { calls, feedback },
        table: calls.bookkeeping,
        projectId,
        span: [start, end],
        byDay,
        counts,
        now,
      },
      (tallies, time) => {
        all.merge(tallies);
        for (const [id, { count }] of tallies.issues) {
          const ofIssue = series.get(id) ?? new Array<number>(buckets).fill(0);
          series.set(id, ofIssue);
          const at = Math.max(0, Math.floor(time / bucket) - first);
          ofIssue[at] = (ofIssue[at] ?? 0) + count;
        }
      },
      budget,
    );
    const decisions = await readDecisions(objects, projectId, (id) => all.issues.has(id), budget);
    const toRow = (id: string, tally: Tally): IssueRow => {
      const saved = decisions.get(id);
      return {
        issue_id: id,
        title: tally.title,
        kind: tally.kind,
        op_name: tally.opName,
        tool_name: tally.toolName,
        count: tally.count,
        trace_count: tally.traces.count,
        user_count: tally.users.count,
        first_seen: formatTime(tally.first),
        last_seen: formatTime(tally.last),
        releases: [...tally.releases],
        agents: commonestAgents(tally.agents).map(([name, count]) => ({ name, count })),
        state: toState(saved, tally.last),
        assignee: saved?.assignee ?? null,
        note: saved?.note ?? null,
        series: series.get(id) ?? [],
        examples: tally.examples.map(([, callId]) => callId),
      };
    };
    const isWanted = passes(filter);
    const rows = [...all.issues].flatMap(([id, tally]) => {
      const row = toRow(id, tally);
      return isWanted(row, tally) && states?.includes(row.state) !== false ? [row] : [];
    });
    rows.sort(compareRows(sort));
    return {
      start: formatTime(start),
      end: formatTime(end),
      series_start: formatTime(first * bucket),
      granularity: bucket / 1_000_000,
      count: rows.length,
      left_out: all.leftOut,
      releases: newestReleases(all.releases)
        .slice(0, maxReleases)
        .map(([release, at]) => ({ release, first_seen: formatTime(at) })),
      issues: rows.slice(offset, offset + limit),
    };
  };
  return { counts, answer };
};

/**
 * Changes what is decided on an issue: what a change leaves out stays.
 *
 * @param userId who decides
 * @param checks as {@link createObject} takes them
 * @throws ServiceError as {@link createObject}; 422 for a change of nothing
 */
export const updateIssue = async (
  objects: Store,
  { projectId, issueId, change }: IssueUpdate,
  userId: string,
  budget: RequestBudget,
  checks: ObjectChecks = {},
  now: () => number = Date.now,
) => {
  if (Object.values(change).every((value) => value === undefined))
    throw invalidAt(['body'], 'should have a state, an assignee or a note');
  const objectId = toIssueObject(issueId);
  const before = await readNewest(objects, { projectId, objectId }, issueClass, parseSaved, budget);
  const at = formatTime(now() * 1000);
  const state = change.state ?? before?.state ?? 'open';
  const assignee = change.assignee === undefined ? (before?.assignee ?? null) : change.assignee;
  const note = change.note === undefined ? (before?.note ?? null) : change.note;
  // Resolving again what came back is a decision of now.
  const resolvedAt =
    change.state === 'resolved' ? at : state === 'resolved' ? (before?.resolvedAt ?? at) : null;
  const val = { _type: issueClass, state, resolved_at: resolvedAt, assignee, note, saved_at: at };
  await createObject(objects, { projectId, objectId, val }, userId, budget, checks);
  return { object_id: objectId, state, assignee, note };
};
