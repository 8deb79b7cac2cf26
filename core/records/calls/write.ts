import {
  asNumber,
  insertItems,
  itemBytes,
  mapConcurrent,
  putItems,
  type RequestBudget,
  type Store,
} from '../../../foundations/storage/index.ts';
import {
  isJsonObject,
  isNumber,
  type JsonObject,
  plainNumber,
  qualifiedId,
  ServiceError,
} from '../../../foundations/wire/index.ts';
import { redactReports } from '../redaction.ts';
import { HourMarks } from '../rollups.ts';
import { ownTraces, toAdded } from './adding.ts';
import { attributesForHeader, withGivenUser } from './header.ts';
import {
  type CallName,
  hasStart,
  readStartEntries,
  type StartEntry,
  type StartItem,
  toCallKey,
  toItem,
  withInline,
} from './items.ts';
import type {
  CallEnd,
  CallReport,
  CallStart,
  EndHeader,
  EndStatus,
  PayloadPointer,
  StartAnswer,
  StartHeader,
} from './model.ts';
import { endFields, type PayloadLocation, smallUsage, startFields, storePayloads } from './payloads.ts';
import {
  addToErrors,
  dropEnds,
  type ReportedEnd,
  type ReportedStart,
  replaceEnds,
  replaceStarts,
  updateCall,
} from './replace.ts';
import { groupReports, type ReportedCall } from './reports.ts';
import { withSources } from './sources.ts';
import { findReservations, reserveTraces, settleTraces } from './traces.ts';

/**
 * Stores the starts and ends of one request and answers them in order: starts with their ids, ends
 * with null. When it returns, everything is durable. When it throws, some of it may be, and the
 * same request may be sent again.
 *
 * @param userId the user of the reporting key
 * @param addsOnly whether what is stored stays as it is, and the answer says nothing of it: {@link toAdded}
 * @param idsAreNew whether the service made all ids for this request, so that no call exists yet
 * @param areJudges whether judges of the service made the calls
 * @param isMet whether thread, turn and user of a span come of all that is known of its trace
 * @param placeOf where each report stands in the body of the request: errors name it
 * @param onAwaited is told of each start that others waited for
 * @throws ServiceError as {@link redactReports} and, with `addsOnly`, {@link ownTraces}; 503 when storage does
 * not accept it in time
 */
export const writeCalls = async (
  store: Store,
  sent: readonly CallReport[],
  userId: string,
  budget: RequestBudget,
  {
    addsOnly = false,
    idsAreNew = false,
    areJudges = false,
    isMet = () => false,
    getPlace,
    onAwaited,
  }: {
    readonly addsOnly?: boolean;
    readonly idsAreNew?: boolean;
    readonly areJudges?: boolean;
    readonly isMet?: (call: CallName) => boolean;
    readonly getPlace?: (index: number) => readonly string[];
    readonly onAwaited?: (call: CallName) => void;
  } = {},
): Promise<(StartAnswer | null)[]> => {
  const redacted = await redactReports(store, sent, getPlace);
  const reports = await nameCalls(store, withSources(redacted, store.sourceOfEnvironment), addsOnly, budget);
  const { calls: reported, callOfReport } = groupReports(reports);
  const own = addsOnly ? ownTraces(reports, reported, getPlace) : undefined;
  const projectIds = new Set(reported.map(({ projectId }) => projectId));
  for (const projectId of projectIds) store.noteProject?.(projectId);
  const stored = await storedStarts(store, reported, addsOnly, budget);
  const calls = own ? await toAdded(store, reported, { traces: own, stored }, userId, budget) : reported;
  await store.projects?.learnRetention(projectIds, budget);
  const traces = await settleTraces(store, calls, stored, budget);
  const toReported = reportedMaker(store, stored, traces, { userId, idsAreNew, areJudges, isMet });
  const locations = await storePayloads(
    store,
    calls.map((call) => ({
      call,
      isListed: isListed(call, stored),
      itemBytesWith: (location) => itemBytes(toReported(call, location).item),
    })),
    budget,
  );
  const items = calls.map((call) => {
    const location = locations.get(call);
    if (location === undefined) throw new Error(`the payload of call ${call.id} was not placed`);
    return toReported(call, location);
  });
  const starts = items.filter((item) => item.start !== null);
  const ends = items.filter((item) => item.start === null);

  const ended = calls
    .flatMap((call) => (call.start === null ? (stored.get(toCallKey(call)) ?? []) : []))
    .filter(hasStart);

  const marks = new HourMarks(store, budget);
  await markHours(marks, starts, false);
  await markHours(marks, ended, true);
  const existing = await insertNew(store, starts, ends, budget);
  const kept = await replaceStarts(store, existing.starts, marks, budget, { addsOnly, onAwaited });
  if ([...kept].some(([name, trace]) => traces.get(name) !== trace)) {
    // Calls and their parents may now be in different traces, as no look before the write showed.
    for (const [name, trace] of kept) traces.set(name, trace);
    await reserveTraces(store, findReservations(calls, stored, traces), budget);
  }
  if (!addsOnly) await replaceEnds(store, existing.ends, budget);
  await dropEnds(store, ended, budget);
  // With `addsOnly`, an end that another request has stored meanwhile stays, so this one fails nothing.
  const lost = new Set(addsOnly ? existing.ends.map(toCallKey) : []);
  const failed = calls.filter(
    (call) => call.start === null && hasException(call.end) && !lost.has(toCallKey(call)),
  );
  await addToErrors(store, failed, ended, budget);

  return reports.map((report, i) => {
    const call = callOfReport[i];
    return report.kind === 'start' && call ? { id: call.id, traceId: getTrace(own ?? traces, call) } : null;
  });
};

