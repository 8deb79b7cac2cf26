import type { IssueKind } from '../../../api/shared/issues.ts';
import {
  decodeMessagePack,
  encodeMessagePack,
  pack,
  shortDigest,
  unpack,
} from '../../../foundations/encoding/index.ts';
import type { Links } from '../../../foundations/links.ts';
import {
  asBytes,
  mapConcurrent,
  queryPage,
  type RequestBudget,
  type Store,
  type Table,
} from '../../../foundations/storage/index.ts';
import type { TableKey, TableRange } from '../../../foundations/storage/tables.ts';
import { callRef, formatTime, type Micros, type ProjectId } from '../../../foundations/wire/index.ts';
import { takeIssues } from '../../questions/issues/rollups.ts';
import type { Tally } from '../../questions/issues/tally.ts';
import type { Span } from '../../questions/stats/index.ts';
import { type Decision, readDecisions } from '../../records/issues.ts';
import { toPartition } from '../../records/partitions.ts';
import { lagMicros } from './decide.ts';
import type { Contributor } from './message.ts';

/*
 * Which issues a project is known to have, in an item of the table `bookkeeping`. Looks write it, of projects with an
 * alert on new issues alone, so it is what makes an issue new.
 *
 *   k  knownIssues, project   s  0
 *     h  until when was looked, the issues, and those that were new last
 *     x  when it expires, in seconds
 */

/** Where issues, and what was decided on them, are. */
export interface IssueSources {
  readonly calls: Store;
  readonly feedback: Store;
  readonly objects: Store;
}

const minute = 60_000_000;
const hour = 60 * minute;
const day = 24 * hour;

/** How far back an issue has to be unknown, so that it is new, where nobody has looked yet. */
export const lookedBack: Micros = 30 * day;
/** What is not seen for so long is forgotten. */
const keptDays = 90;
/** How long titles are kept: as long as the longest window is. */
const namedFor = 7 * day;
/** The most issues that are known of a project: those that were seen last. What is more than that is not new. */
const maxKnown = 2000;
/** How long an event is tried for, and how late an issue may be found to be told. */
const tellWithin = day;
/** The most new issues of a look, the others being those of the next one, and the most that wait to be told. */
const maxWaiting = 100;
/** The most of those that were told that are kept with their titles. */
const maxNamed = 20;
/** After how long it is stored until when was looked, though nothing has changed. */
const staleAfter = hour;

/** A known issue. */
interface KnownIssue {
  /** When it was new, or seen again after it was resolved; 0 if people knew it before. */
  readonly newAt: Micros;
  /** The UTC day when it was last seen, counted from 1970-01-01. */
  readonly day: number;
}

/** An issue that was new. */
export interface OpenedIssue {
  readonly issueId: string;
  readonly kind: IssueKind;
  readonly title: string;
  readonly opName: string | null;
  readonly toolName: string | null;
  readonly releases: readonly string[];
  /** A call with it. */
  readonly callId: string;
  readonly at: Micros;
  /** When it had been resolved; null if it was not. */
  readonly resolvedAt: Micros | null;
  /** Whether its event was sent, or is none to send. */
  readonly isTold: boolean;
}

/** What is known of a project's issues. */
export interface KnownIssues {
  readonly until: Micros;
  /** By the first half of their ids. */
  readonly issues: ReadonlyMap<string, KnownIssue>;
  /** Those that were new last, the newest first. */
  readonly opened: readonly OpenedIssue[];
}

export const noKnownIssues: KnownIssues = { until: 0, issues: new Map(), opened: [] };

const idBytes = 8;
const toKey = (issueId: string): string => issueId.slice(0, 2 * idBytes);
const toDay = (time: Micros): number => Math.floor(time / day);

// What is new.

