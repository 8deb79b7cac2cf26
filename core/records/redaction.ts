import { isUtf8 } from 'node:buffer';
import type { CallReport, SpanRole } from '../../api/calls.ts';
import type { FeedbackDraft } from '../../api/feedback.ts';
import { answerProblems, askedBy } from '../../api/shared/feedback.ts';
import type { RedactionFailed, Redactor } from '../../foundations/redaction/index.ts';
import { structuralKeys } from '../../foundations/redaction/rules.ts';
import type { Store } from '../../foundations/storage/index.ts';
import {
  type ErrorDetail,
  invalid,
  invalidAt,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  ServiceError,
} from '../../foundations/wire/index.ts';

/*
 * The one place where rules of redaction meet what is reported: whatever stores something asks here
 * before anything is written. Without the setting nothing is looked at.
 *
 * Ids and refs are addresses, so they stay as they are: where a built-in rule finds something in one,
 * the request is refused. So it is with what says of which class an object is.
 *
 * What is redacted is another value than what was sent. So whatever is authorized or checked for what
 * it holds is authorized and checked as it is stored: after this, never before.
 */

type Redacting = Pick<Store, 'redactor'>;

/** The longest thread id, and the longest name of an op or of a type of feedback, in characters. */
const maxId = 256;
const maxName = 1024;

/** What redacts is a bundle of its own, whose classes are not those of this one. */
const isFailed = (error: unknown): error is RedactionFailed =>
  error instanceof Error && error.name === ('RedactionFailed' satisfies RedactionFailed['name']);

/** Where something stands in the body of a request, such as `['batch', '17']`. */
type Place = readonly string[];

/**
 * @param placeNow where what is being redacted stands: errors name it. @default - at the top of the body
 * @throws ServiceError 500 if a rule fails, 422 if an address holds what a rule looks for
 */
const redacted = async <T>(
  { redactor }: Redacting,
  value: T,
  redact: (redactor: Redactor) => T,
  placeNow: () => Place = () => [],
): Promise<T> => {
  if (!redactor) return value;
  const found = await redactor();
  try {
    return redact(found);
  } catch (error) {
    if (error instanceof ServiceError) throw movedTo(placeNow(), error);
    if (!isFailed(error)) throw error;
    const place = [...placeNow(), error.place].join('.');
    const msg = `redaction failed at ${place}: ${error.kind}; nothing of this request was stored`;
    throw new ServiceError(500, [{ loc: ['service'], msg, type: 'redaction_failed' }], { cause: error });
  } finally {
    found.forget();
  }
};

/** An error whose places in the body begin with another one. */
const movedTo = (place: Place, { status, detail, cause }: ServiceError): ServiceError => {
  const moved = detail.map(({ loc: [body = 'body', ...rest], ...problem }) => ({
    ...problem,
    loc: [body, ...place, ...rest],
  }));
  return new ServiceError(status, moved, { cause });
};

const addressProblem = (field: string, rule: string): ErrorDetail => ({
  loc: ['body', ...field.split('.')],
  msg: `should hold nothing that the rule ${rule} of redaction finds: it is an address, which is stored as it is`,
  type: 'value_error',
});

/** @throws ServiceError 422 if a built-in rule finds something in one of the fields */
const checkAddresses = (redactor: Redactor, fields: Readonly<Record<string, string | null>>): void => {
  for (const [field, text] of Object.entries(fields)) {
    const rule = text === null ? undefined : redactor.foundIn(field, text);
    if (rule !== undefined) throw invalid(addressProblem(field, rule));
  }
};

/** What a span is, as the fields of its call are: its thread, and a user among attributes. */
const redactSpan = (redactor: Redactor, span: SpanRole): SpanRole => {
  const { threadId, givenUser } = span;
  const { user } = givenUser === null ? {} : redactor.object('attributes', { user: { id: givenUser } });
  const id = isJsonObject(user) ? user.id : null;
  return {
    ...span,
    threadId: threadId === null ? null : redactor.name('thread_id', threadId, maxId),
    givenUser: typeof id === 'string' ? id : null,
  };
};

/** The name of a call that people read, if anything is left of it. */
const cleanDisplayName = (redactor: Redactor, name: string | null): string | null =>
  (name === null ? null : redactor.text('display_name', name)) || null;

