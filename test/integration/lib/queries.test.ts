import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../../api/routes.ts';
import { queries } from '../../../lib/queries.ts';
import { linesOfTheLog } from '../../support/log-lines.ts';
import { startService, type TestService } from '../../support/service.ts';
import { resourcesOf, root, synthesize } from '../../support/synth.ts';

/** The words of the language that these queries are written in. */
const language = new Set(
  'filter fields stats sort limit by as asc desc and or like count sum pct max message request authorizer refused error REPORT'.split(
    ' ',
  ),
);

/**
 * The fields of log lines that a query reads: its words, but for texts, the language, its own names
 * (`as …`) and Logs Insights' own fields (`@…`).
 */
const fieldsOf = (query: string): string[] => {
  const bare = query.replace(/"[^"]*"|\/[^/\n]+\//g, ' ');
  const own = new Set([...bare.matchAll(/\bas (\w+)/g)].map(([, name]) => name));
  const words = bare.match(/(?<![@\w.])[a-zA-Z][\w.]*/g) ?? [];
  return [...new Set(words)].filter((word) => !language.has(word) && !own.has(word));
};

const pathsIn = (value: unknown, path = ''): string[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, inner]) => pathsIn(inner, path ? `${path}.${key}` : key))
    : [path];

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

describe('the saved queries', () => {
  it('read fields that log lines have', async () => {
    const project_id = 'acme/queries';
    await (await service.post('/calls/stream_query', { project_id })).text();
    await (await service.post('/calls/stream_query', { project_id, limit: 'x' })).text();
    const lines = () => linesOfTheLog(service.logged);
    await expect.poll(() => lines().filter(({ message }) => message === 'request').length).toBe(2);
    // A failure's and an X-Ray trace's are not to be had here.
    const known = new Set([
      ...lines().flatMap((line) => pathsIn(line)),
      'error.name',
      'error.message',
      'traceId',
    ]);
    known.add('reason');
    for (const [name, query] of Object.entries(queries)) {
      const unknown = fieldsOf(query).filter((field) => !known.has(field));
      expect({ name, unknown }).toEqual({ name, unknown: [] });
    }
  });

  it('are in the template, over the logs of all functions', () => {
    const saved = [...resourcesOf(synthesize(), 'AWS::Logs::QueryDefinition').values()];
    expect(saved).toHaveLength(Object.keys(queries).length);
    for (const { Properties } of saved) {
      expect(Properties.LogGroupNames).toHaveLength(routes.length + 1);
      expect(Object.values(queries)).toContain(Properties.QueryString);
    }
  });

  it('take no more logs than Logs Insights does, 50', () => {
    expect(routes.length + 1).toBeLessThanOrEqual(50);
  });

  it('are all described to operators', () => {
    const page = readFileSync(join(root, 'docs/operations.md'), 'utf8');
    for (const name of Object.keys(queries)) expect(page).toContain(`| ${name} |`);
  });
});
