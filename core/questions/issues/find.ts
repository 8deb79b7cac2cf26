import { everyCall, noIncludes } from '../../../api/queries.ts';
import { judgedBy } from '../../../api/shared/evaluators.ts';
import { complaintIn, leastRepeats, refusalIn } from '../../../api/shared/issues.ts';
import { compare, isDuring } from '../../../foundations/expression/index.ts';
import type { RequestBudget, Store } from '../../../foundations/storage/index.ts';
import {
  type JsonObject,
  type JsonValue,
  type Micros,
  type ProjectId,
  parseJson,
  parseRef,
  parseTime,
} from '../../../foundations/wire/index.ts';
import {
  type CallHeader,
  getSource,
  PayloadReader,
  readHeaders,
  shortAttribute,
} from '../../records/calls/index.ts';
import { queryFeedback } from '../../records/feedback/index.ts';
import { toHour } from '../../records/rollups.ts';
import { findCalls, noLookups } from '../query/index.ts';
import type { Span } from '../stats/index.ts';
import { kindOf, ownAgent } from '../traces/agents.ts';
import { toMessage } from './message.ts';
import type { Sighting } from './tally.ts';

/** Where issues are looked for. */
export interface IssueStores {
  readonly calls: Store;
  readonly feedback: Store;
}

/** Who takes what is found. */
export interface IssueTaker {
  readonly see: (sighting: Sighting) => void;
  /** Learns of a call that was looked at, whatever became of it. */
  readonly seeCall: (header: CallHeader, release: string | null) => void;
}

/** Counts of what was looked at so far. */
export interface IssueCounts {
  /** Headers of calls. */
  scanned: number;
  /** Calls whose payloads were read. */
  hydrated: number;
  /** Records of feedback. */
  feedback: number;
}

/** An operation without its version. */
export const toOpName = (opName: string): string => {
  const ref = parseRef(opName);
  return ref?.kind === 'op' ? `${opName.slice(0, opName.lastIndexOf(':'))}:*` : opName;
};

/** What a sighting says of its call. */
const ofCall = ({ id, start }: CallHeader): Omit<Sighting, 'kind' | 'message' | 'at'> => ({
  opName: toOpName(start.opName),
  toolName: shortAttribute(start, 'tool.name'),
  callId: id,
  traceId: start.traceId,
  userId: shortAttribute(start, 'user.id'),
  release: shortAttribute(start, 'release'),
});

const production = { ...everyCall, sources: ['production' as const] };

/** Gives what comes in order of time hour by hour, so that no hour knows of another. */
async function* byHour<T>(batches: AsyncIterable<readonly T[]>, getTime: (one: T) => Micros) {
  let hour: number | undefined;
  let held: T[] = [];
  for await (const batch of batches)
    for (const one of batch) {
      const its = toHour(getTime(one));
      if (hour !== undefined && its !== hour) {
        yield held;
        held = [];
      }
      hour = its;
      held.push(one);
    }
  if (held.length > 0) yield held;
}

/** How many payloads are read together. */
const payloadsAtOnce = 100;

const chunks = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));

/** A failed call, and what it failed with. */
interface Failed {
  readonly header: CallHeader;
  readonly message: string;
}

/** What a message says without the type in front of it, in small letters. */
const said = (message: string): string =>
  message
    .slice(message.indexOf(': ') + 1)
    .trim()
    .toLowerCase();
/** What is shorter says too little to be known again. */
const leastSaid = 6;

/**
 * The failures that began where they are: those of calls below which none failed with the same, or with what the
 * message above repeats.
 */
const whereTheyBegan = (failures: readonly Failed[]): Failed[] => {
  const byParent = Map.groupBy(failures, ({ header }) => header.start.parentId);
  return failures.filter(({ header, message }) => {
    const below = byParent.get(header.id) ?? [];
    return !below.some(
      (child) =>
        child.header.start.traceId === header.start.traceId &&
        (child.message === message ||
          (said(child.message).length >= leastSaid && message.toLowerCase().includes(said(child.message)))),
    );
  });
};

const textIn = (json: string | undefined): string => {
  const value = parseJson(json ?? 'null') as JsonValue;
  return typeof value === 'string' ? value : '';
};

/** Finds the failed calls of a span of time. They are listed by themselves, small ones with their payloads. */
const findErrors = async (
  store: Store,
  projectId: ProjectId,
  [from, to]: Span,
  { see }: IssueTaker,
  counts: IssueCounts,
  budget: RequestBudget,
): Promise<void> => {
  const where = {
    kind: 'and' as const,
    operands: [...isDuring('started_at', from, to), compare('summary.svc.status', '$eq', 'error')],
  };
  const selection = { projectId, filter: production, where, limit: null, includes: noIncludes };
  const query = findCalls(store, selection, budget, noLookups, ['exception']);
  const reader = new PayloadReader(store, projectId, budget);
  const failed = async function* (): AsyncGenerator<Failed[]> {
    for await (const batch of query.found)
      for (const some of chunks(batch, payloadsAtOnce)) {
        const read = await reader.read(some.map(({ header }) => header));
        counts.hydrated += read.length;
        yield read
          .filter(({ header: { start } }) => start.startedAt >= from && start.startedAt < to)
          .map(({ header, payload }) => ({ header, message: toMessage(textIn(payload.exception)) }));
      }
  };
  for await (const ofHour of byHour(failed(), ({ header }) => header.start.startedAt))
    for (const { header, message } of whereTheyBegan(ofHour))
      see({ ...ofCall(header), kind: 'error', message, at: header.start.startedAt });
  counts.scanned += query.counts.scanned;
};