/** When something is seen that is new: what nobody knew, or what was resolved and is seen since. */
const findOpening = (
  { first, last }: Pick<Tally, 'first' | 'last'>,
  known: KnownIssue | undefined,
  decision: Decision | undefined,
): Pick<OpenedIssue, 'at' | 'resolvedAt'> | undefined => {
  if (decision?.state === 'ignored') return undefined;
  const resolvedAt = decision?.resolvedAt;
  if (resolvedAt === undefined) return known ? undefined : { at: first, resolvedAt: null };
  if (last <= resolvedAt || (known && known.newAt > resolvedAt)) return undefined;
  return { at: first > resolvedAt ? first : last, resolvedAt };
};

/** What was seen of each issue, by its id. */
export type Seen = ReadonlyMap<string, readonly Tally[]>;

/** A look for new issues. */
interface Round {
  /** The end of what is looked at: what is seen first after it waits for the next look. */
  readonly end: Micros;
  /** What is found late counts from this time on. */
  readonly since: Micros;
  /** Whether nobody has looked before, so that nothing is told. */
  readonly isFirst: boolean;
  /** How many issues may be known. @default - those that an item has room for */
  readonly most?: number;
}

/**
 * Adds what was seen to what is known. Pure, and the same again finds nothing new.
 *
 * @returns what is known then, what was new, oldest first, and whether it is worth storing
 */
export const noteIssues = (
  before: KnownIssues,
  seen: Seen,
  decisions: ReadonlyMap<string, Decision>,
  { end, since, isFirst, most = maxKnown }: Round,
): { readonly known: KnownIssues; readonly opened: readonly OpenedIssue[]; readonly changed: boolean } => {
  const issues = new Map(before.issues);
  const opened: OpenedIssue[] = [];
  // Those that this look may see stay, since they would be new again.
  let room = most - [...issues.values()].filter((known) => known.day >= toDay(end) - 1).length;
  let fresh = 0;
  let changed = isFirst || end - before.until >= staleAfter;
  for (const [issueId, tallies] of seen) {
    const key = toKey(issueId);
    for (const tally of tallies.toSorted((a, b) => a.first - b.first)) {
      if (tally.first >= end) break;
      const known = issues.get(key);
      const opening = findOpening(tally, known, decisions.get(issueId));
      const isOld = opening !== undefined && opening.at < end - tellWithin;
      const isTold = isFirst || isOld;
      if (opening && !isTold && fresh >= maxWaiting) break;
      if (!known && room <= 0) break;
      if (opening && !isTold) fresh++;
      if (!known) room--;
      // What happened while nobody looked is not told later.
      const newAt = opening && (isTold ? opening.at : Math.max(opening.at, Math.min(since, end - minute)));
      const next = { newAt: newAt ?? known?.newAt ?? 0, day: Math.max(known?.day ?? 0, toDay(tally.last)) };
      if (opening && newAt !== undefined)
        opened.push({
          issueId,
          kind: tally.kind,
          title: tally.title,
          opName: tally.opName,
          toolName: tally.toolName,
          releases: tally.releases,
          callId: tally.examples.at(-1)?.[1] ?? '',
          at: newAt,
          resolvedAt: opening.resolvedAt,
          isTold,
        });
      changed ||= next.newAt !== known?.newAt || next.day !== known.day;
      issues.set(key, next);
    }
  }
  opened.sort((a, b) => a.at - b.at);
  return { known: bound({ until: end, issues, opened: [...before.opened, ...opened] }), opened, changed };
};

/** Forgets what was not seen for long, and all but so many. */
const bound = ({ until, issues, opened }: KnownIssues): KnownIssues => {
  const kept = [...issues]
    .filter(([, known]) => known.day >= toDay(until) - keptDays)
    .sort(([, a], [, b]) => b.day - a.day || b.newAt - a.newAt)
    .slice(0, maxKnown);
  const newest = opened.filter(({ at }) => at >= until - namedFor).sort((a, b) => b.at - a.at);
  const isWaiting = ({ isTold, at }: OpenedIssue): boolean => !isTold && at >= until - tellWithin;
  const waiting = new Set(newest.filter(isWaiting).slice(0, maxWaiting));
  const named = new Set(newest.filter((one) => !waiting.has(one)).slice(0, maxNamed));
  return {
    until,
    issues: new Map(kept),
    opened: newest.flatMap((one) => {
      if (waiting.has(one)) return [one];
      return named.has(one) ? [{ ...one, isTold: true }] : [];
    }),
  };
};

