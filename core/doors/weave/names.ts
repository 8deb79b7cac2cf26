import { type ErrorDetail, isJsonObject, ServiceError } from '../../../foundations/wire/index.ts';

/*
 * What our names are in Weave's dialect. Requests get ours on the way in, answers get Weave's on the
 * way out. What clients report, and find, is free: only the scheme of its refs changes.
 */

/** Weave's server calls the fields of users and runs after Weights & Biases. */
const weaveNames: Readonly<Record<string, string>> = {
  svc: 'weave',
  svc_ref: 'weave_ref',
  svc_user_id: 'wb_user_id',
  svc_run_id: 'wb_run_id',
  svc_run_step: 'wb_run_step',
  svc_run_step_end: 'wb_run_step_end',
  svc_user_ids: 'wb_user_ids',
  svc_run_ids: 'wb_run_ids',
};

type Names = ReadonlyMap<string, string>;

const toWeave: Names = new Map(Object.entries(weaveNames));
const toOwn: Names = new Map(Object.entries(weaveNames).map(([own, weave]) => [weave, own]));

/** What fields of answered records are called. */
export const fieldNames: Readonly<Record<string, string>> = weaveNames;

/** Fields whose values are a client's own: no name in them is ours. */
const free: ReadonlySet<string> = new Set([
  'attributes',
  'inputs',
  'output',
  'exception',
  'summary',
  'payload',
  'val',
  'row',
  'rows',
  '$literal',
]);

/** Fields that hold paths into records. */
const pathFields: ReadonlySet<string> = new Set([
  '$getField',
  'field',
  'fields',
  'columns',
  'expand_columns',
  'group_by',
]);

/** A path into records, as ours. Only its first step, and the service's block of a summary, have names. */
export const pathFromWeave = (path: string): string => {
  const [first = '', second, ...below] = path.split('.');
  if (first === 'summary' && second === 'weave') return ['summary', 'svc', ...below].join('.');
  const name = first === 'weave' ? undefined : toOwn.get(first);
  return name === undefined ? path : [name, ...path.split('.').slice(1)].join('.');
};

const pathsFromWeave = (value: unknown, levels: number): unknown => {
  if (typeof value === 'string') return pathFromWeave(value);
  return Array.isArray(value)
    ? value.map((item) =>
        typeof item === 'string' ? pathFromWeave(item) : renamed(item, toOwn, true, levels),
      )
    : value;
};

/**
 * How deep names of ours are: the query language nests 1,000 operators, each an object in a list. What
 * lies deeper is refused by whoever parses it, and a stack has an end.
 */
const maxNested = 2100;

/** A list whose items are others, or the list itself if none is. */
const mapped = (items: readonly unknown[], change: (item: unknown) => unknown): unknown => {
  let copy: unknown[] | undefined;
  for (let i = 0; i < items.length; i++) {
    const item = change(items[i]);
    if (item !== items[i]) {
      copy ??= [...items];
      copy[i] = item;
    }
  }
  return copy ?? items;
};

/**
 * Gives the fields of a value other names, wherever names are ours. What does not change is not
 * copied.
 */
const renamed = (value: unknown, names: Names, withPaths: boolean, levels = maxNested): unknown => {
  if (levels === 0) return value;
  if (Array.isArray(value)) return mapped(value, (item) => renamed(item, names, withPaths, levels - 1));
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value);
  let changed = false;
  const entries = keys.map((key): [string, unknown] => {
    const field = value[key];
    const to = names.get(key) ?? key;
    const inner = free.has(key)
      ? field
      : withPaths && pathFields.has(key)
        ? pathsFromWeave(field, levels - 1)
        : typeof field === 'object'
          ? renamed(field, names, withPaths, levels - 1)
          : field;
    changed ||= to !== key || inner !== field;
    return [to, inner];
  });
  // Unlike assignment, this makes `__proto__` a field too.
  return changed ? Object.fromEntries(entries) : value;
};

/** A request, parsed, with our names. */
export const requestFromWeave = (request: unknown): unknown => renamed(request, toOwn, true);

/** An answer that is a value, with Weave's names. */
export const answerToWeave = (answer: unknown): unknown => renamed(answer, toWeave, false);

const ownRefs = /(?<!\\)"svc:\/\/\//g;

/** A JSON text with refs as Weave writes them: what `storedRefs` undoes. */
export const refsToWeave = (json: string): string =>
  json.includes('"svc:///') ? json.replace(ownRefs, '"weave:///') : json;

/** A text of ours about names and refs, in Weave's dialect. */
const textToWeave = (text: string): string =>
  text
    .replaceAll('svc:///', 'weave:///')
    .replaceAll(/\bsvc_\w+/g, (name) => toWeave.get(name) ?? name)
    .replaceAll(/\bsvc\./g, 'weave.');

const detailToWeave = ({ loc, msg, type }: ErrorDetail): ErrorDetail => ({
  loc: loc.map((step) => (step === 'svc' ? step : (toWeave.get(step) ?? step))),
  msg: textToWeave(msg),
  type,
});

/** An error as Weave's clients are told of it. */
export const errorToWeave = (error: ServiceError): ServiceError => {
  const { status, detail, cause, retryAfterSeconds, isCallersTimeout } = error;
  return new ServiceError(status, detail.map(detailToWeave), {
    ...(cause !== undefined && { cause }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    isCallersTimeout,
  });
};
