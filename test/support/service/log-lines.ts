import { expect } from 'vitest';
import type { TestService } from './service.ts';

/** The JSON lines among what a service logged, which has `<source>: ` before each. */
export const linesOfTheLog = (logged: readonly string[]): Record<string, unknown>[] =>
  logged
    .map((line) => line.slice(line.indexOf(': ') + 2))
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

/** The line that the log gets of an answer's request. */
export const findLine = async (
  { logged }: Pick<TestService, 'logged'>,
  { headers }: Response,
): Promise<Record<string, unknown>> => {
  const id = headers.get('x-request-id');
  const found = () =>
    linesOfTheLog(logged).find(({ message, requestId }) => message === 'request' && requestId === id);
  await expect.poll(found).toBeDefined();
  return found() ?? {};
};
