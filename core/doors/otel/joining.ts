import { mapConcurrent, type RequestBudget, type Store } from '../../../foundations/storage/index.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  nonEmptyString,
  type ProjectId,
  qualifiedId,
} from '../../../foundations/wire/index.ts';
import {
  type CallReport,
  type CallStart,
  type JoiningRecord,
  putRecords,
  readCall,
  readRecords,
  type StoredCall,
  writeCalls,
} from '../../records/calls/index.ts';
import { endReport, startReport } from '../report.ts';
import { isMessage } from './conventions/gen-ai-events.ts';
import { type Kind, translate } from './conventions/index.ts';
import type { Rejection } from './decode/spans.ts';
import type { ProjectRecord } from './projects.ts';
import type { AttributeValue, Span, SpanEvent } from './span.ts';
import { toCallId } from './span.ts';
import { toReported, toReports } from './stored.ts';
import { get, isDict, plain } from './values.ts';

/*
 * Content of requests that comes as log records joins the span that they name, whichever comes
 * first: both are written before the other is looked for. A joined call is what the span would have
 * become if the records had been its events.
 */

/**
 * What an event's name looks like. Exporters of Rust's `tracing` write a place in the source into
 * OTLP's field: `event otel/src/events/session_telemetry.rs:703`.
 */
const eventNames = /^[A-Za-z][\w.:-]*$/;

/**
 * The name of a record's event: the attribute `event.name`, which only who means it sets, else of
 * its own since OTLP 1.5 if that is a name.
 */
export const getEventName = ({
  eventName,
  attributes,
}: Pick<ProjectRecord, 'eventName' | 'attributes'>): string =>
  nonEmptyString(attributes.get('event.name')) ?? (eventNames.test(eventName) ? eventName : '');

/** Whether a record has content for a span. */
export const isContent = (record: ProjectRecord): boolean =>
  record.traceId !== undefined && record.spanId !== undefined && isMessage(getEventName(record));

/** The fields of an event: those of the body, and the attributes. */
const toFields = ({ body, attributes }: ProjectRecord): JsonObject => ({
  ...(isDict(body) ? (plain(body) as JsonObject) : body === null ? {} : { content: plain(body) }),
  ...Object.fromEntries(Array.from(attributes, ([key, value]) => [key, plain(value)])),
});

const timeDigits = 20;

const toJoiningRecord = (record: ProjectRecord): JoiningRecord => ({
  projectId: record.projectId,
  id: toCallId(record.traceId ?? '', record.spanId ?? ''),
  time: String(record.timeUnixNano).padStart(timeDigits, '0'),
  record: { name: getEventName(record), time: String(record.timeUnixNano), attributes: toFields(record) },
});

const toSpanEvent = ({ name, time, attributes }: JsonObject): SpanEvent => ({
  name: String(name),
  timeUnixNano: BigInt(String(time)),
  attributes: new Map(Object.entries(attributes ?? {}) as [string, AttributeValue][]),
  droppedAttributesCount: 0,
});

const noSpan: Omit<Span, 'events' | 'attributes'> = {
  traceId: '',
  spanId: '',
  parentSpanId: undefined,
  traceState: '',
  name: '',
  kind: 0,
  startTimeUnixNano: 0n,
  endTimeUnixNano: 0n,
  links: [],
  status: { code: 0, message: '' },
  droppedAttributesCount: 0,
  droppedEventsCount: 0,
  droppedLinksCount: 0,
  scope: { name: '', version: '', attributes: new Map() },
  resource: new Map(),
};

/** An operation of each kind, by which the events of a span without other attributes are read. */
const operations: Readonly<Partial<Record<Kind, string>>> = { tool: 'execute_tool', agent: 'invoke_agent' };

/** What the events of records say of inputs and output. */
const readContent = (kind: unknown, events: readonly SpanEvent[]) => {
  const operation = operations[kind as Kind] ?? 'chat';
  const { inputs, output } = translate({
    ...noSpan,
    events,
    attributes: new Map([['gen_ai.operation.name', operation]]),
  });
  return { inputs, output };
};

const isEmpty = (value: JsonValue): boolean =>
  value === null || (isJsonObject(value) && Object.keys(value).length === 0);

/** What a call has said of a request. */
interface Content {
  readonly attributes: JsonObject;
  readonly inputs: JsonObject;
  readonly output: JsonValue;
}

