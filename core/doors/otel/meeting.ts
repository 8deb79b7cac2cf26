import { mapConcurrent, type RequestBudget, type Store } from '../../../foundations/storage/index.ts';
import { qualifiedId } from '../../../foundations/wire/index.ts';
import {
  awaitStarts,
  type CallName,
  type CallPlace,
  type CallReport,
  type CallStart,
  leaveSpans,
  placeCalls,
  readLeftSpans,
  readStoredSpans,
  type SpanOfTrace,
  spanOfStart,
  type TraceName,
  writeCalls,
} from '../../records/calls/index.ts';
import { redactReports } from '../../records/redaction.ts';
import { findPlaces, isSamePlace } from './threads.ts';

/*
 * A trace whose spans come in several requests: each brings its calls to where they belong by all that is
 * known of the trace, and those of others that it changes. docs/decisions/0153 says why.
 */

/** The spans that a request has of a trace. */
interface RequestedTrace extends TraceName {
  readonly spans: readonly SpanOfTrace[];
}

type Spans = ReadonlyMap<string, SpanOfTrace>;
type Places = ReadonlyMap<string, CallPlace>;

const toTraceKey = ({ projectId, traceId }: TraceName): string => qualifiedId(projectId, traceId);

const startsIn = (reports: readonly CallReport[]): CallStart[] =>
  reports.flatMap((report) => (report.kind === 'start' ? [report.start] : []));

const toTraceName = ({ projectId, traceId }: CallStart): TraceName => ({ projectId, traceId: traceId ?? '' });

const tracesIn = (reports: readonly CallReport[]): RequestedTrace[] => {
  const groups = Map.groupBy(startsIn(reports), (start) => toTraceKey(toTraceName(start)));
  return [...groups.values()].flatMap((starts) =>
    starts
      .slice(0, 1)
      .map((start) => ({ ...toTraceName(start), spans: starts.flatMap((s) => spanOfStart(s) ?? []) })),
  );
};

/** The parents that spans name and that are not among them. Those of other processes are not waited for. */
const unknownParents = (spans: Spans): string[] => [
  ...new Set(
    [...spans.values()].flatMap(({ parentId, span: { hasRemoteParent } }) =>
      parentId === null || hasRemoteParent || spans.has(parentId) ? [] : [parentId],
    ),
  ),
];

const byId = (spans: Iterable<SpanOfTrace>): Map<string, SpanOfTrace> =>
  new Map(Array.from(spans, (span) => [span.id, span]));

/** What is known of a trace. */
interface Meeting {
  readonly trace: RequestedTrace;
  readonly known: Spans;
  /** Where stored calls may be. One that may be elsewhere than it should is looked at. */
  readonly believed: readonly Places[];
}

/**
 * Brings spans to the meeting of their trace: leaves them, and finds what is known of others, until each
 * has its parent or has flagged it as awaited.
 *
 * @returns undefined for a trace of too many spans
 */
const meet = async (
  store: Store,
  trace: RequestedTrace,
  budget: RequestBudget,
): Promise<Meeting | undefined> => {
  if (!(await leaveSpans(store, trace, trace.spans, budget))) return undefined;
  const before = await readLeftSpans(store, trace, budget);
  if (!before) return undefined;
  const own = byId(trace.spans);
  const known = new Map([...before, ...own]);
  const stored = new Map<string, CallPlace>();
  const awaited = new Set<string>();
  for (;;) {
    const missing = unknownParents(known).filter((id) => !awaited.has(id));
    if (missing.length === 0) break;
    for (const id of missing) awaited.add(id);
    const calls = missing.map((id) => ({ projectId: trace.projectId, id }));
    const met = await awaitStarts(store, calls, budget);
    if (met.length === 0) break;
    // Requests with all ancestors of their spans leave nothing: they do not know that there are others.
    const all = stored.size === 0 ? await readStoredSpans(store, trace, budget) : [];
    if (!all) return undefined;
    for (const { span, place } of [...all, ...met]) {
      if (known.has(span.id)) continue;
      known.set(span.id, span);
      stored.set(span.id, place);
    }
  }
  // What others have stored, they may have placed with or without what was found in the index.
  const others = [...known.values()].filter(({ id }) => !own.has(id));
  const left = others.filter(({ id }) => !stored.has(id));
  return { trace, known, believed: [findPlaces(others), findPlaces(left), stored] };
};

/** The most times that calls are brought to their places while further spans come. */
const maxRounds = 8;
/** How many traces of a request meet at once. */
const concurrency = 8;

