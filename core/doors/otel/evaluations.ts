import { setTimeout as sleep } from 'node:timers/promises';
import type { FeedbackDraft } from '../../../api/feedback.ts';
import { toVerdictType } from '../../../api/shared/evaluators.ts';
import { mapConcurrent, type RequestBudget, type Store } from '../../../foundations/storage/index.ts';
import {
  callRef,
  deriveId,
  isJsonObject,
  isNumber,
  type JsonObject,
  type JsonValue,
  type Micros,
  nonEmptyString,
  type ProjectId,
} from '../../../foundations/wire/index.ts';
import {
  type CallReport,
  deleteWaiting,
  findByResponse,
  putWaiting,
  readWaiting,
  responseIdIn,
  type Waiting,
} from '../../records/calls/index.ts';
import { createFeedback, existingFeedback } from '../../records/feedback/index.ts';
import { type ProjectSpan, toMicros, toOpName } from './calls.ts';
import type { Rejection } from './decode/spans.ts';
import { getEventName } from './joining.ts';
import type { ProjectRecord } from './projects.ts';
import type { Attributes } from './span.ts';
import { toCallId } from './span.ts';
import { plain } from './values.ts';

/*
 * Results of evaluations become feedback on the call that was judged: on that of their span, else on
 * that of the answer whose id they name. A ref leads to a call whether or not it is there yet, so a
 * result with a span needs no look-up. One with an answer's id waits for its call.
 * Source: open-telemetry/semantic-conventions-genai, `model/gen-ai/events.yaml`.
 */

const resultEvent = 'gen_ai.evaluation.result';

/** What was judged. */
type Judged =
  | { readonly callId: string }
  | { readonly responseId: string; readonly traceId?: string | undefined };

/** A verdict on its way to the call that was judged. */
interface Verdict {
  readonly projectId: ProjectId;
  readonly on: Judged;
  readonly time: Micros;
  readonly type: string;
  readonly payload: JsonObject;
}

/** The result of an evaluation as it was sent. */
interface Result {
  readonly projectId: ProjectId;
  readonly timeUnixNano: bigint;
  readonly traceId?: string | undefined;
  readonly spanId?: string | undefined;
  readonly attributes: Attributes;
}

/** Whether a record is the result of an evaluation. */
export const isResult = (record: ProjectRecord): boolean => getEventName(record) === resultEvent;

/** The results among spans: their events, and spans that stand for an event, as a client of Rust makes them. */
export const findResults = (spans: readonly ProjectSpan[]): Result[] =>
  spans.flatMap(({ projectId, span }) => {
    const { traceId, spanId, parentSpanId, events, name, startTimeUnixNano, attributes } = span;
    const ofSpan = { projectId, traceId };
    return [
      ...events
        .filter((event) => event.name === resultEvent)
        .map((event) => ({ ...ofSpan, ...event, spanId })),
      ...(name === resultEvent && parentSpanId !== undefined
        ? [{ ...ofSpan, spanId: parentSpanId, timeUnixNano: startTimeUnixNano, attributes }]
        : []),
    ];
  });

/** The longest reason and label, in characters. */
const maxReason = 10_000;
const maxLabel = 1000;

const shortText = (attributes: Attributes, key: string, most: number): string | undefined =>
  nonEmptyString(attributes.get(key))?.slice(0, most).toWellFormed();

/** A score as JSON has it; undefined for none, and for what is no number. */
const scoreIn = (attributes: Attributes): JsonValue | undefined => {
  const value = attributes.get('gen_ai.evaluation.score.value');
  if (value === undefined) return undefined;
  const score = plain(value) as JsonValue;
  if (isNumber(score)) return Number.isFinite(Number(score)) ? score : undefined;
  return typeof score === 'boolean' || typeof score === 'string' ? score : undefined;
};

const payloadIn = (attributes: Attributes): JsonObject => {
  const value = scoreIn(attributes);
  const label = shortText(attributes, 'gen_ai.evaluation.score.label', maxLabel);
  const reason = shortText(attributes, 'gen_ai.evaluation.explanation', maxReason);
  return {
    ...(value !== undefined && { value }),
    ...(label !== undefined && { label }),
    ...(reason !== undefined && { reason }),
  };
};

const judgedBy = ({ traceId, spanId, attributes }: Result): Judged | undefined => {
  if (traceId !== undefined && spanId !== undefined) return { callId: toCallId(traceId, spanId) };
  const responseId = nonEmptyString(attributes.get('gen_ai.response.id'));
  return responseId === undefined ? undefined : { responseId, traceId };
};