/** The stored start of a reported call. */
const storedStart = (call: ReportedCall, stored: ReadonlyMap<string, StartEntry>): StartHeader | null =>
  stored.get(toCallKey(call))?.start ?? null;

/** Whether lists show a call with its payload: it is a root or has failed. */
const isListed = (call: ReportedCall, stored: ReadonlyMap<string, StartEntry>): boolean =>
  (call.start ?? storedStart(call, stored))?.parentId === null || hasException(call.end);

/** Gives the function that makes the item of a reported call: of its start with the end, or of an end alone. */
const reportedMaker = (
  store: Store,
  stored: ReadonlyMap<string, StartEntry>,
  traces: ReadonlyMap<string, string>,
  {
    userId,
    idsAreNew,
    areJudges,
    isMet,
  }: {
    readonly userId: string;
    readonly idsAreNew: boolean;
    readonly areJudges: boolean;
    readonly isMet: (call: CallName) => boolean;
  },
) => {
  const sharing = Map.groupBy(traces.values(), (trace) => trace);
  return (call: ReportedCall, location: PayloadLocation): ReportedStart | ReportedEnd => {
    const { projectId, id, start: reported } = call;
    const startHeader = reported && toStart(reported, getTrace(traces, call), userId, location);
    const start = startHeader && areJudges ? { ...startHeader, isJudges: true as const } : startHeader;
    const end = call.end && toEnd(call.end, location);
    const whole = toItem(
      store,
      { projectId, id, part: start ? 'S' : 'E' },
      { start, end },
      start ?? storedStart(call, stored),
    );
    const item = withInline(whole, location.inline, isListed(call, stored));
    if (start === null || reported === null) {
      if (end === null) throw new Error(`neither a start nor an end of call ${id} was reported`);
      return { item, projectId, id, start: null, end };
    }
    const ownTrace = reported.traceId !== null;
    return {
      item,
      projectId,
      id,
      start,
      end,
      ownTrace,
      takesReserved: !ownTrace && start.parentId === null && sharing.get(start.traceId)?.length === 1,
      isNew: idsAreNew || !call.hasClientId,
      isMet: isMet(call),
    };
  };
};

