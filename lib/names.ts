/** A construct id: `CallsStreamQuery` for `calls/stream_query` and for `CALLS_STREAM_QUERY`. */
export const constructId = (name: string): string =>
  name
    .split(/[^a-zA-Z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase())
    .join('');
