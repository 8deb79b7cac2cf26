import type { StackSpec } from './template/stack.ts';

/**
 * Whether a line of a function's log is one of the JSON lines that tell of a request that went
 * well: too many to show unless somebody asks.
 */
export const isRequestLog = (line: string): boolean =>
  line.startsWith('{') && !line.includes('"level":"error"');

/**
 * Gives what a function's lines begin with, by its name: the route that it answers, or
 * `authorizer`; else the name itself.
 */
export const sourceNames = ({ api }: Pick<StackSpec, 'api'>): ((name: string) => string) => {
  const sources = new Map(api.routes.map(({ function: { name }, path }) => [name, path]));
  for (const { authorizer } of api.routes)
    if (authorizer) sources.set(authorizer.function.name, 'authorizer');
  return (name) => sources.get(name) ?? name;
};