const redactReport = (redactor: Redactor, report: CallReport): CallReport => {
  if (report.kind === 'end') {
    const { end } = report;
    const { output, summary, exception, displayName } = end;
    checkAddresses(redactor, { id: end.id });
    return {
      kind: 'end',
      end: {
        ...end,
        output: output === undefined ? output : redactor.value('output', output),
        summary: redactor.object('summary', summary),
        // A call that failed has failed, whatever is left of what it says.
        exception: exception === null ? null : redactor.text('exception', exception),
        ...(displayName !== undefined && { displayName: cleanDisplayName(redactor, displayName) }),
      },
    };
  }
  const { start } = report;
  const { id, traceId: trace_id, parentId: parent_id, turnId: turn_id, runId: run_id } = start;
  checkAddresses(redactor, { id, trace_id, parent_id, turn_id, run_id });
  return {
    kind: 'start',
    start: {
      ...start,
      opName: redactor.name('op_name', start.opName, maxName),
      displayName: cleanDisplayName(redactor, start.displayName),
      threadId: start.threadId === null ? null : redactor.name('thread_id', start.threadId, maxId),
      attributes: redactor.object('attributes', start.attributes),
      inputs: redactor.object('inputs', start.inputs),
      ...(start.span && { span: redactSpan(redactor, start.span) }),
    },
  };
};

/**
 * Reports of calls as they are to be stored.
 *
 * @param getPlace where each report stands in the body of the request: errors name it. @default - at its top
 * @throws ServiceError 500 if a rule fails, 422 if an id holds what a built-in rule looks for
 */
export const redactReports = (
  store: Redacting,
  reports: readonly CallReport[],
  getPlace: (index: number) => Place = () => [],
): Promise<readonly CallReport[]> => {
  let at = 0;
  const redact = (redactor: Redactor) =>
    reports.map((report, i) => {
      at = i;
      return redactReport(redactor, report);
    });
  return redacted(store, reports, redact, () => getPlace(at));
};

/**
 * The name to show of a call as it is to be stored; null if nothing is left of it.
 *
 * @throws ServiceError 500 if a rule fails
 */
export const redactDisplayName = (store: Redacting, name: string | null): Promise<string | null> =>
  redacted(store, name, (redactor) => cleanDisplayName(redactor, name));

/**
 * Fields of what waits that say when and where it happened, as the service writes them. What belongs
 * together meets by them: a rule for numbers would have all of it happen in 1970.
 */
const placingFields: ReadonlySet<string> = new Set([
  'kind',
  'event',
  'time',
  'start',
  'startedAt',
  'endedAt',
  'projectId',
  'place',
  'trace',
  'traceId',
  'span',
  'id',
  'parent',
  'parentId',
  'keys',
]);

const redactWaiting = (redactor: Redactor, record: JsonObject): JsonObject => {
  const fields = Object.entries(record).filter(([field]) => !placingFields.has(field) && field !== 'events');
  const left = fields.map(([field, value]) => [field, redactor.anywhere('log record', value)]);
  const { events } = record;
  return {
    ...record,
    ...Object.fromEntries(left),
    ...(Array.isArray(events) && {
      events: events.filter(isJsonObject).map((event) => redactWaiting(redactor, event)),
    }),
  };
};

/**
 * A log record that waits for its span, or what else waits for others. It has no place among a call's
 * fields yet, so rules with paths apply once it has joined. Its {@link placingFields} stay.
 *
 * @throws ServiceError 500 if a rule fails
 */
export const redactLogRecords = <T extends { readonly record: JsonObject }>(
  store: Redacting,
  records: readonly T[],
): Promise<readonly T[]> =>
  redacted(store, records, (redactor) =>
    records.map((item) => ({ ...item, record: redactWaiting(redactor, item.record) })),
  );

/**
 * Feedback as it is to be stored.
 *
 * @param place where it stands in the body of the request
 * @throws ServiceError 500 if a rule fails, 422 if an id or a ref holds what a built-in rule looks for
 */
export const redactFeedback = (
  store: Redacting,
  draft: FeedbackDraft,
  place: Place = [],
): Promise<FeedbackDraft> => {
  const redact = (redactor: Redactor) => {
    const { id, ref, annotationRef, runnableRef, callRef, triggerRef } = draft;
    checkAddresses(redactor, {
      id,
      ref,
      annotation_ref: annotationRef,
      runnable_ref: runnableRef,
      call_ref: callRef,
      trigger_ref: triggerRef,
    });
    // The type of an answer has the name of the object that asks.
    const isAnswer = askedBy(draft.type) !== undefined;
    if (isAnswer) checkAddresses(redactor, { feedback_type: draft.type });
    const left = {
      ...draft,
      type: isAnswer ? draft.type : redactor.name('feedback_type', draft.type, maxName),
      creator: draft.creator === null ? null : redactor.name('creator', draft.creator, maxName),
      payload: redactor.object('payload', draft.payload),
    };
    const [problem] = answerProblems(left);
    if (problem) throw invalidAt(['body', problem[0]], `${problem[1]}: a rule of redaction takes it`);
    return left;
  };
  return redacted(store, draft, redact, () => place);
};