/** How much the bytes of calls may differ that do the same: their times and ids differ in length. */
const alikeBytes = 24;
/** The most calls of an hour whose payloads are compared. */
const maxCompared = 2000;

/** Those of some calls that have at least two others of nearly their size. */
const alikeBySize = (calls: readonly CallHeader[], getBytes: (call: CallHeader) => number): CallHeader[] => {
  const sorted = calls.toSorted((a, b) => getBytes(a) - getBytes(b));
  const isNear = (a: number, b: number): boolean => {
    const one = sorted[a];
    const other = sorted[b];
    return one !== undefined && other !== undefined && getBytes(other) - getBytes(one) <= alikeBytes;
  };
  return sorted.filter((_, i) => isNear(i - 2, i) || isNear(i - 1, i + 1) || isNear(i, i + 2));
};

/** Calls of one tool in one trace that may do the same again, as far as their headers tell. */
const candidates = (calls: readonly CallHeader[]): CallHeader[] => {
  if (calls.length < leastRepeats) return [];
  const alike = new Set([
    ...alikeBySize(calls, ({ start }) => start.bytes),
    ...alikeBySize(calls, ({ end }) => end?.bytes ?? 0),
  ]);
  return calls.filter((call) => alike.has(call));
};

/** Answers that say nothing, and so are no sign of a loop. */
const nothing: ReadonlySet<string> = new Set([
  'null',
  '""',
  '{}',
  '[]',
  'true',
  'false',
  '"ok"',
  '"OK"',
  '0',
  '1',
]);

const toolOf = ({ start }: CallHeader): string | undefined => {
  const tool = shortAttribute(start, 'tool.name');
  if (tool !== null) return tool;
  return start.attributes.kind === 'tool' ? toOpName(start.opName) : undefined;
};

/** What tells the agent of the calls below a call, and the call itself if it is one of a tool. */
interface Step {
  readonly id: string;
  readonly traceId: string;
  readonly parentId: string | null;
  readonly startedAt: Micros;
  /** The agent that it names itself. */
  readonly agent: string | undefined;
  readonly tool: CallHeader | undefined;
}

const toStep = (header: CallHeader): Step => ({
  id: header.id,
  traceId: header.start.traceId,
  parentId: header.start.parentId,
  startedAt: header.start.startedAt,
  agent: ownAgent(header, kindOf(header))?.name ?? undefined,
  tool: toolOf(header) === undefined ? undefined : header,
});

/** How many calls above one are looked at to learn its agent. */
const maxAbove = 64;

/**
 * Finds the nearest agents at or above some calls in their traces; null outside of agents. What stands above them in
 * another hour is read by its id, together for all of them.
 */
const findAgents = async (
  store: Store,
  projectId: ProjectId,
  calls: readonly CallHeader[],
  known: readonly Step[],
  budget: RequestBudget,
): Promise<ReadonlyMap<CallHeader, string | null>> => {
  const agents = new Map<CallHeader, string | null>(calls.map((call) => [call, null]));
  if (calls.length === 0) return agents;
  const byId = new Map(known.map((step) => [step.id, step]));
  let open = calls.map((call) => [call, call.id] as const);
  for (let above = 0; open.length > 0 && above < maxAbove; above++) {
    const unknown = [...new Set(open.map(([, id]) => id))].filter((id) => !byId.has(id));
    for (const header of await readHeaders(store, projectId, unknown, budget))
      byId.set(header.id, toStep(header));
    open = open.flatMap(([call, id]) => {
      const step = byId.get(id);
      if (step?.traceId !== call.start.traceId) return [];
      if (step.agent !== undefined) agents.set(call, step.agent);
      return step.agent !== undefined || step.parentId === null ? [] : [[call, step.parentId] as const];
    });
  }
  return agents;
};

