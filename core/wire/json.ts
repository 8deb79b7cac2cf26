/** Any JSON value, as `JSON.parse` gives it. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** A JSON object. Keys may be anything, `__proto__` included: read them with `Object.hasOwn`. */
export interface JsonObject {
  [key: string]: JsonValue;
}

/** How deep lists and objects may nest in one free-form value; `JSON.stringify` overflows the stack far beyond it. */
export const maxDepth = 512;

/** Whether the value is a JSON object: neither null nor a list. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether lists and objects nest at most `levels` deep in the value; a scalar is 0 deep. */
export const nestsWithin = (value: unknown, levels: number): boolean => {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (!nestsWithin(item, levels - 1)) return false;
    return true;
  }
  for (const key in value) if (!nestsWithin((value as JsonObject)[key], levels - 1)) return false;
  return true;
};

/** The size of a text in UTF-8, in bytes. */
export const utf8Length = (text: string): number => Buffer.byteLength(text, 'utf8');
