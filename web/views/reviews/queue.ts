import { askedBy } from '../../../api/shared/feedback.ts';
import { isHeaderPath } from '../../../api/shared/header-fields.ts';
import type { CallRow } from '../../api/calls.ts';
import type { FeedbackRecord, ObjectVersion } from '../../api/contract.ts';
import { isAnswer, type Value } from '../../calls/agreement.ts';
import { isObject } from '../../data/values.ts';

/*
 * Queues, what is filled in, and what was: pure functions of objects and feedback. Nothing is kept
 * of a queue's items. They follow from the calls that match and the feedback on them.
 */

/** What people can be asked. */
export type Question =
  | { readonly kind: 'boolean' }
  | { readonly kind: 'labels'; readonly labels: readonly string[] }
  | {
      readonly kind: 'number';
      readonly whole: boolean;
      readonly minimum: number | undefined;
      readonly maximum: number | undefined;
    }
  | { readonly kind: 'text'; readonly most: number | undefined };

/** What people fill in: an object of class `AnnotationSpec`. */
export interface Field {
  /** The object. It names the type of the feedback. */
  readonly id: string;
  readonly ref: string;
  readonly name: string;
  readonly description: string | undefined;
  readonly question: Question;
  /** The ops whose calls it is for. @default - all */
  readonly ops: readonly string[] | undefined;
}

/** A queue of calls to review: an object of class `ReviewQueue`. */
export interface Queue {
  /** The object. */
  readonly id: string;
  readonly name: string;
  /** Which calls, as the service takes it, in its dialect. */
  readonly filter: Readonly<Record<string, unknown>> | undefined;
  readonly query: { readonly $expr: unknown } | undefined;
  /** The refs of what is filled in. */
  readonly fields: readonly string[];
  /** How many people review each call. */
  readonly reviews: number;
  /** The users who review. @default - everybody */
  readonly assignees: readonly string[] | undefined;
}

const textsIn = (value: unknown): string[] | undefined =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : undefined;

const numberIn = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

/** What a JSON Schema asks for; undefined for more than the page can ask. */
const parseQuestion = (schema: unknown): Question | undefined => {
  if (!isObject(schema)) return undefined;
  const { type, enum: labels, minimum, maximum, maxLength } = schema;
  if (type === 'boolean') return { kind: 'boolean' };
  if (type === 'number' || type === 'integer')
    return {
      kind: 'number',
      whole: type === 'integer',
      minimum: numberIn(minimum),
      maximum: numberIn(maximum),
    };
  if (type !== 'string') return undefined;
  const named = textsIn(labels);
  return named ? { kind: 'labels', labels: named } : { kind: 'text', most: numberIn(maxLength) };
};

/** The name of the object that a ref leads to. */
export const nameIn = (ref: string): string => /\/object\/([^/:]+):/.exec(ref)?.[1] ?? '';

/**
 * What is filled in, of an object's value, as Weave's SDKs and the page store it; undefined for what
 * the page cannot ask.
 */
export const parseField = (ref: string, value: unknown): Field | undefined => {
  if (!isObject(value)) return undefined;
  const question = parseQuestion(value.field_schema);
  if (!question) return undefined;
  const id = nameIn(ref);
  return {
    id,
    ref,
    name: typeof value.name === 'string' && value.name !== '' ? value.name : id,
    description: typeof value.description === 'string' ? value.description : undefined,
    question,
    ops: textsIn(value.op_scope),
  };
};

/** The queue that an object is; undefined if it is none. */
export const parseQueue = ({ object_id: id, val }: ObjectVersion): Queue | undefined => {
  if (!isObject(val) || typeof val.name !== 'string') return undefined;
  const { filter, query, reviews } = val;
  return {
    id,
    name: val.name,
    filter: isObject(filter) ? filter : undefined,
    query: isObject(query) && '$expr' in query ? { $expr: query.$expr } : undefined,
    fields: textsIn(val.fields) ?? [],
    reviews: numberIn(reviews) ?? 1,
    assignees: textsIn(val.assignees),
  };
};

/** Whether a query is answered without the payloads of calls, so that its calls are counted at little cost. */
export const isOfHeaders = (query: unknown): boolean => {
  if (Array.isArray(query)) return query.every(isOfHeaders);
  if (!isObject(query)) return true;
  return Object.entries(query).every(([name, inner]) =>
    name === '$getField'
      ? typeof inner === 'string' && isHeaderPath(inner)
      : name === '$literal' || isOfHeaders(inner),
  );
};

/** Whether a field is for the calls of an op. */
export const isFor = ({ ops }: Field, op: string): boolean =>
  ops === undefined ||
  ops.some((scope) => scope === op || (scope.endsWith(':*') && op.startsWith(scope.slice(0, -1))));

