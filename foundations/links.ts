import type { JsonValue } from './wire/index.ts';

/*
 * Links into the page. Each view has a path of one segment and its state in the query: web/app/router.tsx
 * and web/navigation/search.ts have them, and a test compares.
 */

/** What a search holds, as the page's router writes it in a URL: a text is quoted if it would be read as other JSON. */
const written = (text: JsonValue): string => {
  if (typeof text !== 'string') return JSON.stringify(text);
  try {
    JSON.parse(text);
    return JSON.stringify(text);
  } catch {
    return text;
  }
};

const linkTo =
  (base: string) =>
  (view: string, search: Readonly<Record<string, JsonValue>>): string =>
    `${base}/ui/${view}?${new URLSearchParams(Object.entries(search).map(([name, text]): [string, string] => [name, written(text)]))}`;

/** The links of a service, of which `base` is the URL, without a slash at its end. */
export const createLinks = (base: string) => {
  const link = linkTo(base);
  return {
    project: (project: string): string => link('traces', { project }),
    overview: (project: string, from: string, to: string): string => link('overview', { project, from, to }),
    traces: (project: string, from: string, to: string): string => link('traces', { project, from, to }),
    /** All calls of a span, or those of one op. */
    calls: (project: string, from: string, to: string, op?: string): string => {
      const where = op === undefined ? {} : { where: [{ path: 'op_name', op: 'is', value: op }] };
      return link('traces', { project, from, to, all: true, ...where });
    },
    trace: (project: string, trace: string, call?: string): string =>
      link('trace', { project, trace, ...(call !== undefined && { call }) }),
    /** A call of any trace, with names in braces for who fills them in. */
    anyCall: (project: string, trace = '{trace_id}', call = '{id}'): string =>
      link('trace', { project, trace, call }).replaceAll('%7B', '{').replaceAll('%7D', '}'),
    /** A call whose trace is not known. */
    call: (project: string, call: string): string => link('call', { project, call }),
    object: (project: string, object: string, version: string | undefined): string =>
      link('objects', { project, object, ...(version !== undefined && { version }) }),
    evaluations: (project: string): string => link('evaluations', { project }),
    thread: (project: string, thread: string): string => link('thread', { project, thread }),
    compare: (project: string, left: string, right: string): string =>
      link('compare', { project, left, right }),
  };
};

export type Links = ReturnType<typeof createLinks>;