/** Finds tools that a trace calls again and again. All headers are read, and payloads of calls of nearly one size. */
const findLoops = async (
  store: Store,
  projectId: ProjectId,
  [from, to]: Span,
  { see, seeCall }: IssueTaker,
  counts: IssueCounts,
  budget: RequestBudget,
): Promise<void> => {
  const where = { kind: 'and' as const, operands: isDuring('started_at', from, to) };
  const selection = { projectId, filter: production, where, limit: null, includes: noIncludes };
  const query = findCalls(store, selection, budget);
  const steps = async function* (): AsyncGenerator<Step[]> {
    for await (const batch of query.found) {
      for (const { header } of batch) seeCall(header, shortAttribute(header.start, 'release'));
      yield batch.map(({ header }) => toStep(header));
    }
  };
  const reader = new PayloadReader(store, projectId, budget);
  for await (const ofHour of byHour(steps(), ({ startedAt }) => startedAt)) {
    const byTool = Map.groupBy(
      ofHour.flatMap(({ tool }) => tool ?? []),
      (header) => JSON.stringify([header.start.traceId, toolOf(header)]),
    );
    const compared = [...byTool.values()].flatMap(candidates).slice(0, maxCompared);
    const alike = new Map<string, CallHeader[]>();
    const add = (header: CallHeader, what: string, value: string | undefined): void => {
      if (value === undefined) return;
      const key = JSON.stringify([header.start.traceId, toolOf(header), what, value]);
      alike.set(key, [...(alike.get(key) ?? []), header]);
    };
    for (const some of chunks(compared, payloadsAtOnce))
      for (const { header, payload } of await reader.read(some)) {
        counts.hydrated++;
        add(header, 'arguments', payload.inputs);
        add(header, 'answer', nothing.has(payload.output ?? 'null') ? undefined : payload.output);
      }
    const inArguments = new Set<CallHeader>();
    const loops: (readonly [third: CallHeader, message: string])[] = [];
    for (const [key, calls] of alike) {
      const [, , what] = JSON.parse(key) as string[];
      const third = calls[leastRepeats - 1];
      if (!third) continue;
      // The same arguments mostly have the same answer: that is one loop.
      if (what === 'arguments') for (const call of calls) inArguments.add(call);
      else if (calls.every((call) => inArguments.has(call))) continue;
      loops.push([
        third,
        what === 'arguments' ? 'Called again with the same arguments' : 'Gives the same answer again',
      ]);
    }
    const thirds = loops.map(([third]) => third);
    const agents = await findAgents(store, projectId, thirds, ofHour, budget);
    for (const [third, message] of loops)
      see({
        ...ofCall(third),
        kind: 'loop',
        message,
        agent: agents.get(third) ?? null,
        at: third.start.startedAt,
      });
  }
  counts.scanned += query.counts.scanned;
};

/** A record of feedback as far as issues look at it. */
interface Record {
  readonly svc_ref: string;
  readonly feedback_type: string;
  readonly created_at: string;
  readonly payload: JsonObject;
}

/** What is wrong by a record of feedback; undefined if nothing is. */
const complaint = ({
  feedback_type: type,
  payload,
}: Record): Pick<Sighting, 'kind' | 'message'> | undefined => {
  const evaluator = judgedBy(type);
  if (evaluator !== undefined) {
    const refused = refusalIn(payload);
    return refused === undefined ? undefined : { kind: 'verdict', message: `${evaluator}: ${refused}` };
  }
  const message = complaintIn(type, payload);
  return message === undefined ? undefined : { kind: 'feedback', message };
};

/** Finds verdicts that refuse, and feedback of people who were not content, given in a span of time. */
const findComplaints = async (
  { calls, feedback }: IssueStores,
  projectId: ProjectId,
  [from, to]: Span,
  { see }: IssueTaker,
  counts: IssueCounts,
  budget: RequestBudget,
): Promise<void> => {
  const where = { kind: 'and' as const, operands: isDuring('created_at', from, to) };
  const fields = ['svc_ref', 'feedback_type', 'created_at', 'payload'];
  const { records } = queryFeedback(
    feedback,
    { projectId, where, fields, sort: [], offset: 0, limit: null },
    budget,
  );
  for await (const batch of records) {
    counts.feedback += batch.length;
    const found = batch.flatMap((text) => {
      const record = JSON.parse(text) as Record;
      const about = complaint(record);
      const ref = parseRef(record.svc_ref);
      if (!about || ref?.kind !== 'call') return [];
      return [{ about, callId: ref.callId, at: parseTime(record.created_at) ?? from }];
    });
    for (const some of chunks(found, payloadsAtOnce)) {
      const ids = [...new Set(some.map(({ callId }) => callId))];
      const headers = new Map(
        (await readHeaders(calls, projectId, ids, budget)).map((header) => [header.id, header]),
      );
      for (const { about, callId, at } of some) {
        const header = headers.get(callId);
        if (header && getSource(header.start) !== 'production') continue;
        const unknown = { opName: null, toolName: null, callId, traceId: null, userId: null, release: null };
        see({ ...(header ? ofCall(header) : unknown), ...about, at });
      }
    }
  }
};

/**
 * Finds what is grouped as issues in a span of time.
 *
 * @throws ServiceError 503 when storage does not give something in time
 */
export const findSightings = async (
  stores: IssueStores,
  projectId: ProjectId,
  span: Span,
  taker: IssueTaker,
  counts: IssueCounts,
  budget: RequestBudget,
): Promise<void> => {
  await Promise.all([
    findErrors(stores.calls, projectId, span, taker, counts, budget),
    findLoops(stores.calls, projectId, span, taker, counts, budget),
    findComplaints(stores, projectId, span, taker, counts, budget),
  ]);
};
