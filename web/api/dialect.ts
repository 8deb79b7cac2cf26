import { isObject } from '../data/values.ts';

/*
 * A service in Weave's dialect names fields and paths after Weave and Weights & Biases. The page
 * knows our names alone: its client renames what goes out and what comes in.
 */

const renamed = (
  value: Readonly<Record<string, unknown>>,
  nameOf: (name: string) => string,
  change: (value: unknown, name: string) => unknown,
) => Object.fromEntries(Object.entries(value).map(([name, inner]) => [nameOf(name), change(inner, name)]));

/** The fields of requests that hold paths, one or a list of them. */
const pathFields = new Set(['$getField', 'field', 'columns', 'group_by']);

const weavePath = (path: string): string =>
  path.replace(/^svc_(?=user_id|run_id|run_step)/, 'wb_').replace(/^summary\.svc(?=\.|$)/, 'summary.weave');

const ownPath = (path: string): string =>
  path.replace(/^wb_(?=user_id|run_id|run_step)/, 'svc_').replace(/^summary\.weave(?=\.|$)/, 'summary.svc');

/** A query in Weave's dialect with our paths. */
export const queryFromWeave = (value: unknown, field = ''): unknown => {
  if (typeof value === 'string') return field === '$getField' ? ownPath(value) : value;
  if (Array.isArray(value)) return value.map((item) => queryFromWeave(item, field));
  if (!isObject(value) || field === '$literal') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, queryFromWeave(inner, name)]),
  );
};

/** The fields of requests that hold what people typed or stored. */
const asTyped = new Set(['$literal', 'payload', 'val', 'row', 'rows']);

/** A request in Weave's dialect. What people typed stays as it is. */
export const toWeave = (value: unknown, field = ''): unknown => {
  if (typeof value === 'string') {
    if (pathFields.has(field)) return weavePath(value);
    return field === 'svc_ref' ? value.replace(/^svc:/, 'weave:') : value;
  }
  if (Array.isArray(value)) return value.map((item) => toWeave(item, field));
  if (!isObject(value) || asTyped.has(field)) return value;
  return renamed(value, (name) => (name === 'svc_ref' ? 'weave_ref' : name), toWeave);
};

/** The fields of answers that hold records with the service's names. */
const recordFields = new Set(['call', 'obj', 'objs', 'call_buckets', 'usage_buckets', 'feedback', 'result']);

const summaryOf = (summary: unknown): unknown => {
  if (!isObject(summary)) return summary;
  const { weave, ...rest } = summary;
  return { ...rest, svc: fromWeave(weave) };
};

/** An answer in Weave's dialect with our names. What clients reported stays as it is. */
export const fromWeave = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(fromWeave);
  if (!isObject(value)) return value;
  return renamed(
    value,
    (name) => name.replace(/^(?:wb|weave)_/, 'svc_'),
    (inner, name) =>
      name === 'summary' ? summaryOf(inner) : recordFields.has(name) ? fromWeave(inner) : inner,
  );
};
