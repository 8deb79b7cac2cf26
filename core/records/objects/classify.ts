import { type Dialect, isJsonObject, type JsonValue } from '../../foundations/wire/index.ts';
import type { ObjectKind } from './model.ts';

/** An object's own field of a name; undefined where the value is no object or has none. */
const own = (value: JsonValue, name: string): JsonValue | undefined =>
  isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/**
 * What a value is: an op where its `_type` is `op`. Weave's SDKs store ops as custom types, whose
 * `weave_type.type` is `Op`.
 */
export const kindOf = (value: JsonValue, dialect: Dialect = 'svc'): ObjectKind => {
  if (own(value, '_type') === 'op') return 'op';
  if (dialect === 'svc') return 'object';
  return own(own(value, 'weave_type') ?? null, 'type') === 'Op' ? 'op' : 'object';
};

/** Classes that everything is built upon say nothing. */
const roots: ReadonlySet<string> = new Set(['Object', 'BaseModel']);
const maxClass = 256;

const isClassName = (value: JsonValue | undefined): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= maxClass && value.isWellFormed();

/**
 * The class that a value's class is built upon. `_bases` names its bases, the nearest first: it is
 * the last of them other than `Object` and `BaseModel`. If there is none, it is `_class_name`.
 *
 * @returns null if the value names no class of 1–256 characters
 */
export const baseObjectClassOf = (value: JsonValue): string | null => {
  const bases = own(value, '_bases');
  const base = Array.isArray(bases)
    ? bases.findLast((name): name is string => isClassName(name) && !roots.has(name))
    : undefined;
  const className = own(value, '_class_name');
  return base ?? (isClassName(className) ? className : null);
};
