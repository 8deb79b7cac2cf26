/*
 * JSON says more about a number than a double keeps: `1.0` is not `1` to Python, and
 * 12345678901234567890 is no double. Whatever JavaScript would write differently than it was
 * written is kept as an ExactNumber (docs/decisions/0187).
 */

/** What ECMAScript has and the compiler's library does not know yet. */
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };

const integerText = /^-?\d+$/;

/** A number of a JSON text that JavaScript would write differently. It keeps its text. */
export class ExactNumber {
  readonly #text: string;

  /** @param text a number as JSON has it, within the range of a double */
  constructor(text: string) {
    this.#text = text;
  }

  /** The number as it was written. */
  get text(): string {
    return this.#text;
  }

  /** The nearest double. */
  valueOf(): number {
    return Number(this.#text);
  }

  toString(): string {
    return this.#text;
  }

  toJSON(): unknown {
    return rawJSON(this.#text);
  }
}

/** Whether a value is a number, exact or not. */
export const isNumber = (value: unknown): value is number | ExactNumber =>
  typeof value === 'number' || value instanceof ExactNumber;

/** An exact number as the nearest double; any other value as it is. */
export const plainNumber = <T>(value: T): Exclude<T, ExactNumber> | number =>
  value instanceof ExactNumber ? value.valueOf() : (value as Exclude<T, ExactNumber>);

const toBigInt = (value: number | ExactNumber): bigint | undefined => {
  const text = String(value);
  return integerText.test(text) ? BigInt(text) : undefined;
};

/** Compares numbers: integers exactly, all else as doubles. */
export const compareNumbers = (a: number | ExactNumber, b: number | ExactNumber): number => {
  const order = Number(a) - Number(b);
  if (order !== 0 || (typeof a === 'number' && typeof b === 'number')) return order;
  const x = toBigInt(a);
  const y = toBigInt(b);
  return x === undefined || y === undefined || x === y ? 0 : x < y ? -1 : 1;
};

/**
 * A number as canonical JSON: an integer by its digits, anything else by its double, as ECMAScript
 * writes it. A double that is whole ends with `.0`, so that it differs from an integer.
 */
const canonicalNumber = (value: ExactNumber): string => {
  if (integerText.test(value.text)) return value.text === '-0' ? '0' : value.text;
  const number = value.valueOf();
  const text = Object.is(number, -0) ? '-0' : String(number);
  return integerText.test(text) ? `${text}.0` : text;
};

const backslash = 92;
const numberToken = /-?\d[\d.eE+-]*/g;

/** The index of the quote that ends a string; the text's length if none does. */
const stringEnd = (text: string, opening: number): number => {
  for (let quote = text.indexOf('"', opening + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let before = quote - 1;
    while (text.charCodeAt(before) === backslash) before--;
    if ((quote - before) % 2 === 1) return quote;
  }
  return text.length;
};

/** Whether there is a digit in a part of a text. */
const hasDigit = (text: string, from: number, to: number): boolean => {
  for (let at = from; at < to; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 48 && unit <= 57) return true;
  }
  return false;
};

/**
 * Whether a JSON text has a number that JavaScript would write differently. It looks only between
 * strings, which are most of a text: that takes less time than parsing it does.
 */
export const hasExactNumber = (text: string): boolean => {
  let from = 0;
  while (from < text.length) {
    const quote = text.indexOf('"', from);
    const to = quote < 0 ? text.length : quote;
    if (hasDigit(text, from, to))
      for (const [token] of text.slice(from, to).matchAll(numberToken))
        if (String(Number(token)) !== token) return true;
    if (quote < 0) return false;
    from = stringEnd(text, quote) + 1;
  }
  return false;
};

const exactly = (_: string, value: unknown, context?: { readonly source?: string }): unknown => {
  if (typeof value !== 'number' || !Number.isFinite(value)) return value;
  const { source = '' } = context ?? {};
  return source === String(value) ? value : new ExactNumber(source);
};

/**
 * Parses JSON as JSON.parse does, but keeps numbers as they were written.
 *
 * @throws SyntaxError if the text is not JSON
 */
export const parseJson = (text: string): unknown =>
  hasExactNumber(text) ? JSON.parse(text, exactly) : JSON.parse(text);

/** Any JSON value, as `parseJson` gives it. */
export type JsonValue = null | boolean | number | ExactNumber | string | JsonValue[] | JsonObject;

/** A JSON object. Keys may be anything, `__proto__` included: read them with `Object.hasOwn`. */
export interface JsonObject {
  [key: string]: JsonValue;
}

/** The JSON value of a text; undefined if the text is not JSON. */
export const parseOptionalJson = (text: string): JsonValue | undefined => {
  try {
    return parseJson(text) as JsonValue;
  } catch {
    return undefined;
  }
};

/**
 * How deep lists and objects may nest in one free-form value. `JSON.stringify` overflows the stack
 * far beyond it.
 */
export const maxDepth = 512;

/** Whether the value is a JSON object: neither null nor a list, nor an exact number. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);

/**
 * What a JSON text can say and storage cannot keep: nesting without end, and numbers beyond a
 * double's.
 */
export type JsonProblem = 'too deep' | 'too large a number';

/**
 * Looks in a value for what cannot be kept.
 *
 * @param levels how deep lists and objects may nest; a scalar is 0 deep
 */
export const findProblem = (value: unknown, levels = maxDepth): JsonProblem | undefined => {
  // JSON.parse reads 1e400 as Infinity, which JSON.stringify would write as null.
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'too large a number';
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return undefined;
  if (levels === 0) return 'too deep';
  if (Array.isArray(value)) {
    for (const item of value) {
      const problem = findProblem(item, levels - 1);
      if (problem) return problem;
    }
    return undefined;
  }
  for (const key in value) {
    const problem = findProblem((value as JsonObject)[key], levels - 1);
    if (problem) return problem;
  }
  return undefined;
};

/** The size of a text in UTF-8, in bytes. */
export const utf8Length = (text: string): number => Buffer.byteLength(text, 'utf8');

/**
 * A value as canonical JSON, after RFC 8785. Equal values give the same text.
 *
 * It has no white space. Keys are in order of their UTF-16 code units. Numbers and strings are as
 * ECMAScript writes them. Lone surrogates, which the RFC leaves open, are escaped. Exact numbers go
 * beyond the RFC: they are by {@link canonicalNumber}.
 */
export const canonicalJson = (value: JsonValue): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value instanceof ExactNumber) return canonicalNumber(value);
  if (!isJsonObject(value)) return JSON.stringify(value);
  // Written by hand: an object would put keys that look like integers first, in whatever order they
  // are set.
  const fields = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`);
  return `{${fields.join(',')}}`;
};

/** A copy of a value that shares nothing with it that could be changed. */
export const copyJson = (value: JsonValue): JsonValue => {
  if (Array.isArray(value)) return value.map(copyJson);
  if (!isJsonObject(value)) return value;
  // Unlike assignment, this makes `__proto__` a field too.
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, copyJson(field)]));
};

/** A field after RFC 4180: in quotes if it holds a comma, a quote or a line break. */
const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** A value as a field: a text as it is, nothing for null, anything else as JSON. */
const csvField = (value: JsonValue | undefined): string => {
  if (value === undefined || value === null) return '';
  return quoted(typeof value === 'string' ? value : JSON.stringify(value));
};

/** Values as a line of CSV (RFC 4180), without its line break. */
export const csvLine = (values: readonly (JsonValue | undefined)[]): string => values.map(csvField).join(',');

/** The payload fields of reports, and the length of the JSON that is stored for a missing one. */
export const startPayload = { attributes: '{}'.length, inputs: '{}'.length };
export const endPayload = { output: 'null'.length, exception: 'null'.length, summary: '{}'.length };

/** Bytes of a report's JSON without the values of its payload fields. */
export const envelopeBytes = (report: object, payload: Readonly<Record<string, number>>): number => {
  const rest: Record<string, unknown> = { ...report };
  let bytes = 0;
  for (const [field, defaultLength] of Object.entries(payload)) {
    // Its name in quotes, a colon and a comma. The default that is stored for a missing field was
    // not received.
    bytes += Object.hasOwn(report, field) ? field.length + 4 : -defaultLength;
    // A null was received as such, and is stored as its default.
    if (rest[field] === null) bytes += 'null'.length - defaultLength;
    delete rest[field];
  }
  return bytes + utf8Length(JSON.stringify(rest));
};

/** A text; undefined for any other value. */
export const asString = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** A text that is not empty; undefined for any other value. */
export const nonEmptyString = (value: unknown): string | undefined => asString(value) || undefined;

/** The text of bytes in UTF-8, without a copy of them. */
export const decodeUtf8 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
