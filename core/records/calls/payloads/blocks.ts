import {
  hasExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  problemOf,
} from '../../../foundations/wire/index.ts';
import type { CallEnd, CallStart } from '../model.ts';

/*
 * A block is the payload of a call's start or end. It holds the free-form fields as JSON, one per
 * line with a line end, in the order below. JSON text has no raw line breaks, so a block is split
 * into fields without being parsed.
 */

/** The fields of a start's block and of an end's, in order. */
export const startFields = ['attributes', 'inputs'] as const;
export const endFields = ['output', 'summary', 'exception'] as const;

export type StartField = (typeof startFields)[number];
export type EndField = (typeof endFields)[number];
/** A field of a call that is in its payload and not in its header. */
export type PayloadField = StartField | EndField;

/**
 * A call's payload as JSON text by field. Without an end, the end's fields are `null` and the
 * summary is `{}`.
 */
export type Payload = Readonly<Record<PayloadField, string>>;

const toBlock = (values: readonly JsonValue[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');

/** The block of a start, as JSON lines. */
export const startBlock = (start: Pick<CallStart, StartField>): string =>
  toBlock([start.attributes, start.inputs]);

/** The block of an end, as JSON lines. */
export const endBlock = (end: Pick<CallEnd, EndField>): string =>
  toBlock([end.output, end.summary, end.exception]);

/** The end's fields of a call without an end. */
const noEnd = { output: 'null', summary: '{}', exception: 'null' } as const;

/** Splits a block (UTF-8) into the JSON text of its fields, in order. */
export const blockFields = (block: Uint8Array): string[] => {
  const text = Buffer.from(block.buffer, block.byteOffset, block.byteLength).toString('utf8');
  return text.slice(0, -1).split('\n');
};

/** Joins the fields of a start's block and an end's to the payload of a call. */
export const toPayload = (start: readonly string[], end: readonly string[] | null): Payload => {
  const [attributes = '{}', inputs = '{}'] = start;
  if (end === null) return { attributes, inputs, ...noEnd };
  const [output = 'null', summary = '{}', exception = 'null'] = end;
  return { attributes, inputs, output, summary, exception };
};

const maxUsageLength = 256;
const maxUsageDepth = 4;

/**
 * The value of `summary.usage` for the header: an object of at most 256 characters of JSON and 4
 * levels, without exact numbers or lone surrogates. True if it is something else, or if a key of
 * the summary starts with `usage.`. Null if there is none.
 */
export const smallUsage = (summary: JsonObject): JsonObject | true | null => {
  if (Object.keys(summary).some((key) => key.startsWith('usage.'))) return true;
  if (!Object.hasOwn(summary, 'usage')) return null;
  const { usage } = summary;
  if (!isJsonObject(usage) || problemOf(usage, maxUsageDepth)) return true;
  const text = JSON.stringify(usage);
  // The header's codec rejects the key that would set a prototype, and keeps texts as UTF-8. JSON
  // escapes lone surrogates, and no others.
  const isPlain = !text.includes('__proto__') && !text.includes('\\ud');
  const fits = text.length <= maxUsageLength && isPlain && !hasExactNumber(text);
  return fits ? usage : true;
};
