/**
 * What a request says its end user is called: `user` as OpenAI has it, or `metadata.user_id` as Anthropic
 * does.
 *
 * @param body of the request
 * @returns undefined if it does not say
 */
export const getEndUser = (body: Readonly<Record<string, unknown>>): string | undefined => {
  const { user, metadata } = body as { user?: unknown; metadata?: { user_id?: unknown } | null };
  return [user, metadata?.user_id].find((name): name is string => typeof name === 'string' && name !== '');
};
