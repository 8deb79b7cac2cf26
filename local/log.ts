import type { StackSpec } from './template/stack.ts';

/**
 * Whether a log line is the JSON of a successful request. There are many, so they are shown on
 * demand only.
 */
export const isRequestLog = (line: string): boolean =>
  line.startsWith('{') && !line.includes('"level":"error"');

/**
 * Names the source of a function's lines: its route, or `authorizer`; the function's name
 * otherwise.
 */
export const sourceNames = ({ api }: Pick<StackSpec, 'api'>): ((name: string) => string) => {
  const sources = new Map(api.routes.map(({ function: { name }, path }) => [name, path]));
  for (const { authorizer } of api.routes)
    if (authorizer) sources.set(authorizer.function.name, 'authorizer');
  return (name) => sources.get(name) ?? name;
};
