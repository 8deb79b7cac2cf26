/**
 * What a dotted path leads to; undefined for nothing. Like the service, it tries the longest key
 * first, since a key may hold dots itself (`summary.usage.gpt-4.1.total_tokens`).
 */
export const valueAt = (value: unknown, path: string): unknown => {
  if (path === '') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1)) {
    const key = path.slice(0, end);
    if (!Object.hasOwn(value, key)) continue;
    const found = valueAt((value as Record<string, unknown>)[key], path.slice(end + 1));
    if (found !== undefined) return found;
  }
  return undefined;
};
