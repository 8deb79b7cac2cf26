import { createHash } from 'node:crypto';
import { ExactNumber, isJsonObject, type JsonValue } from '../../../foundations/wire/index.ts';

/*
 * JSON as Python's `json.dumps(value, sort_keys=True)` writes it. Weave's SDKs digest it, and their
 * refs name the digest.
 */

const integerText = /^-?\d+$/;

/**
 * A double as Python's `repr` writes it: the shortest digits, with an exponent below 1e-4 and from
 * 1e16 up.
 */
const floatText = (number: number): string => {
  if (number === 0) return Object.is(number, -0) ? '-0.0' : '0.0';
  const [digits = '', exponentText = ''] = number.toExponential().split('e');
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= 16) {
    const magnitude = String(Math.abs(exponent)).padStart(2, '0');
    return `${digits}e${exponent < 0 ? '-' : '+'}${magnitude}`;
  }
  const text = String(number);
  return integerText.test(text) ? `${text}.0` : text;
};

const numberText = (value: number | ExactNumber): string => {
  const text = String(value);
  if (!integerText.test(text)) return floatText(Number(value));
  return text === '-0' ? '0' : text;
};

/** What `ensure_ascii` escapes and JSON.stringify does not. */
const beyondAscii = /[\u007f-\uffff]/g;

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

const stringText = (text: string): string => JSON.stringify(text).replace(beyondAscii, escaped);

/** Python compares texts by code point, halves of pairs too. */
const byCodePoint = (a: string, b: string): number => {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    if (a.charCodeAt(i) === b.charCodeAt(i)) continue;
    // Where a pair differs in its second half, both begin at the first.
    return (a.codePointAt(i) ?? 0) - (b.codePointAt(i) ?? 0);
  }
  return a.length - b.length;
};

/** A value as Python's `json.dumps(value, sort_keys=True)` writes it. */
export const pythonJson = (value: JsonValue): string => {
  if (typeof value === 'string') return stringText(value);
  if (typeof value === 'number' || value instanceof ExactNumber) return numberText(value);
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(', ')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const fields = Object.keys(value)
    .sort(byCodePoint)
    .map((key) => `${stringText(key)}: ${pythonJson(value[key] ?? null)}`);
  return `{${fields.join(', ')}}`;
};

/**
 * The digest of bytes, and of the JSON of values, as Weave's SDKs compute it
 * (Python: `weave/trace/serialization/digest.py`): SHA-256 in base64url, `-` as `X` and
 * `_` as `Y`, 43 characters.
 */
export const bytesDigest = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('base64url').replaceAll('-', 'X').replaceAll('_', 'Y');
