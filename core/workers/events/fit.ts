import type { JsonObject, JsonValue } from '../../foundations/wire/index.ts';

/**
 * The most bytes of a detail. EventBridge takes 256 KB an entry, of which its other fields need a
 * little.
 */
export const maxDetailBytes = 240 * 1024;

const sizeOf = (value: JsonValue): number => Buffer.byteLength(JSON.stringify(value));

/**
 * The beginning of a value's JSON, as text. In a detail each of its quotes has a backslash, so it
 * gets half of the bytes.
 */
const beginning = (value: JsonValue, bytes: number): string =>
  new TextDecoder().decode(Buffer.from(JSON.stringify(value)).subarray(0, Math.max(0, bytes >> 1)), {
    stream: true,
  });

/**
 * Adds fields to a detail as far as they fit. The small ones come whole. Of the others the detail
 * has the beginning of their JSON as text, and `cut` names them.
 */
export const withFitting = (detail: JsonObject, fields: JsonObject): JsonObject => {
  const names = Object.keys(fields);
  const sizes = new Map(names.map((name) => [name, sizeOf(fields[name] ?? null)]));
  // A field's name, its quotes, a colon and a comma; and once more among those that were cut.
  const frames = names.reduce((sum, name) => sum + 2 * (name.length + 4), 16);
  let left = maxDetailBytes - sizeOf(detail) - frames;
  const cut = new Map<string, string>();
  for (const [at, name] of names
    .toSorted((one, other) => (sizes.get(one) ?? 0) - (sizes.get(other) ?? 0))
    .entries()) {
    const share = Math.floor(left / (names.length - at));
    const size = sizes.get(name) ?? 0;
    if (size > share) cut.set(name, beginning(fields[name] ?? null, share));
    left -= Math.min(size, share);
  }
  const fitting = names.map((name) => [name, cut.get(name) ?? fields[name] ?? null] as const);
  return {
    ...detail,
    ...Object.fromEntries(fitting),
    ...(cut.size > 0 && { cut: names.filter((name) => cut.has(name)) }),
  };
};
