import type { RouteSpec } from '../template/routes.ts';

/** The route of a request, with the decoded path parameters. */
export interface Match {
  readonly route: RouteSpec;
  readonly pathParameters: Readonly<Record<string, string>>;
}

/** Finds the route for a method and a path; undefined if there is none. */
export type Matcher = (method: string, path: string) => Match | undefined;

const segmentsOf = (path: string): string[] => path.split('/').slice(1);

const greedy = /^\{(.+)\+\}$/;
const single = /^\{(.+)\}$/;

/**
 * `0` for a fixed segment, `1` for a parameter, `2` for a greedy one. The lowest rank goes first.
 */
const rank = (segment: string): string => {
  if (greedy.test(segment)) return '2';
  return single.test(segment) ? '1' : '0';
};

const ranks = ({ path }: RouteSpec): string => segmentsOf(path).map(rank).join('');

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
};

/** The parameters of a path; undefined if it does not fit the pattern. */
const parametersOf = (
  pattern: readonly string[],
  path: readonly string[],
): Record<string, string> | undefined => {
  const parameters: Record<string, string> = {};
  for (const [at, expected] of pattern.entries()) {
    const segment = path[at];
    if (segment === undefined) return undefined;
    const [, rest] = greedy.exec(expected) ?? [];
    if (rest !== undefined) return { ...parameters, [rest]: path.slice(at).map(decoded).join('/') };
    const [, name] = single.exec(expected) ?? [];
    if (name !== undefined) parameters[name] = decoded(segment);
    else if (segment !== expected) return undefined;
  }
  return pattern.length === path.length ? parameters : undefined;
};

/**
 * Makes a matcher with API Gateway's priorities: a fixed segment, then a parameter, then `{name+}`,
 * which takes one or more segments.
 */
export const matcher = (routes: readonly RouteSpec[]): Matcher => {
  const candidates = routes
    .toSorted((a, b) => (ranks(a) < ranks(b) ? -1 : 1))
    .map((route) => ({ route, pattern: segmentsOf(route.path) }));
  return (method, path) => {
    const segments = segmentsOf(path);
    for (const { route, pattern } of candidates) {
      if (route.method !== method && route.method !== 'ANY') continue;
      const pathParameters = parametersOf(pattern, segments);
      if (pathParameters) return { route, pathParameters };
    }
    return undefined;
  };
};
