import type { CallRow } from '../../../api/calls.ts';
import type { Call } from '../../../api/types.ts';
import { useCall } from '../use-trace.ts';
import { type Conversation, conversationOf, sharedWith } from './conversation.ts';

/** The last call of the same operation that started before a call. */
const callBefore = (calls: readonly CallRow[], call: Call): CallRow | undefined => {
  const at = calls.findIndex(({ id }) => id === call.id);
  return calls.slice(0, Math.max(0, at)).findLast(({ op_name }) => op_name === call.op_name);
};

/**
 * How many of a conversation's first messages the call before it had sent already. It reads that
 * one call.
 */
export const useHistory = (
  call: Call,
  calls: readonly CallRow[],
  { raw }: Conversation,
): { readonly shared: number; readonly before: CallRow | undefined } => {
  const before = callBefore(calls, call);
  const { data } = useCall(call.project_id, before);
  const earlier = data ? conversationOf(data) : undefined;
  return { shared: earlier ? sharedWith(raw, earlier.raw) : 0, before };
};