const toStart = (
  start: CallStart,
  traceId: string,
  userId: string,
  location: PayloadLocation,
): StartHeader => ({
  opName: start.opName,
  displayName: start.displayName,
  traceId,
  parentId: start.parentId,
  threadId: start.threadId,
  turnId: start.turnId,
  startedAt: start.startedAt,
  userId,
  runId: start.runId,
  runStep: start.runStep,
  attributes: withGivenUser(attributesForHeader(start.attributes), start.span?.givenUser ?? null),
  ...(start.span && { span: start.span }),
  ...sized(start.envelopeBytes, location.start, startFields.length),
});

const toEnd = (end: CallEnd, location: PayloadLocation): EndHeader => ({
  endedAt: end.endedAt,
  status: endStatus(end),
  runStepEnd: end.runStepEnd,
  usage: smallUsage(end.summary),
  waited: readWait(end.summary),
  ...sized(end.envelopeBytes, location.end, endFields.length),
});

/** The block's line breaks, one for each of its fields, were not received. */
const sized = (
  envelopeBytes: number,
  payload: PayloadPointer,
  fields: number,
): { bytes: number; payload: PayloadPointer } => ({
  bytes: envelopeBytes + payload.length - fields,
  payload,
});

/** The longest wait that a header holds, in milliseconds: some 35,000 years. */
const maxWait = 2 ** 50;

/** How long a call waited for a person, as the client's summary says. */
const readWait = (summary: JsonObject): EndHeader['waited'] => {
  const { waited_ms: waited, waiting } = summary;
  const milliseconds = isNumber(waited) ? Math.round(plainNumber(waited)) : -1;
  if (milliseconds >= 0 && milliseconds <= maxWait) return milliseconds;
  return waiting === true ? true : null;
};

/** How a call ended: by its exception, else by the error count in the client's summary. */
const endStatus = ({ exception, summary }: CallEnd): EndStatus => {
  if (exception !== null) return 'error';
  const counts = Object.hasOwn(summary, 'status_counts') ? summary.status_counts : null;
  const errors = isJsonObject(counts) ? counts.error : 0;
  return isNumber(errors) && Number(errors) > 0 ? 'descendant_error' : 'success';
};

const hasException = (end: CallEnd | null): boolean => end !== null && end.exception !== null;

/**
 * Marks the hours whose rollups the request makes stale, as far as it is known before its calls
 * are written. They are those of all starts, and of the stored starts that get another end.
 */
const markHours = async (
  marks: HourMarks,
  changing: readonly StartItem[],
  takesAway: boolean,
): Promise<void> => {
  for (const [projectId, starts] of Map.groupBy(changing, (start) => start.projectId))
    await marks.mark(
      projectId,
      starts.map(({ start, item }) => ({ startedAt: start.startedAt, expiresAt: asNumber(item.x) })),
      takesAway,
    );
};

/**
 * Stores the starts and ends that are new. Calls with a new id cannot exist yet and are put. All
 * others are inserted: whoever replaces one must know its payload, and mark the hour that it was
 * in.
 *
 * @returns the starts and ends in whose places something is stored already
 */
const insertNew = async (
  store: Store,
  starts: readonly ReportedStart[],
  ends: readonly ReportedEnd[],
  budget: RequestBudget,
): Promise<{ starts: ReportedStart[]; ends: ReportedEnd[] }> => {
  const getItems = (reports: readonly (ReportedStart | ReportedEnd)[]) => reports.map(({ item }) => item);
  const inserted = starts.filter(({ isNew }) => !isNew);
  await putItems(store.table, getItems(starts.filter(({ isNew }) => isNew)), budget);
  const existing = new Set(await insertItems(store.table, getItems([...inserted, ...ends]), budget));
  return {
    starts: inserted.filter(({ item }) => existing.has(item)),
    ends: ends.filter(({ item }) => existing.has(item)),
  };
};

const getTrace = (traces: ReadonlyMap<string, string>, call: ReportedCall): string => {
  const trace = traces.get(toCallKey(call));
  if (trace === undefined) throw new Error(`no trace was resolved for call ${call.id}`);
  return trace;
};

