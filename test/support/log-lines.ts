/** The JSON lines among what a service logged, which has `<source>: ` before each. */
export const linesOfTheLog = (logged: readonly string[]): Record<string, unknown>[] =>
  logged
    .map((line) => line.slice(line.indexOf(': ') + 2))
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