/** The verdict of a result, or why there is none. */
const toVerdict = (result: Result): Verdict | string => {
  const { projectId, timeUnixNano, attributes } = result;
  const name = nonEmptyString(attributes.get('gen_ai.evaluation.name'))?.trim();
  if (!name) return `a ${resultEvent} should have gen_ai.evaluation.name`;
  if (attributes.has('error.type'))
    return `a ${resultEvent} with error.type says that the evaluation failed, so it is no verdict`;
  const payload = payloadIn(attributes);
  if (payload.value === undefined && payload.label === undefined)
    return `a ${resultEvent} should have gen_ai.evaluation.score.value, a number, or gen_ai.evaluation.score.label`;
  const on = judgedBy(result);
  if (!on) return `a ${resultEvent} should be in a span, or have gen_ai.response.id`;
  return { projectId, on, time: toMicros(timeUnixNano), type: toOpName(toVerdictType(name)), payload };
};

/** Ids from the time 0 are those of the service's own verdicts. */
const firstTime: Micros = 1000;

/** The id of a verdict's feedback: the same record is the same feedback. */
const idOfVerdict = ({ projectId, on, time, type, payload }: Verdict): string => {
  const target = 'callId' in on ? `call ${on.callId}` : `response ${on.responseId}`;
  return deriveId(
    Math.max(time, firstTime),
    [projectId, target, time, type, JSON.stringify(payload)].join('\n'),
  );
};

/** The stores that verdicts touch. */
export interface VerdictStores {
  readonly calls: Store;
  readonly feedback: Store;
}

const toDraft = (
  { projectId, id }: { readonly projectId: ProjectId; readonly id: string },
  { type, payload }: Pick<Verdict, 'type' | 'payload'>,
  callId: string,
): FeedbackDraft => ({
  projectId,
  id,
  ref: callRef(projectId, callId),
  type,
  payload,
  creator: null,
  annotationRef: null,
  runnableRef: null,
  callRef: null,
  triggerRef: null,
});

const projectConcurrency = 4;

/** Stores feedback that is not there yet. What is there stays, whatever it says: it is the same record. */
const createNew = async (
  { feedback }: VerdictStores,
  sent: readonly FeedbackDraft[],
  userId: string,
  budget: RequestBudget,
): Promise<void> => {
  const byProject = Map.groupBy(sent, ({ projectId }) => projectId);
  await mapConcurrent([...byProject], projectConcurrency, async ([projectId, ofProject]) => {
    const drafts = new Map(ofProject.map((draft) => [draft.id ?? '', draft]));
    const existing = await existingFeedback(feedback, projectId, [...drafts.keys()], budget);
    const fresh = [...drafts.values()].filter(({ id }) => !existing.has(id ?? ''));
    if (fresh.length === 0) return;
    await createFeedback(
      feedback,
      fresh.map((draft, i) => ({ draft, loc: [String(i)] })),
      userId,
      budget,
    );
  });
};

/** What waits for a call is a verdict's type and payload. */
const verdictIn = ({ type, payload }: JsonObject): Pick<Verdict, 'type' | 'payload'> => ({
  type: String(type),
  payload: isJsonObject(payload) ? payload : {},
});

/** Feedback on the calls of answers, for verdicts that waited for them. */
const settle = async (
  stores: VerdictStores,
  found: readonly { readonly waiting: Waiting; readonly callId: string }[],
  userId: string,
  budget: RequestBudget,
): Promise<void> => {
  if (found.length === 0) return;
  const drafts = found.map(({ waiting, callId }) => toDraft(waiting, verdictIn(waiting.record), callId));
  await createNew(stores, drafts, userId, budget);
  await deleteWaiting(
    stores.calls,
    found.map(({ waiting }) => waiting),
    budget,
  );
};

/** How long before and after a verdict the call that it judges may have started, in microseconds. */
const before = 3_600_000_000;
const after = 60_000_000;

/** How long an index may lag behind a call that is just being written, in ms. */
const indexLagMs = 500;

type WaitingVerdict = Waiting & { readonly verdict: Verdict };

const toWhere = (verdicts: readonly WaitingVerdict[], traceId: string | undefined) => {
  const times = verdicts.map(({ verdict }) => verdict.time);
  return { traceId, from: Math.min(...times) - before, to: Math.max(...times) + after };
};

/** Finds the calls of answers among those that are stored, and gives them their verdicts. */
const settleStored = async (
  stores: VerdictStores,
  waiting: readonly WaitingVerdict[],
  userId: string,
  budget: RequestBudget,
): Promise<WaitingVerdict[]> => {
  const groups = Map.groupBy(waiting, ({ projectId, verdict: { on } }) =>
    [projectId, 'responseId' in on ? (on.traceId ?? '') : ''].join('\n'),
  );
  const left = await mapConcurrent([...groups.values()], projectConcurrency, async (group) => {
    const [first] = group;
    if (!first) return [];
    const { on } = first.verdict;
    const ids = new Set(group.map(({ responseId }) => responseId));
    const where = toWhere(group, 'responseId' in on ? on.traceId : undefined);
    const calls = await findByResponse(stores.calls, first.projectId, ids, where, budget);
    const found = group.flatMap((verdict) => {
      const callId = calls.get(verdict.responseId)?.id;
      return callId === undefined ? [] : [{ waiting: verdict, callId }];
    });
    await settle(stores, found, userId, budget);
    return group.filter(({ responseId }) => !calls.has(responseId));
  });
  return left.flat();
};

