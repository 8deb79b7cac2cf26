import type { IssueRow, IssuesAnswer, IssuesFilter, IssuesQuery } from '../../../api/issues.ts';
import type { IssueState } from '../../../api/shared/issues.ts';
import { compareText } from '../../../foundations/expression/index.ts';
import type { RequestBudget, Store } from '../../../foundations/storage/index.ts';
import { formatTime, type Micros } from '../../../foundations/wire/index.ts';
import { type Decision, readDecisions } from '../../records/issues.ts';
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
    // How often each issue was seen in which buckets: of many issues and buckets, most have nothing.
    const seen = new Map<string, [bucket: number, count: number][]>();
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
          const ofIssue = seen.get(id) ?? [];
          seen.set(id, ofIssue);
          ofIssue.push([Math.max(0, Math.floor(time / bucket) - first), count]);
        }
      },
      budget,
    );
    const decisions = await readDecisions(objects, projectId, (id) => all.issues.has(id), budget);
    const toSeries = (id: string): number[] => {
      const series = new Array<number>(buckets).fill(0);
      for (const [at, count] of seen.get(id) ?? []) series[at] = (series[at] ?? 0) + count;
      return series;
    };
    const toRow = (id: string, tally: Tally): IssueRow => {
      const saved = decisions.get(id);
      return {
        issue_id: id,
        title: tally.title,
        kind: tally.kind,
        op_name: tally.opName,
        tool_name: tally.toolName,
        count: tally.count,
        // Estimates can be more than there are.
        trace_count: Math.min(tally.traces.count, tally.count),
        user_count: Math.min(tally.users.count, tally.count),
        first_seen: formatTime(tally.first),
        last_seen: formatTime(tally.last),
        releases: [...tally.releases],
        agents: commonestAgents(tally.agents).map(([name, count]) => ({ name, count })),
        state: toState(saved, tally.last),
        assignee: saved?.assignee ?? null,
        note: saved?.note ?? null,
        series: [],
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
      issues: rows.slice(offset, offset + limit).map((row) => ({ ...row, series: toSeries(row.issue_id) })),
    };
  };
  return { counts, answer };
};
