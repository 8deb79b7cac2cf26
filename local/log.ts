/**
 * Whether a line of a function's log is one of the JSON lines that tell of a request that went well: too many to
 * show unless somebody asks.
 */
export const isRequestLog = (line: string): boolean =>
  line.startsWith('{') && !line.includes('"level":"error"') && !line.includes('"outcome":"failed"');