/** Inputs and output with what records say of them; undefined if they say nothing new. */
const withRecords = (
  { attributes, inputs, output }: Content,
  records: readonly JsonObject[],
): Pick<Content, 'inputs' | 'output'> | undefined => {
  const content = readContent(get(attributes, 'kind'), records.map(toSpanEvent));
  const joined = {
    inputs: { ...inputs, ...content.inputs },
    output: isEmpty(content.output) ? output : content.output,
  };
  return JSON.stringify(joined) === JSON.stringify({ inputs, output }) ? undefined : joined;
};

/** The reports of a stored call with what records say of it; undefined if they say nothing new. */
const joined = (call: StoredCall, records: readonly JsonObject[]): CallReport[] | undefined => {
  const { start, end } = toReported(call);
  const { attributes, inputs } = start;
  const content = withRecords({ attributes, inputs, output: end?.output ?? null }, records);
  if (!content) return undefined;
  return toReports({
    start: { ...start, inputs: content.inputs },
    end: end && { ...end, output: content.output },
  });
};

/** The most times that a call is written while further records of it come. */
const maxRounds = 8;
const joinConcurrency = 8;

/** Joins what is stored of a call's records with the call, if that is stored too. */
const join = async (store: Store, projectId: ProjectId, id: string, budget: RequestBudget): Promise<void> => {
  let read = await readRecords(store, { projectId, id }, budget);
  for (let round = 0; round < maxRounds && read.length > 0; round++) {
    const call = await readCall(store, projectId, id, budget);
    if (!call) return;
    const reports = joined(call, read);
    if (!reports) return;
    await writeCalls(store, reports, call.header.start.userId, budget);
    // Who wrote last has seen all of them.
    const before = read.length;
    read = await readRecords(store, { projectId, id }, budget);
    if (read.length === before) return;
  }
};

/**
 * Stores records with content, and joins them with the calls of their spans as far as those are
 * stored.
 */
export const storeContent = async (
  store: Store,
  records: readonly ProjectRecord[],
  budget: RequestBudget,
): Promise<Rejection[]> => {
  const joining = records.map(toJoiningRecord);
  const tooLong = await putRecords(store, joining, budget);
  const calls = new Map(joining.map((call) => [qualifiedId(call.projectId, call.id), call]));
  await mapConcurrent([...calls.values()], joinConcurrency, ({ projectId, id }) =>
    join(store, projectId, id, budget),
  );
  return tooLong.length === 0
    ? []
    : [{ count: tooLong.length, reason: 'the record is longer than 380 KB packed' }];
};

/** Whether a span reports a request without its content, so that records may have it. */
const lacksContent = ({ attributes, inputs }: CallStart): boolean => {
  if (!isDict(get(attributes, 'gen_ai'))) return false;
  const kind = get(attributes, 'kind');
  if (kind === 'tool' || kind === 'agent') return isEmpty(inputs);
  return kind === 'model' && inputs.messages === undefined;
};

/** Calls of spans without the content of their requests, and how many records of each there were. */
export type Lacking = ReadonlyMap<CallStart, number>;

/**
 * Joins what spans report with the records that came before them.
 *
 * @returns the reports, and the calls whose records may come while the reports are being written
 */
export const withEarlier = async (
  store: Store,
  reports: readonly CallReport[],
  budget: RequestBudget,
): Promise<{ readonly reports: readonly CallReport[]; readonly lacking: Lacking }> => {
  const lacking = new Map<CallStart, number>();
  const joinedReports = [...reports];
  const starts = reports.flatMap((report, at) =>
    report.kind === 'start' && lacksContent(report.start) ? [{ start: report.start, at }] : [],
  );
  await mapConcurrent(starts, joinConcurrency, async ({ start, at }) => {
    const { projectId, id } = start;
    if (id === null) return;
    const records = await readRecords(store, { projectId, id }, budget);
    lacking.set(start, records.length);
    // A span's end follows its start.
    const next = reports[at + 1];
    if (records.length === 0 || next?.kind !== 'end') return;
    const { attributes, inputs } = start;
    const content = withRecords({ attributes, inputs, output: next.end.output }, records);
    if (!content) return;
    joinedReports[at] = startReport({ ...start, inputs: content.inputs });
    joinedReports[at + 1] = endReport({ ...next.end, output: content.output });
  });
  return { reports: joinedReports, lacking };
};

/** Joins calls that were just written with the records that came meanwhile. */
export const joinLater = async (store: Store, lacking: Lacking, budget: RequestBudget): Promise<void> => {
  await mapConcurrent([...lacking], joinConcurrency, async ([{ projectId, id }, known]) => {
    if (id === null) return;
    const records = await readRecords(store, { projectId, id }, budget);
    if (records.length !== known) await join(store, projectId, id, budget);
  });
};
