import { type FieldPath, keysTo, valueAt } from '../../foundations/expression/index.ts';
import {
  copyOf,
  type JsonValue,
  parseJson,
  parseRef,
  type Ref,
  type WireNames,
} from '../../foundations/wire/index.ts';
import { isPayloadColumn, type PayloadField } from '../../records/calls/index.ts';
import type { CallRow } from './row.ts';

type Expanded = Partial<Record<PayloadField, JsonValue>>;

/** A ref somewhere in a call, and how to replace it. */
interface Occurrence {
  readonly ref: Ref;
  readonly replace: (value: JsonValue) => void;
}

/** Finds the ref to an object or op at a path, if there is one. */
const occurrence = (
  names: WireNames,
  fields: Expanded,
  field: PayloadField,
  steps: readonly string[],
): Occurrence[] => {
  const root = fields[field] ?? null;
  const keys = keysTo(root, steps);
  const value = keys && valueAt(root, steps);
  const ref = typeof value === 'string' ? parseRef(names, value) : undefined;
  if (!keys || !ref || ref.kind === 'call') return [];
  const last = keys.at(-1);
  const replace = (found: JsonValue): void => {
    if (last === undefined) fields[field] = found;
    else {
      const parent = keys
        .slice(0, -1)
        .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], root);
      // A plain assignment to __proto__ would set the prototype.
      Object.defineProperty(parent, last, {
        value: found,
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
  };
  return [{ ref, replace }];
};

const parsed = (row: CallRow, field: PayloadField): JsonValue =>
  parseJson(row.payload?.[field] ?? 'null') as JsonValue;

/**
 * Replaces the refs at the given paths of calls by what they lead to. Shorter paths come first, so
 * that a longer path can lead into what has replaced a ref. A ref to nothing stays.
 *
 * @param rows calls with their payloads
 * @param resolve gives what refs lead to, in their order
 */
export const expandRows = async (
  names: WireNames,
  paths: readonly FieldPath[],
  rows: readonly CallRow[],
  resolve: (refs: readonly Ref[]) => Promise<readonly (JsonValue | undefined)[]>,
): Promise<CallRow[]> => {
  const ofPayload = paths
    .flatMap(({ field, steps }) => (isPayloadColumn(field) ? [{ field, steps }] : []))
    .toSorted((a, b) => a.steps.length - b.steps.length);
  const fields = new Set(ofPayload.map(({ field }) => field));
  const expanded = rows.map(
    (row): Expanded =>
      Object.fromEntries(
        [...fields].map((field) => [field, row.extras.expanded?.[field] ?? parsed(row, field)]),
      ),
  );
  for (const { field, steps } of ofPayload) {
    const found = expanded.flatMap((values) => occurrence(names, values, field, steps));
    if (found.length === 0) continue;
    const values = await resolve(found.map(({ ref }) => ref));
    // Calls may share what their refs lead to. A deeper path must replace a ref in a copy of it.
    const isDeeper = (other: (typeof ofPayload)[number]) =>
      other.field === field &&
      other.steps.length > steps.length &&
      steps.every((step, i) => step === other.steps[i]);
    const own = ofPayload.some(isDeeper) ? copyOf : (value: JsonValue) => value;
    for (const [i, { replace }] of found.entries()) {
      const value = values[i];
      if (value !== undefined) replace(own(value));
    }
  }
  return rows.map((row, i) => row.with({ expanded: expanded[i] ?? {} }));
};
