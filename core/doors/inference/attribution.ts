import { type CallSource, readSource, sources } from '../../../api/shared/header-fields.ts';
import { promptHeader, sourceHeader } from '../../../api/shared/headers.ts';
import {
  idRule,
  isId,
  type JsonObject,
  nonEmptyString,
  ServiceError,
} from '../../../foundations/wire/index.ts';
import { toCallId } from '../otel/span.ts';
import { identify } from './end-user.ts';
import type { InferenceBody } from './request.ts';

/** The trace that a request belongs to, by the `traceparent` of W3C Trace Context. */
export interface TraceParent {
  readonly traceId: string;
  /** The id of the parent's call. */
  readonly parentId: string;
}

/** Who a request was made for, and where. What nobody said is undefined. */
export interface Attribution {
  readonly threadId: string | undefined;
  readonly userId: string | undefined;
  /** As `attributes.agent` has it. */
  readonly agent: JsonObject | undefined;
  /** As `attributes.source` has it. */
  readonly source: CallSource | undefined;
  /** As `attributes.prompt` has it. */
  readonly prompt: JsonObject | undefined;
  readonly parent: TraceParent | undefined;
}

/** Headers by lower-case name. */
type Headers = Readonly<Record<string, string | undefined>>;

/**
 * Source: W3C Trace Context, 3.2. Later versions may have more fields. Anything else counts as no header.
 */
const traceParent = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(?:-.*)?$/;

const parseTraceParent = (header = ''): TraceParent | undefined => {
  const [, traceId, spanId] = traceParent.exec(header.trim()) ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  return { traceId, parentId: toCallId(traceId, spanId) };
};

/** The session of Claude Code. It is the thread of its telemetry, too. */
const claudeSession = 'x-claude-code-session-id';

/** Codex has its conversation in `thread-id`. */
const sessionHeaders = ['x-session-id', claudeSession, 'thread-id'] as const;

/** @throws ServiceError 422 if a header cannot be a thread's id */
const readSession = (headers: Headers): string | undefined => {
  const name = sessionHeaders.find((each) => nonEmptyString(headers[each]) !== undefined);
  const value = name && headers[name];
  if (value === undefined || isId(value)) return value;
  throw new ServiceError(422, [{ loc: ['header', name ?? ''], msg: idRule, type: 'value_error' }]);
};

/** Coding agents as their user agents name them, and as their telemetry does. */
const agents = [
  { name: 'claude-code', userAgent: /^claude-cli\/([\w.+-]{1,64})/ },
  { name: 'codex', userAgent: /^codex[\w-]*\/([\w.+-]{1,64})/ },
] as const;

/** The coding agent that asks. A sub-agent of Claude Code has an id, and no name. */
const readAgent = (headers: Headers): JsonObject | undefined => {
  const id = nonEmptyString(headers['x-claude-code-agent-id']);
  if (id !== undefined)
    return { name: nonEmptyString(headers['x-claude-code-agent-type']) ?? 'subagent', id };
  for (const { name, userAgent } of agents) {
    const [, version] = userAgent.exec(headers['user-agent'] ?? '') ?? [];
    if (version !== undefined) return { name, version };
  }
  return headers[claudeSession] === undefined ? undefined : { name: 'claude-code' };
};

/** @throws ServiceError 422 if a header names no source */
const parseSource = (header: string | undefined): CallSource | undefined => {
  const source = readSource(header);
  if (nonEmptyString(header) === undefined || source !== undefined) return source;
  const msg = `should be one of ${sources.join(', ')}`;
  throw new ServiceError(422, [{ loc: ['header', sourceHeader], msg, type: 'enum' }]);
};

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

/** The prompt of a request. No name of an object has a colon. */
const prompts = /^([^:]+)(?::([^:]+))?$/;

/** @throws ServiceError 422 if a header names no prompt */
const parsePrompt = (header: string | undefined): JsonObject | undefined => {
  if (nonEmptyString(header) === undefined) return undefined;
  const [, name, version] = (prompts.exec(header?.trim() ?? '') ?? []).map((part) => part && decoded(part));
  if (name !== undefined) return { name, ...(version !== undefined && { version }) };
  const msg = 'should be <name> or <name>:<version>, percent-encoded';
  throw new ServiceError(422, [{ loc: ['header', promptHeader], msg, type: 'value_error' }]);
};

/**
 * Reads who a request was made for, and where it belongs, from its body and headers.
 *
 * @param headers by lower-case name
 * @throws ServiceError 422 if a session's header cannot be the id of a thread, or the source or the prompt is none
 */
export const attribute = (body: InferenceBody, headers: Headers): Attribution => {
  const { userId, sessionId } = identify(body);
  const session = readSession(headers) ?? sessionId;
  return {
    threadId: session !== undefined && isId(session) ? session : undefined,
    userId,
    agent: readAgent(headers),
    source: parseSource(headers[sourceHeader]),
    prompt: parsePrompt(headers[promptHeader]),
    parent: parseTraceParent(headers.traceparent),
  };
};
