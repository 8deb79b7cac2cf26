import {
  idRule,
  isId,
  isJsonObject,
  type JsonObject,
  parseJson,
  ServiceError,
} from '../../../foundations/wire/index.ts';
import { callIdOf } from '../otel/span.ts';
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
  return { traceId, parentId: callIdOf(traceId, spanId) };
};

/** A user and a session. */
interface Identity {
  readonly userId: string | undefined;
  readonly sessionId: string | undefined;
}

const nobody: Identity = { userId: undefined, sessionId: undefined };

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

const parsed = (json: string): unknown => {
  try {
    return parseJson(json);
  } catch {
    return undefined;
  }
};

/** As Claude Code wrote it before it was JSON. */
const joinedIds = /^(user_.+?)(?:_account_(.*?))?_session_(.+)$/;

/**
 * The user and the session in `metadata.user_id`. Claude Code writes both into it, so that each session
 * would be another user.
 */
const parseUserId = (given: string): Identity => {
  const ids = given.startsWith('{') ? parsed(given) : undefined;
  if (isJsonObject(ids)) {
    const { account_uuid, device_id, session_id } = ids;
    const userId = text(account_uuid) ?? text(device_id);
    if (userId !== undefined) return { userId, sessionId: text(session_id) };
  }
  const [, user, account, sessionId] = joinedIds.exec(given) ?? [];
  return sessionId === undefined
    ? { userId: given, sessionId: undefined }
    : { userId: text(account) ?? user, sessionId };
};

const identify = ({ user, metadata }: InferenceBody): Identity => {
  const { user_id } = isJsonObject(metadata) ? metadata : {};
  const given = text(user_id);
  const identity = given === undefined ? nobody : parseUserId(given);
  return { ...identity, userId: text(user) ?? identity.userId };
};

/**
 * The end user of a request: `user`, or `metadata.user_id` of Anthropic's API.
 *
 * @returns undefined if the body names none
 */
export const endUser = (body: InferenceBody): string | undefined => identify(body).userId;

/** The session of Claude Code. It is the thread of its telemetry, too. */
const claudeSession = 'x-claude-code-session-id';

const sessionHeaders = ['x-session-id', claudeSession] as const;

/** @throws ServiceError 422 if a header cannot be a thread's id */
const readSession = (headers: Headers): string | undefined => {
  const name = sessionHeaders.find((each) => text(headers[each]) !== undefined);
  const value = name && headers[name];
  if (value === undefined || isId(value)) return value;
  throw new ServiceError(422, [{ loc: ['header', name ?? ''], msg: idRule, type: 'value_error' }]);
};

const claudeVersion = /^claude-cli\/([\w.+-]{1,64})/;

/** The agent of Claude Code that asks, by the names that its telemetry gives to agents. */
const readAgent = (headers: Headers): JsonObject | undefined => {
  const id = text(headers['x-claude-code-agent-id']);
  if (id !== undefined) return { name: text(headers['x-claude-code-agent-type']) ?? 'subagent', id };
  if (headers[claudeSession] === undefined) return undefined;
  const [, version] = claudeVersion.exec(headers['user-agent'] ?? '') ?? [];
  return { name: 'claude-code', ...(version !== undefined && { version }) };
};

/**
 * Reads who a request was made for, and where it belongs, from its body and headers.
 *
 * @param headers by lower-case name
 * @throws ServiceError 422 if a session's header cannot be the id of a thread
 */
export const attribute = (body: InferenceBody, headers: Headers): Attribution => {
  const { userId, sessionId } = identify(body);
  const session = readSession(headers) ?? sessionId;
  return {
    threadId: session !== undefined && isId(session) ? session : undefined,
    userId,
    agent: readAgent(headers),
    parent: parseTraceParent(headers.traceparent),
  };
};
