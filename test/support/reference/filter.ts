import { isJsonObject, type JsonObject, type JsonValue } from '../../../foundations/wire/index.ts';

type Texts = readonly string[] | null;

/** The `filter` of a body, as clients write it. */
export interface FilterJson {
  readonly op_names?: Texts;
  readonly input_refs?: Texts;
  readonly output_refs?: Texts;
  readonly parent_ids?: Texts;
  readonly trace_ids?: Texts;
  readonly call_ids?: Texts;
  readonly thread_ids?: Texts;
  readonly turn_ids?: Texts;
  readonly trace_roots_only?: boolean | null;
  readonly svc_user_ids?: Texts;
  readonly svc_run_ids?: Texts;
}

/** Whether a text is the one asked for, or begins with it up to the asterisk of its `:*`. */
const matches = (text: string, asked: string): boolean =>
  text === asked || (asked.endsWith(':*') && text.startsWith(asked.slice(0, -1)));

/** Every string in a value, at any depth; keys are none. */
const stringsIn = (value: JsonValue): string[] => {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(stringsIn);
  return isJsonObject(value) ? Object.values(value).flatMap(stringsIn) : [];
};

/** Whether a call passes a filter: all of its fields, each with any of its values. */
export const matchesFilter = (filter: FilterJson, call: JsonObject): boolean => {
  const isAny = (asked: Texts | undefined, column: string): boolean =>
    !asked || asked.some((text) => text === call[column]);
  const holdsAny = (asked: Texts | undefined, column: string): boolean =>
    !asked || stringsIn(call[column] ?? null).some((text) => asked.some((ref) => matches(text, ref)));
  const { op_names } = filter;
  return (
    (!op_names || op_names.some((name) => matches(String(call.op_name), name))) &&
    holdsAny(filter.input_refs, 'inputs') &&
    holdsAny(filter.output_refs, 'output') &&
    isAny(filter.parent_ids, 'parent_id') &&
    isAny(filter.trace_ids, 'trace_id') &&
    isAny(filter.call_ids, 'id') &&
    isAny(filter.thread_ids, 'thread_id') &&
    isAny(filter.turn_ids, 'turn_id') &&
    isAny(filter.svc_user_ids, 'svc_user_id') &&
    isAny(filter.svc_run_ids, 'svc_run_id') &&
    !(filter.trace_roots_only && call.parent_id !== null)
  );
};