/** What says of which class an object is, by its place in the request. */
const classNamesIn = (value: JsonValue): Readonly<Record<string, string>> => {
  if (!isJsonObject(value)) return {};
  const fields = Object.entries(value).filter(([key]) => structuralKeys.has(key));
  const names = fields.flatMap(([key, field]) =>
    Array.isArray(field) ? field.map((name, i) => [`${key}.${i}`, name]) : [[key, field]],
  );
  return Object.fromEntries(
    names.flatMap(([place, name]) => (typeof name === 'string' ? [[`obj.val.${place}`, name]] : [])),
  );
};

/** Where two values differ, as far as names of fields are the same. */
const findDifference = (sent: JsonValue, left: JsonValue): string[] => {
  const place: string[] = [];
  let a = sent;
  let b = left;
  for (;;) {
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return place;
    const [before, after] = [a, b].map((value) => new Map(Object.entries(value)));
    const step = [...(before ?? [])].find(([key, value]) => after?.get(key) !== value);
    if (!step || !after?.has(step[0])) return place;
    place.push(step[0]);
    [a, b] = [step[1], after.get(step[0]) ?? null];
  }
};

/**
 * The value of an object as it is to be stored. Its digest is that of the value that was sent.
 *
 * @param getMeaning the class of a value that means something to the service; undefined for others. A rule
 * that takes something out of its settings makes it mean something else: more calls, no limit
 * @throws ServiceError 500 if a rule fails. 422 if the object's id or class holds what a built-in rule
 * looks for, or rules would change a value that means something to the service
 */
export const redactObject = (
  store: Redacting,
  objectId: string,
  value: JsonValue,
  getMeaning: (value: JsonValue) => string | undefined,
): Promise<JsonValue> =>
  redacted(store, value, (redactor) => {
    checkAddresses(redactor, { 'obj.object_id': objectId, ...classNamesIn(value) });
    const left = redactor.value('val', value);
    const className = getMeaning(value) ?? getMeaning(left);
    if (left === value || className === undefined) return left;
    const msg = `should hold nothing that redaction takes out: the service acts on an object of class ${className} as it was checked`;
    throw invalidAt(['body', 'obj', 'val', ...findDifference(value, left)], msg);
  });

/**
 * Checks aliases and tags of objects.
 *
 * @param place where they stand in the request
 * @throws ServiceError 422 if one holds what a built-in rule looks for
 */
export const checkLabels = async (
  store: Redacting,
  place: readonly string[],
  texts: readonly string[],
): Promise<void> => {
  const field = place.slice(1).join('.');
  await redacted(store, undefined, (redactor) => {
    for (const [i, text] of texts.entries())
      checkAddresses(redactor, { [texts.length > 1 ? `${field}.${i}` : field]: text });
    return undefined;
  });
};

/**
 * Rows of a table as they are to be stored. Their digests are those of the rows that were sent.
 *
 * @throws ServiceError 500 if a rule fails
 */
export const redactRows = (store: Redacting, rows: readonly JsonObject[]): Promise<readonly JsonObject[]> =>
  redacted(store, rows, (redactor) => {
    const left = redactor.value('rows', [...rows]);
    return rows.map((_, i) => {
      const row = Array.isArray(left) ? left[i] : null;
      return isJsonObject(row) ? row : {};
    });
  });

const binary: ErrorDetail = {
  loc: ['body', 'file'],
  msg: 'should be text in UTF-8: this service redacts what it stores, and cannot look into other files',
  type: 'value_error',
};

/**
 * The content of a file as it is to be stored. Its digest is that of the file that was sent.
 *
 * @throws ServiceError 422 if it is no text, 500 if a rule fails
 */
export const redactFile = (store: Redacting, content: Uint8Array): Promise<Uint8Array> =>
  redacted(store, content, (redactor) => {
    if (!isUtf8(content) || content.includes(0)) throw invalid(binary);
    return Buffer.from(redactor.anywhere('file', Buffer.from(content).toString('utf8')));
  });