/**
 * Brings calls to their places, until nothing new is known. Who writes last has seen all.
 *
 * @returns the calls that wait for a person or go on with an answer, and are elsewhere than was believed
 */
const settle = async (
  store: Store,
  { trace, ...met }: Meeting,
  budget: RequestBudget,
): Promise<readonly CallName[]> => {
  const pausing = new Set(trace.spans.flatMap(({ id, span }) => (span.pauses ? [id] : [])));
  const { projectId } = trace;
  let { known, believed } = met;
  for (let round = 0; round < maxRounds; round++) {
    const places = findPlaces(known.values());
    const changed = [...places].filter(([id, place]) =>
      believed.some((known) => {
        const before = known.get(id);
        return before !== undefined && !isSamePlace(before, place);
      }),
    );
    await placeCalls(store, trace, new Map(changed), budget);
    for (const [id] of changed) if (known.get(id)?.span.pauses) pausing.add(id);
    const left = await readLeftSpans(store, trace, budget);
    if (!left || [...left.keys()].every((id) => known.has(id))) break;
    // Those who have left what is new have seen what this request left, so their calls are where they belong.
    believed = [places];
    known = new Map([...known, ...left]);
  }
  return Array.from(pausing, (id) => ({ projectId, id }));
};

const placed = (start: CallStart, { threadId, turnId, userId }: CallPlace): CallStart => {
  const named = spanOfStart(start)?.userId ?? null;
  const span = start.span && { ...start.span, givenUser: named === null ? userId : null };
  return { ...start, threadId, turnId, ...(span && { span }) };
};

/**
 * Writes the calls of spans. When it returns, they and earlier ones of their traces are where they
 * belong by all that came.
 *
 * @param sent a start and an end of each span, placed by what the request itself has
 * @param userId the user of the reporting key
 * @returns the calls that wait for a person or go on with an answer, and are elsewhere than they were or
 * than the request itself says
 */
export const writeSpans = async (
  store: Store,
  sent: readonly CallReport[],
  userId: string,
  budget: RequestBudget,
): Promise<readonly CallName[]> => {
  const isOpen = ({ spans }: RequestedTrace): boolean => unknownParents(byId(spans)).length > 0;
  // What is left for others is redacted as calls are.
  const hasOpen = tracesIn(sent).some(isOpen);
  const redacted = hasOpen ? await redactReports(store, sent) : sent;
  const meetings = new Map<string, Meeting>();
  const places = new Map<string, CallPlace>();
  const callKey = ({ projectId, id }: { readonly projectId: string; readonly id: string | null }): string =>
    `${projectId}\n${id}`;
  await mapConcurrent(hasOpen ? tracesIn(redacted).filter(isOpen) : [], concurrency, async (trace) => {
    const meeting = await meet(store, trace, budget);
    if (!meeting) return;
    const found = findPlaces(meeting.known.values());
    const own = trace.spans.flatMap(({ id }) => {
      const place = found.get(id);
      return place ? [[id, place] as const] : [];
    });
    for (const [id, place] of own) places.set(callKey({ ...trace, id }), place);
    meetings.set(toTraceKey(trace), { ...meeting, believed: [...meeting.believed, new Map(own)] });
  });
  const reports = redacted.map((report): CallReport => {
    const place = report.kind === 'start' ? places.get(callKey(report.start)) : undefined;
    return report.kind === 'start' && place ? { kind: 'start', start: placed(report.start, place) } : report;
  });
  const awaited = new Set<string>();
  await writeCalls(store, reports, userId, budget, {
    isMet: (call) => places.has(callKey(call)),
    onAwaited: (call) => awaited.add(callKey(call)),
  });
  const called = awaited.size > 0 ? tracesIn(await redactReports(store, reports)) : [];
  await mapConcurrent(called, concurrency, async (trace) => {
    const isAwaited = trace.spans.some(({ id }) => awaited.has(callKey({ ...trace, id })));
    if (!isAwaited || meetings.has(toTraceKey(trace))) return;
    const meeting = await meet(store, trace, budget);
    if (!meeting) return;
    const own = findPlaces(trace.spans);
    meetings.set(toTraceKey(trace), { ...meeting, believed: [...meeting.believed, own] });
  });
  const pausing = await mapConcurrent([...meetings.values()], concurrency, (meeting) =>
    settle(store, meeting, budget),
  );
  return pausing.flat();
};
