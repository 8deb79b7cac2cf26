import { isJsonObject, nonEmptyString, parseOptionalJson } from '../../../foundations/wire/index.ts';

/** A user and a session. */
interface Identity {
  readonly userId: string | undefined;
  readonly sessionId: string | undefined;
}

const nobody: Identity = { userId: undefined, sessionId: undefined };

/** As Claude Code wrote it before it was JSON. */
const joinedIds = /^(user_.+?)(?:_account_(.*?))?_session_(.+)$/;

/**
 * The user and the session in `metadata.user_id`. Claude Code writes both into it, so that each session
 * would be another user.
 */
const parseUserId = (userId: string): Identity => {
  const ids = userId.startsWith('{') ? parseOptionalJson(userId) : undefined;
  if (isJsonObject(ids)) {
    const { account_uuid, device_id, session_id } = ids;
    const userId = nonEmptyString(account_uuid) ?? nonEmptyString(device_id);
    if (userId !== undefined) return { userId, sessionId: nonEmptyString(session_id) };
  }
  const [, user, account, sessionId] = joinedIds.exec(userId) ?? [];
  return sessionId === undefined
    ? { userId, sessionId: undefined }
    : { userId: nonEmptyString(account) ?? user, sessionId };
};

/** Who a request says that it is for, and the session that Claude Code says it is of. */
export const identify = ({ user, metadata }: Readonly<Record<string, unknown>>): Identity => {
  const { user_id } = isJsonObject(metadata) ? metadata : {};
  const given = nonEmptyString(user_id);
  const identity = given === undefined ? nobody : parseUserId(given);
  return { ...identity, userId: nonEmptyString(user) ?? identity.userId };
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
