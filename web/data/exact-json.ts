/* TypeScript does not know these yet: https://tc39.es/proposal-json-parse-with-source. */
const { rawJSON } = JSON as { readonly rawJSON?: (text: string) => unknown };
type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

const exact: Reviver = (_key, value, context) => {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined || String(value) === source) return value;
  return rawJSON ? rawJSON(source) : value;
};

/**
 * Parses JSON to be written again. A number that JavaScript would write otherwise, as 1.0 or one
 * beyond 2^53, becomes an object that `JSON.stringify` writes as it was. Browsers before 2025 may
 * lack that, and round such a number.
 */
export const parseToWrite = (text: string): unknown =>
  JSON.parse(text, exact as Parameters<typeof JSON.parse>[1]);
