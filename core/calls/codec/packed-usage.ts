import { isJsonObject, type JsonObject, type JsonValue } from '../../wire/index.ts';

/*
 * Most `summary.usage` values consist of the same few names, in each of the header's three or four
 * rows. Numbers replace the names here. An object becomes a list of alternating keys and values.
 */

/**
 * Names that clients and providers use, by number. Stored headers hold the numbers: append only,
 * never change.
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
    if (name === undefined) throw new Error(`a header whose usage has the unknown name ${String(key)}`);
    entries.push([name, unpackValue(packed[i + 1])]);
  }
  // Unlike assignment, this makes `__proto__` a field too.
  return Object.fromEntries(entries);
};

/**
 * Packs usage for a header. A value that contains lists stays an object; no known client sends one.
 */
export const packUsage = (usage: JsonObject | true | null): unknown =>
  usage === true || usage === null || holdsList(usage) ? usage : packValue(usage);

/**
 * Reverses {@link packUsage}.
 *
 * @throws Error if a later release wrote a name's number
 */
export const unpackUsage = (packed: unknown): JsonObject | true | null => {
  if (packed === true) return true;
  const usage = unpackValue(packed);
  return isJsonObject(usage) ? usage : null;
};