/** How many issues were new in a span. */
export const countNew = ({ issues }: Pick<KnownIssues, 'issues'>, [from, to]: Span): number =>
  [...issues.values()].filter(({ newAt }) => newAt >= from && newAt < to).length;

/** The issues that were new last in a span, as what contributes most. */
export const newestIssues = (
  { opened }: KnownIssues,
  [from, to]: Span,
  projectId: ProjectId,
  links: Links,
): Contributor[] =>
  opened
    .filter(({ at }) => at >= from && at < to)
    .slice(0, 3)
    .map(({ title, callId }) => ({
      label: title,
      value: 1,
      call_id: callId,
      link: links.call(projectId, callId),
    }));

// What was seen.

/** What was seen in spans, and how many calls were looked at. */
export const seeIssues = async (
  { calls, feedback }: IssueSources,
  projectId: ProjectId,
  spans: readonly Span[],
  budget: RequestBudget,
  now: () => number,
): Promise<{ readonly seen: Seen; readonly calls: number }> => {
  const seen = new Map<string, Tally[]>();
  let count = 0;
  // Each span is stored as it is found, so what comes to no end in time goes on with the next look.
  for (const span of spans)
    await takeIssues(
      {
        stores: { calls, feedback },
        table: calls.bookkeeping,
        projectId,
        span,
        byDay: span[1] - span[0] >= day,
        counts: { scanned: 0, hydrated: 0, feedback: 0, rollups: 0 },
        now,
      },
      (tallies) => {
        count += tallies.calls;
        for (const [id, tally] of tallies.issues) seen.set(id, [...(seen.get(id) ?? []), tally]);
      },
      budget,
    );
  return { seen, calls: count };
};

/** What was decided on issues that were seen. */
export const decisionsOn = (
  { objects }: IssueSources,
  projectId: ProjectId,
  seen: Seen,
  budget: RequestBudget,
): Promise<ReadonlyMap<string, Decision>> =>
  seen.size === 0
    ? Promise.resolve(new Map())
    : readDecisions(objects, projectId, (id) => seen.has(id), budget);

/** The end of what a look looks at, which is that of its shortest windows. */
const endOfLook = (at: Micros): Micros => Math.floor((at - lagMicros) / minute) * minute;

/** The days of a span, the latest first. */
const listDays = ([from, to]: Span): Span[] =>
  Array.from({ length: Math.max(0, toDay(to - 1) - toDay(from) + 1) }, (_, i): Span => {
    const start = (toDay(to - 1) - i) * day;
    return [Math.max(from, start), Math.min(to, start + day)];
  });

/**
 * Looks for new issues.
 *
 * @param lookedAt when the look before began
 * @param at when this one began
 */
export const findNewIssues = async (
  sources: IssueSources,
  projectId: ProjectId,
  before: KnownIssues,
  { lookedAt, at }: { readonly lookedAt: Micros; readonly at: Micros },
  budget: RequestBudget,
  now: () => number,
): Promise<ReturnType<typeof noteIssues>> => {
  const end = endOfLook(at);
  const isFirst = before.until === 0;
  const isLapsed = before.until < end - lookedBack;
  // From midnight on, so that the hours of the day stay together in their item.
  const from = toDay(isLapsed ? end - lookedBack : Math.min(before.until, end - hour)) * day;
  // A call that failed may be there before the one below it that failed first: they are read up to now.
  const { seen } = await seeIssues(sources, projectId, listDays([from, now() * 1000]), budget, now);
  const decisions = await decisionsOn(sources, projectId, seen, budget);
  return noteIssues(before, seen, decisions, { end, since: endOfLook(lookedAt), isFirst });
};

