/**
 * A construct id from a handler's or a type's name: `calls/stream_query` and `CALLS_STREAM_QUERY` →
 * `CallsStreamQuery`.
 */
export const constructId = (name: string): string =>
  name
    .split(/[^a-zA-Z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase())
    .join('');
