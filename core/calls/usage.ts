import { isJsonObject, type JsonObject, type JsonValue } from '../wire/index.ts';

/** The keys that tracing libraries write into `summary.usage`, in an order that stored headers rely on: new ones go to the end. */
const commonKeys = [
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'requests',
  'input_tokens',
  'output_tokens',
] as const;

/** A common key is stored as one control character, from U+0001 on, which {@link isPackable} keeps out of all other keys. */
const shortOf = new Map<string, string>(commonKeys.map((key, i) => [key, String.fromCharCode(i + 1)]));
const longOf = new Map([...shortOf].map(([key, short]) => [short, key]));

/** Whether JSON text has none of the characters that common keys are stored as, nor the key that the header's codec refuses. */
export const isPackable = (json: string): boolean => !json.includes('\\u000') && !json.includes('__proto__');

const renamed = (value: JsonValue, names: ReadonlyMap<string, string>): JsonValue =>
  isJsonObject(value)
    ? Object.fromEntries(
        Object.entries(value).map(([key, inner]) => [names.get(key) ?? key, renamed(inner, names)]),
      )
    : value;

/** A usage as a header holds it: its common keys are a byte each, at every depth that is not within a list. */
export const packUsage = (usage: JsonObject): JsonValue => renamed(usage, shortOf);

/** Undoes {@link packUsage}. */
export const unpackUsage = (packed: JsonValue): JsonValue => renamed(packed, longOf);