/**
 * The stored starts that a request depends on, and what is reserved for them, by
 * {@link toCallKey}. An end needs its start for its index keys. A start without a trace needs its
 * own, in case it is a repetition, and its parent's. What may only add needs all of its own, and no others.
 */
const storedStarts = async (
  store: Store,
  calls: readonly ReportedCall[],
  addsOnly: boolean,
  budget: RequestBudget,
): Promise<Map<string, StartEntry>> => {
  const needed = addsOnly ? calls.filter(({ hasClientId }) => hasClientId) : neededStarts(calls);
  const found = needed.length > 0 ? await readStartEntries(store, needed, budget) : [];
  return new Map(found.map((start) => [toCallKey(start), start]));
};

const neededStarts = (calls: readonly ReportedCall[]): CallName[] => {
  const needed = new Map<string, CallName>();
  const inRequest = new Set(calls.filter((call) => call.start).map(toCallKey));
  for (const call of calls) {
    const { projectId, start } = call;
    if (start === null || (start.traceId === null && call.hasClientId)) needed.set(toCallKey(call), call);
    if (start === null || start.traceId !== null || start.parentId === null) continue;
    const parent = { projectId, id: start.parentId };
    if (!inRequest.has(toCallKey(parent))) needed.set(toCallKey(parent), parent);
  }
  return [...needed.values()];
};

/** How many calls are renamed at once. */
const renameConcurrency = 8;

/** An end that names its call. */
type NamedEnd = CallEnd & { readonly displayName: string };

/** The call that a report starts, if it has an id. */
const startedBy = (report: CallReport): string | undefined =>
  report.kind === 'start' && report.start.id !== null
    ? qualifiedId(report.start.projectId, report.start.id)
    : undefined;

/** The reports, with names of ends on the starts of the same calls. */
const withNames = (reports: readonly CallReport[], ends: readonly NamedEnd[]): CallReport[] => {
  const names = new Map(ends.map((end) => [toCallKey(end), end.displayName]));
  return reports.map((report) => {
    const displayName = names.get(startedBy(report) ?? '');
    if (report.kind !== 'start' || displayName === undefined) return report;
    return { kind: 'start', start: { ...report.start, displayName } };
  });
};

/**
 * Gives calls the names that their ends bring, as Weave's SDKs may. That comes before the ends are
 * stored, so that a call that has ended has its name. An end that came before its start names
 * nothing: the start will bring a name. With `addsOnly`, stored calls keep their names.
 *
 * @returns the reports, with names of ends on the starts of the same calls
 * @throws ServiceError 503 when storage does not accept the names in time
 */
const nameCalls = async (
  store: Store,
  reports: readonly CallReport[],
  addsOnly: boolean,
  budget: RequestBudget,
): Promise<readonly CallReport[]> => {
  const ends = reports.flatMap((report): NamedEnd[] => {
    const { displayName } = report.kind === 'end' ? report.end : {};
    return report.kind === 'end' && displayName ? [{ ...report.end, displayName }] : [];
  });
  if (ends.length === 0) return reports;
  const started = new Set(reports.map(startedBy));
  const alone = addsOnly ? [] : ends.filter((end) => !started.has(toCallKey(end)));
  await mapConcurrent(alone, renameConcurrency, ({ projectId, id, displayName }) =>
    updateCall(store, projectId, id, { displayName }, budget).catch((error: unknown) => {
      if (!(error instanceof ServiceError) || error.status !== 404) throw error;
    }),
  );
  return withNames(reports, ends);
};

/**
 * Stores the start of one call, which is the field `start` of a request, and answers its ids.
 *
 * @throws ServiceError as {@link writeCalls}
 */
export const startCall = async (
  store: Store,
  start: CallStart,
  userId: string,
  budget: RequestBudget,
  addsOnly = false,
): Promise<StartAnswer> => {
  const reports = [{ kind: 'start', start }] as const;
  const options = { addsOnly, getPlace: () => ['start'] };
  const [answer] = await writeCalls(store, reports, userId, budget, options);
  if (!answer) throw new Error('the start of a call was not answered');
  return answer;
};
