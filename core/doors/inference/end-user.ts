import { isJsonObject, parseJson } from '../../../foundations/wire/index.ts';

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

/** Who a request says that it is for, and the session that Claude Code says it is of. */
export const identify = ({ user, metadata }: Readonly<Record<string, unknown>>): Identity => {
  const { user_id } = isJsonObject(metadata) ? metadata : {};
  const given = text(user_id);
  const identity = given === undefined ? nobody : parseUserId(given);
  return { ...identity, userId: text(user) ?? identity.userId };
};

/**
 * What a request says its end user is called: `user` as OpenAI has it, or `metadata.user_id` as Anthropic
 * does.
 *
 * @param body of the request
 * @returns undefined if it does not say
 */
export const getEndUser = (body: Readonly<Record<string, unknown>>): string | undefined =>
  identify(body).userId;