/** Why a value cannot be an answer; undefined if it can. */
export const findProblem = (question: Question, value: Value): string | undefined => {
  switch (question.kind) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'should be yes or no';
    case 'labels':
      return question.labels.some((label) => label === value) ? undefined : 'should be one of the labels';
    case 'number': {
      const { whole, minimum, maximum } = question;
      if (typeof value !== 'number' || !Number.isFinite(value)) return 'should be a number';
      if (whole && !Number.isInteger(value)) return 'should be a whole number';
      if (minimum !== undefined && value < minimum) return `should be at least ${minimum}`;
      return maximum !== undefined && value > maximum ? `should be at most ${maximum}` : undefined;
    }
    case 'text':
      return question.most !== undefined && String(value).length > question.most
        ? `should have at most ${question.most} characters`
        : undefined;
  }
};

/** What one person answered, by the field's object. */
export interface Review {
  readonly values: ReadonlyMap<string, Value>;
  /** The records of feedback that it is. */
  readonly records: readonly string[];
  /** When the last of them was given. */
  readonly at: string;
}

/** The reviews of each call, by its id, and by who gave them. */
export type Reviews = ReadonlyMap<string, ReadonlyMap<string, Review>>;

/** The type of feedback that an answer to a field has. */
export const toType = (field: string): string => `annotation.${field}`;

/** Every type that answers to a field have: Weave's SDKs give them another. */
export const toTypes = (field: string): readonly string[] => [toType(field), `wandb.${toType(field)}`];

/**
 * Reviews from records of feedback, oldest first: of a person's answers to the same, the last counts.
 * A record belongs to its `creator`, or else to the user of the key.
 */
export const reviewsIn = (records: readonly FeedbackRecord[]): Reviews => {
  const calls = new Map<string, Map<string, Review>>();
  for (const { id, svc_ref, feedback_type = '', payload, creator, svc_user_id, created_at } of records) {
    const call = /\/call\/(.+)$/.exec(svc_ref ?? '')?.[1];
    const field = askedBy(feedback_type);
    const person = creator ?? svc_user_id;
    const value = payload?.value;
    if (call === undefined || field === undefined || !person || id === undefined || !isAnswer(value))
      continue;
    const people = calls.get(call) ?? new Map<string, Review>();
    const before = people.get(person);
    people.set(person, {
      values: new Map([...(before?.values ?? []), [field, value]]),
      records: [...(before?.records ?? []), id],
      at: created_at ?? '',
    });
    calls.set(call, people);
  }
  return calls;
};

/** A number that texts are told apart by, the same each time: FNV-1a. */
const hashText = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
};

/** How a queue stands for a person. */
export interface Standing {
  /**
   * What is there for them. Everybody has an order of their own, so that two who review at once
   * rarely look at the same call.
   */
  readonly open: readonly CallRow[];
  /** Calls that they have reviewed. */
  readonly own: number;
  /** Calls that somebody has reviewed, the last reviewed first. */
  readonly reviewed: readonly CallRow[];
  /** How many calls all have reviewed who were to. */
  readonly done: number;
}

const lastAt = (people: ReadonlyMap<string, Review> | undefined): string =>
  [...(people?.values() ?? [])].reduce((last, { at }) => (at > last ? at : last), '');

/**
 * How a queue stands for a person: a call is there for them while they have not reviewed it, and fewer
 * people than the queue asks for have.
 */
export const computeStanding = (
  { reviews: requiredReviews, assignees }: Pick<Queue, 'reviews' | 'assignees'>,
  calls: readonly CallRow[],
  reviews: Reviews,
  person: string,
): Standing => {
  const isAsked = assignees === undefined || assignees.includes(person);
  const getPeople = ({ id }: CallRow) => reviews.get(id);
  const isDone = (call: CallRow) => (getPeople(call)?.size ?? 0) >= requiredReviews;
  const isOwn = (call: CallRow) => getPeople(call)?.has(person) === true;
  const open = isAsked ? calls.filter((call) => !isDone(call) && !isOwn(call)) : [];
  const place = new Map(open.map(({ id }) => [id, hashText(`${person}\n${id}`)]));
  const times = new Map(calls.map((call) => [call.id, lastAt(getPeople(call))]));
  return {
    open: open.toSorted((a, b) => (place.get(a.id) ?? 0) - (place.get(b.id) ?? 0)),
    own: calls.filter(isOwn).length,
    reviewed: calls
      .filter(({ id }) => times.get(id) !== '')
      .toSorted((a, b) => ((times.get(a.id) ?? '') < (times.get(b.id) ?? '') ? 1 : -1)),
    done: calls.filter(isDone).length,
  };
};

/** The keys that choose labels, in their order: no key that does something else. */
export const labelKeys = [...'123456789abcefghilmopqrtvwxz'];
