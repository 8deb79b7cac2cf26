import { faultOf, isJsonObject, type JsonObject, type JsonValue } from '../../wire/index.ts';
import type { CallEnd, CallStart } from '../model.ts';

/*
 * A block is the payload of a call's start or end: its free-form fields as JSON, one to a line and
 * each line ended, in the order below. JSON text holds no raw line break, so a block is cut into
 * fields again without being parsed.
 */

/** The fields of a start's block and of an end's, in order. */
export const startFields = ['attributes', 'inputs'] as const;
export const endFields = ['output', 'summary', 'exception'] as const;

export type StartField = (typeof startFields)[number];
export type EndField = (typeof endFields)[number];
/** A field of a call that lies in its payload and not in its header. */
export type PayloadField = StartField | EndField;

/**
 * A call's payload as JSON text, by field. Without an end the end's fields are `null`, the summary
 * `{}`.
 */
export type Payload = Readonly<Record<PayloadField, string>>;

const toBlock = (values: readonly JsonValue[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');

/** The block of a start. */
export const startBlock = (start: Pick<CallStart, StartField>): string =>
  toBlock([start.attributes, start.inputs]);

/** The block of an end. */
export const endBlock = (end: Pick<CallEnd, EndField>): string =>
  toBlock([end.output, end.summary, end.exception]);

/** What the fields of a call without an end are. */
const noEnd = { output: 'null', summary: '{}', exception: 'null' } as const;

/** Cuts a block (UTF-8) into its fields' JSON text, in order. */
export const blockFields = (block: Uint8Array): string[] => {
  const text = Buffer.from(block.buffer, block.byteOffset, block.byteLength).toString('utf8');
  return text.slice(0, -1).split('\n');
};

/** The payload of a call, put together from the fields of its start's block and of its end's. */
export const toPayload = (start: readonly string[], end: readonly string[] | null): Payload => {
  const [attributes = '{}', inputs = '{}'] = start;
  if (end === null) return { attributes, inputs, ...noEnd };
  const [output = 'null', summary = '{}', exception = 'null'] = end;
  return { attributes, inputs, output, summary, exception };
};

const maxUsage = 256;
const deepestUsage = 4;

/**
 * `summary.usage` where it is an object of at most 256 characters of JSON and 4 levels, to ride
 * along in the header; true where it is something else, or where a key of the summary begins with
 * the same step of a dotted path; null where there is none.
 */
export const smallUsage = (summary: JsonObject): JsonObject | true | null => {
  if (Object.keys(summary).some((key) => key.startsWith('usage.'))) return true;
  if (!Object.hasOwn(summary, 'usage')) return null;
  const { usage } = summary;
  if (!isJsonObject(usage) || faultOf(usage, deepestUsage)) return true;
  const text = JSON.stringify(usage);
  // The header's codec refuses the key that would set a prototype.
  return text.length <= maxUsage && !text.includes('__proto__') ? usage : true;
};