/**
 * Stores verdicts by the ids of answers: first as waiting, so that a call that comes from now on finds
 * them, then on the calls that are there. Calls of the last moments are looked for once more, since
 * indexes lag.
 *
 * @returns those that are too long to wait
 */
const storeByResponse = async (
  stores: VerdictStores,
  verdicts: readonly Verdict[],
  userId: string,
  budget: RequestBudget,
): Promise<Rejection[]> => {
  const waitingVerdicts = verdicts.flatMap((verdict): WaitingVerdict[] => {
    const { projectId, on, type, payload } = verdict;
    if (!('responseId' in on)) return [];
    return [
      { projectId, responseId: on.responseId, id: idOfVerdict(verdict), record: { type, payload }, verdict },
    ];
  });
  if (waitingVerdicts.length === 0) return [];
  // A request may have the same verdict twice.
  const waiting = [...new Map(waitingVerdicts.map((verdict) => [verdict.id, verdict])).values()];
  const tooLong = await putWaiting(stores.calls, waiting, budget);
  await Promise.all(
    [...new Set(waiting.map(({ projectId }) => projectId))].map((projectId) =>
      stores.calls.projects?.expectCalls(projectId, budget),
    ),
  );
  let left = await settleStored(stores, waiting, userId, budget);
  if (left.length > 0) {
    await sleep(indexLagMs);
    left = await settleStored(stores, left, userId, budget);
  }
  const { length: count } = left.filter(({ id }) => tooLong.has(id));
  return count === 0 ? [] : [{ count, reason: tooLongReason }];
};

const tooLongReason = `a ${resultEvent} is longer than 380 KB packed, and its call has not come yet`;

/**
 * Stores the results of evaluations as feedback. The same results may be sent again.
 *
 * @param userId the user of the reporting key
 * @returns those that are no verdicts, or that are too long to wait for their call
 * @throws ServiceError 503 when storage does not take them in time
 */
export const storeResults = async (
  stores: VerdictStores,
  results: readonly Result[],
  userId: string,
  budget: RequestBudget,
): Promise<Rejection[]> => {
  const made = results.map(toVerdict);
  const verdicts = made.filter((verdict) => typeof verdict !== 'string');
  const drafts = verdicts.flatMap((verdict) => {
    const { projectId, on } = verdict;
    return 'callId' in on ? [toDraft({ projectId, id: idOfVerdict(verdict) }, verdict, on.callId)] : [];
  });
  await createNew(stores, drafts, userId, budget);
  const tooLong = await storeByResponse(stores, verdicts, userId, budget);
  const reasons = Map.groupBy(
    made.filter((verdict) => typeof verdict === 'string'),
    (reason) => reason,
  );
  return [...Array.from(reasons, ([reason, { length: count }]) => ({ count, reason })), ...tooLong];
};

const readConcurrency = 8;

/** The calls of reports that got an answer with an id: that with a count of tokens where two have one. */
const answered = (reports: readonly CallReport[]): Map<string, { projectId: ProjectId; callId: string }> => {
  const counted = new Set(
    reports.flatMap((report) =>
      report.kind === 'end' && Object.hasOwn(report.end.summary, 'usage') ? [report.end.id] : [],
    ),
  );
  const calls = new Map<string, { projectId: ProjectId; callId: string }>();
  for (const report of reports) {
    if (report.kind !== 'start') continue;
    const { projectId, id, attributes } = report.start;
    const responseId = attributes.kind === 'model' ? responseIdIn(attributes) : undefined;
    if (responseId === undefined || id === null) continue;
    const key = `${projectId}\n${responseId}`;
    if (!calls.has(key) || counted.has(id)) calls.set(key, { projectId, callId: id });
  }
  return calls;
};

/**
 * Gives calls that were just written the verdicts that came before them. Only in projects where
 * verdicts wait is anything read.
 *
 * @throws ServiceError 503 when storage does not answer in time
 */
export const settleWaiting = async (
  stores: VerdictStores,
  reports: readonly CallReport[],
  userId: string,
  budget: RequestBudget,
): Promise<void> => {
  const calls = answered(reports);
  const projects = [...new Set([...calls.values()].map(({ projectId }) => projectId))];
  const expected = new Set<ProjectId>();
  for (const projectId of projects)
    if (await stores.calls.projects?.expectsCalls(projectId)) expected.add(projectId);
  const expectedCalls = [...calls].filter(([, { projectId }]) => expected.has(projectId));
  const found = await mapConcurrent(expectedCalls, readConcurrency, async ([key, { projectId, callId }]) => {
    const responseId = key.slice(projectId.length + 1);
    const waiting = await readWaiting(stores.calls, projectId, responseId, budget);
    return waiting.map((verdict) => ({ waiting: verdict, callId }));
  });
  await settle(stores, found.flat(), userId, budget);
};
