import { isJsonObject, type JsonObject, type JsonValue } from '../../wire/index.ts';

/*
 * `summary.usage` in a header says mostly the same few names, in each of the header's three or four
 * rows: they are numbers there. An object is a list of its keys and values in turn.
 */

/**
 * The names that clients and providers give to usage, by their number. Stored headers have the
 * numbers: append, never change.
 */
const names = [
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'requests',
  'input_tokens',
  'output_tokens',
  'prompt_tokens_details',
  'completion_tokens_details',
  'input_tokens_details',
  'output_tokens_details',
  'cached_tokens',
  'reasoning_tokens',
  'audio_tokens',
  'accepted_prediction_tokens',
  'rejected_prediction_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
] as const;

const numbers = new Map<string, number>(names.map((name, i) => [name, i]));

const holdsList = (value: JsonValue): boolean =>
  Array.isArray(value) || (isJsonObject(value) && Object.values(value).some(holdsList));

const packValue = (value: JsonValue): unknown =>
  isJsonObject(value)
    ? Object.entries(value).flatMap(([key, field]) => [numbers.get(key) ?? key, packValue(field)])
    : value;

const unpackValue = (packed: unknown): JsonValue => {
  if (!Array.isArray(packed)) return packed as JsonValue;
  const entries: [string, JsonValue][] = [];
  for (let i = 0; i < packed.length; i += 2) {
    const key: unknown = packed[i];
    const name = typeof key === 'number' ? names[key] : String(key);
    if (name === undefined) throw new Error(`a header whose usage has the name ${String(key)}`);
    entries.push([name, unpackValue(packed[i + 1])]);
  }
  // Unlike assignment, this makes a field even of `__proto__`.
  return Object.fromEntries(entries);
};

/**
 * Makes usage shorter for a header. One that holds lists, which no known client's does, stays an
 * object.
 */
export const packUsage = (usage: JsonObject | true | null): unknown =>
  usage === true || usage === null || holdsList(usage) ? usage : packValue(usage);

/**
 * Undoes {@link packUsage}.
 *
 * @throws Error on a name's number that a later release wrote
 */
export const unpackUsage = (packed: unknown): JsonObject | true | null => {
  if (packed === true) return true;
  const usage = unpackValue(packed);
  return isJsonObject(usage) ? usage : null;
};
