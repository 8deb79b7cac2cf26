import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { queries } from '../../../lib/dashboard.ts';
import { root } from '../../support/run/project.ts';
import { linesOfTheLog } from '../../support/service/log-lines.ts';
import { type SharedService, sharedService } from '../../support/service/service.ts';
import { findResources, synthesize } from '../../support/stack/template.ts';

/** The words of the language that these queries are written in. */
const language = new Set(
  'filter parse fields stats sort limit by as asc desc and or like count sum pct max message request authorizer refused error REPORT'.split(
    ' ',
  ),
);

/**
 * The fields of log lines that a query reads. They are its words, but for texts, the language, its
 * own names (`as …` and `(?<…>`) and Logs Insights' own fields (`@…`).
 */
const parseFields = (query: string): string[] => {
  const bare = query.replace(/"[^"]*"|\/[^/\n]+\//g, ' ');
  const named = [...bare.matchAll(/\bas (\w+)/g), ...query.matchAll(/\(\?<(\w+)>/g)];
  const own = new Set(named.map(([, name]) => name));
  const words = bare.match(/(?<![@\w.])[a-zA-Z][\w.]*/g) ?? [];
  return [...new Set(words)].filter((word) => !language.has(word) && !own.has(word));
};

const pathsIn = (value: unknown, path = ''): string[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, inner]) => pathsIn(inner, path ? `${path}.${key}` : key))
    : [path];

const template = synthesize();

/** The names of the logs that functions write, each once, as JSON. */
const logsOfFunctions = [
  ...new Set(
    [...findResources(template, 'AWS::Lambda::Function').values()].map(({ Properties }) =>
      JSON.stringify((Properties.LoggingConfig as { LogGroup: unknown }).LogGroup),
    ),
  ),
];

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

describe('the saved queries', () => {
  it('read fields that log lines have', async () => {
    const project_id = 'acme/queries';
    const before = service.logged.length;
    await (await service.post('/calls/stream_query', { project_id })).text();
    await (await service.post('/calls/stream_query', { project_id, limit: 'x' })).text();
    const lines = () => linesOfTheLog(service.logged.slice(before));
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
      const unknown = parseFields(query).filter((field) => !known.has(field));
      expect({ name, unknown }).toEqual({ name, unknown: [] });
    }
  });

  it('are in the template, over the logs of all functions', () => {
    const saved = [...findResources(template, 'AWS::Logs::QueryDefinition').values()];
    expect(saved).toHaveLength(Object.keys(queries).length);
    for (const { Properties } of saved) {
      const names = (Properties.LogGroupNames as unknown[]).map((name) => JSON.stringify(name));
      expect(names.toSorted()).toEqual(logsOfFunctions.toSorted());
      expect(Object.values(queries)).toContain(Properties.QueryString);
    }
  });

  it('read at most 50 logs, the limit of Logs Insights', () => {
    expect(logsOfFunctions.length).toBeLessThanOrEqual(50);
  });

  it.each(['Failures', 'One request', 'Cost of functions'] as const)(
    '%s takes the name of the function from the name that Lambda gives a log stream',
    (name) => {
      const [, pattern = ''] = /parse @logStream \/(.+)\//.exec(queries[name]) ?? [];
      const streams = [
        '2026/11/21/Pennytrace-FunctionsCallUpsertBatchFunction4F5A6B7C-aBcDeF123456[$LATEST]0f1e2d3c4b5a69788796a5b4c3d2e1f0',
        '2026/11/21/Pennytrace-AuthAuthorizerFunction5D6E7F80-gHiJkL789012[12][0f1e2d3c4b5a69788796a5b4c3d2e1f0]',
      ];
      expect(streams.map((stream) => new RegExp(pattern).exec(stream)?.groups?.functionName)).toEqual([
        'Pennytrace-FunctionsCallUpsertBatchFunction4F5A6B7C-aBcDeF123456',
        'Pennytrace-AuthAuthorizerFunction5D6E7F80-gHiJkL789012',
      ]);
    },
  );

  it('are all described to operators', () => {
    const page = readFileSync(join(root, 'docs/operations.md'), 'utf8');
    for (const name of Object.keys(queries)) expect(page).toContain(`| ${name} |`);
  });
});