// Telling.

/** What is told of a new issue. */
export interface IssueEvent {
  readonly kind: 'IssueOpened';
  /** In milliseconds since 1970. */
  readonly time: number;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Puts an event on the bus. */
export type TellIssue = (event: IssueEvent, budget: RequestBudget) => Promise<void>;

/** The event of a new issue. Its id is the same until the issue is resolved again. */
export const issueEvent = (projectId: ProjectId, issue: OpenedIssue, links: Links): IssueEvent => ({
  kind: 'IssueOpened',
  time: issue.at / 1000,
  detail: {
    event_id: shortDigest(
      JSON.stringify(['IssueOpened', projectId, issue.issueId, issue.resolvedAt]),
    ).toString('hex'),
    project_id: projectId,
    issue_id: issue.issueId,
    kind: issue.kind,
    title: issue.title,
    op_name: issue.opName,
    tool_name: issue.toolName,
    state: issue.resolvedAt === null ? 'open' : 'regressed',
    opened_at: formatTime(issue.at),
    releases: issue.releases,
    call_ref: callRef(projectId, issue.callId),
    link: links.call(projectId, issue.callId),
  },
});

/** How many events are sent at once. */
const concurrency = 8;

/** Tells of new issues that wait for it. What fails waits for the next look. */
export const tellOpened = async (
  tell: TellIssue,
  projectId: ProjectId,
  known: KnownIssues,
  links: Links,
  budget: RequestBudget,
): Promise<{ readonly known: KnownIssues; readonly told: number; readonly problems: readonly unknown[] }> => {
  let told = 0;
  const problems: unknown[] = [];
  const opened = await mapConcurrent(known.opened, concurrency, async (issue): Promise<OpenedIssue> => {
    if (issue.isTold) return issue;
    try {
      await tell(issueEvent(projectId, issue, links), budget);
      told++;
      return { ...issue, isTold: true };
    } catch (error) {
      problems.push(error);
      return issue;
    }
  });
  return { known: bound({ ...known, opened }), told, problems };
};

// Storing.

const knownKey = (projectId: ProjectId): TableKey<'bookkeeping'> => ({
  k: toPartition('knownIssues', projectId),
  s: Buffer.of(0),
});

type Packed = [until: Micros, ids: Uint8Array, newAt: Micros[], days: number[], opened: OpenedIssue[]];

/** The item of what is known. */
export const knownItem = async (projectId: ProjectId, { until, issues, opened }: KnownIssues) => {
  const known = [...issues.values()];
  const packed: Packed = [
    until,
    Buffer.from([...issues.keys()].join(''), 'hex'),
    known.map(({ newAt }) => newAt),
    known.map((one) => one.day),
    [...opened],
  ];
  return {
    ...knownKey(projectId),
    h: await pack(encodeMessagePack(packed)),
    x: Math.floor(until / 1e6) + keptDays * 86_400,
  };
};

/** Reads what is known of a project's issues, strongly consistent. */
export const readKnown = async (
  table: Table,
  projectId: ProjectId,
  budget: RequestBudget,
): Promise<KnownIssues> => {
  const { k, s } = knownKey(projectId);
  const range: TableRange<'bookkeeping'> = { partition: ['k', k], sort: ['s', s, s] };
  const { items } = await queryPage(table, range, budget, { consistent: true });
  const bytes = asBytes(items[0]?.h);
  if (!bytes) return noKnownIssues;
  const [until, ids, newAt, days, opened] = decodeMessagePack(unpack(bytes)) as Packed;
  const hex = Buffer.from(ids).toString('hex');
  const issues = newAt.map((time, i): [string, KnownIssue] => [
    hex.slice(2 * idBytes * i, 2 * idBytes * (i + 1)),
    { newAt: time, day: days[i] ?? 0 },
  ]);
  return { until, issues: new Map(issues), opened };
};
