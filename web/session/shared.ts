import type { Client } from '../api/client.ts';
import type { Call, CallRow, CallsQuery } from '../api/contract.ts';
import { apiUrl, connectionFailure, RequestFailed, readChunks, splitLines, toFailure } from '../api/http.ts';
import { isObject } from '../data/values.ts';

/*
 * A trace that somebody reads by a public link: one request, and what components ask is answered with what it
 * brought.
 */

/** What the request brought. */
export interface SharedTrace {
  readonly trace: string;
  readonly project: string;
  /** When the link ends, ISO 8601. */
  readonly expiresAt: string;
  /** In order of their start. */
  readonly calls: readonly CallRow[];
  /** Whether these are all calls of the trace. */
  readonly complete: boolean;
}

interface Line {
  readonly shared?: { readonly trace_id: string; readonly expires_at: string };
  readonly call?: CallRow;
  readonly end?: { readonly complete: boolean };
}

const request = (token: string, signal: AbortSignal): Promise<Response> =>
  fetch(new URL('shared/read', apiUrl()), {
    method: 'POST',
    headers: { accept: 'application/jsonl', 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
    signal,
    credentials: 'omit',
    cache: 'no-store',
    referrerPolicy: 'no-referrer',
  }).catch((error: unknown) => {
    throw connectionFailure(error, false);
  });

const cutOff = () => connectionFailure(undefined, true);

/**
 * Reads the trace of a link.
 *
 * @throws RequestFailed in words for people
 */
export const readShared = async (token: string, signal: AbortSignal): Promise<SharedTrace> => {
  const response = await request(token, signal);
  if (response.status === 404 || response.status === 422)
    throw new RequestFailed('This link does not work: it has expired, was revoked, or is incomplete.', 404);
  if (!response.ok) throw await toFailure(response);
  if (!response.body) throw cutOff();
  let head: Line['shared'];
  let end: Line['end'];
  const calls: CallRow[] = [];
  try {
    for await (const lines of splitLines(readChunks(response.body)))
      for (const text of lines) {
        const line = JSON.parse(text) as Line;
        head ??= line.shared;
        end ??= line.end;
        if (line.call) calls.push(line.call);
      }
  } catch (error) {
    throw connectionFailure(error, true);
  }
  if (!head || !end) throw cutOff();
  return {
    trace: head.trace_id,
    project: calls[0]?.project_id ?? '',
    expiresAt: head.expires_at,
    calls,
    complete: end.complete,
  };
};

/** The units of the prices that calls cost, in the shape of a project's own prices. */
const pricesIn = (calls: readonly CallRow[]) => {
  const costs = calls.flatMap(({ summary }) => Object.values(summary?.svc?.costs ?? {}));
  return { results: costs.filter(isObject) };
};

/** Where a text is looked for in a call, as JSON. */
const textsOf = ({ inputs, output, exception, attributes }: CallRow): string =>
  JSON.stringify([inputs, output, exception, attributes]).toLowerCase();

/** The text that a query looks for in contents; undefined if it looks for none. */
const soughtIn = (query: unknown): string | undefined => {
  const found = /"substr":\{"\$literal":("(?:[^"\\]|\\.)*")/.exec(JSON.stringify(query ?? null));
  return found ? (JSON.parse(found[1] ?? '""') as string).toLowerCase() : undefined;
};

/** Answers a query over calls, as far as a trace asks any. */
const queryCalls = ({ calls, trace }: SharedTrace, { filter, query }: CallsQuery): CallRow[] => {
  const { call_ids: ids, trace_ids: traces } = filter ?? {};
  if (ids) {
    const asked = new Set(ids);
    return calls.filter(({ id }) => asked.has(id));
  }
  if (!traces?.includes(trace)) return [];
  const sought = soughtIn(query);
  if (sought === undefined) return [...calls];
  const inJson = JSON.stringify(sought).slice(1, -1);
  return calls.filter((call) => textsOf(call).includes(inJson));
};

const refuse = (): never => {
  throw new RequestFailed('A public link shows one trace and nothing else.', 403);
};

/** What filled the windows of requests, or of the one that is asked for. */
const readContext = async ({ calls }: SharedTrace, body: unknown) => {
  const { toContext } = await import('./shared-totals.ts');
  const { id, ids = [] } = body as { readonly id?: string; readonly ids?: readonly string[] };
  const contextOf = (asked: string) => {
    const call = calls.find((call) => call.id === asked);
    return call && toContext(call);
  };
  if (id === undefined) return { contexts: ids.flatMap((asked) => contextOf(asked) ?? []) };
  const context = contextOf(id);
  if (context) return context;
  throw new RequestFailed('This call is no request to a model: it has no messages and no usage.', 422);
};

/** The API as far as a public link goes: it sends nothing. */
export const sharedClient = (shared: SharedTrace): Client => {
  const stream = async function* (path: string, body: unknown): AsyncGenerator<CallRow[]> {
    if (path !== '/calls/stream_query') refuse();
    yield queryCalls(shared, body as CallsQuery);
  };
  const ask = async (path: string, body: unknown): Promise<unknown> => {
    if (path === '/cost/query') return pricesIn(shared.calls);
    if (path === '/trace/agents')
      return (await import('./shared-totals.ts')).toTraceAgents(shared.trace, shared.calls);
    if (path === '/call/context') return readContext(shared, body);
    if (path !== '/call/read') return refuse();
    const { id } = body as { readonly id: string };
    return { call: (shared.calls.find((call) => call.id === id) as Call | undefined) ?? null };
  };
  return {
    ask: ask as Client['ask'],
    stream: stream as Client['stream'],
    streamWithText: refuse,
    download: async () => refuse(),
    askModel: async () => refuse(),
    readModel: async () => refuse(),
    wake: () => {},
  };
};

/** The session of a public link: nobody's, who may read the project as far as the link goes. */
export const sharedSession = (shared: SharedTrace) => ({
  me: {
    user: '',
    kind: 'key' as const,
    key_id: 'shared',
    expires_at: shared.expiresAt,
    grants: [{ resource: shared.project, role: 'read' as const }],
    service: { name: 'svc', version: '' },
  },
  client: sharedClient(shared),
  signOut: () => {},
  isShared: true,
});
