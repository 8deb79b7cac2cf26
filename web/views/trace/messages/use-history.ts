import { useMemo } from 'react';
import type { CallRow } from '../../../api/calls.ts';
import type { Call } from '../../../api/types.ts';
import { useCall } from '../use-trace.ts';
import { type Conversation, conversationOf, sharedWith } from './conversation.ts';

/** How many earlier calls are read at most. */
const maxRead = 3;

/**
 * Earlier calls of the same operation, the likeliest to begin alike first: the last one below the
 * same parent, then the last ones anywhere. Agents below it have conversations of their own.
 */
export const earlierCalls = (calls: readonly CallRow[], call: CallRow): CallRow[] => {
  const at = calls.findIndex(({ id }) => id === call.id);
  const last = calls
    .slice(0, Math.max(0, at))
    .filter(({ op_name }) => op_name === call.op_name)
    .reverse();
  const parentOf = ({ parent_id = null }: CallRow) => parent_id;
  const beside = last.find((earlier) => parentOf(earlier) === parentOf(call));
  return [...new Set([...(beside ? [beside] : []), ...last])].slice(0, maxRead);
};

/** How many first messages an earlier call had sent already; undefined until it is read. */
const useShared = (
  project: string,
  earlier: CallRow | undefined,
  raw: readonly unknown[],
): number | undefined => {
  const { data } = useCall(project, earlier);
  return useMemo(() => {
    if (data === undefined) return undefined;
    const sent = data && conversationOf(data)?.raw;
    return sent ? sharedWith(raw, sent) : 0;
  }, [data, raw]);
};

/**
 * How many of a conversation's first messages an earlier call had sent already. Of the earlier
 * calls it reads one, and the next only if they have nothing in common.
 */
export const useHistory = (call: Call, calls: readonly CallRow[], { raw }: Conversation): number => {
  const [first, second, third] = useMemo(() => earlierCalls(calls, call), [calls, call]);
  const { project_id } = call;
  const ofFirst = useShared(project_id, first, raw);
  const ofSecond = useShared(project_id, ofFirst === 0 ? second : undefined, raw);
  const ofThird = useShared(project_id, ofSecond === 0 ? third : undefined, raw);
  return ofFirst || ofSecond || ofThird || 0;
};
