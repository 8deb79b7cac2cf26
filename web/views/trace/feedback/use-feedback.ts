import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { CallRow } from '../../../api/calls.ts';
import { wordsOf } from '../../../api/errors.ts';
import { feedbackOf, give, type Kind, ownOf, type Payload, takeBack } from '../../../api/feedback.ts';
import type { Call, CallFeedback } from '../../../api/types.ts';
import { allows } from '../../../session/grants.ts';
import { useSession } from '../../../session/session.tsx';
import { CallList } from '../../traces/call-list.ts';

const withFeedback = <Row extends Pick<CallRow, 'summary'>>(
  row: Row,
  change: (records: readonly CallFeedback[]) => readonly CallFeedback[],
  service: string,
): Row =>
  ({
    ...row,
    summary: { ...row.summary, svc: { ...row.summary?.svc, feedback: change(feedbackOf(row, service)) } },
  }) as Row;

/**
 * The feedback on a call, and what changes it. What was stored goes into what is on the screen and
 * in the cache, so that nothing is read again.
 */
export const useFeedback = (call: Call) => {
  const { client, me } = useSession();
  const cache = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const { name } = me.service;
  const records = feedbackOf(call, name);
  const apply = (change: (records: readonly CallFeedback[]) => readonly CallFeedback[]) => {
    cache.setQueriesData<Call | null>(
      { queryKey: ['call', me.key_id, call.project_id, call.id] },
      (before) => (before ? withFeedback(before, change, name) : before),
    );
    for (const [, list] of cache.getQueriesData({ queryKey: ['calls', me.key_id] }))
      if (list instanceof CallList) list.change(call.id, (row) => withFeedback(row, change, name));
  };
  const run = async (work: () => Promise<void>) => {
    setBusy(true);
    setError(undefined);
    try {
      await work();
    } catch (failure) {
      setError(wordsOf(failure));
    } finally {
      setBusy(false);
    }
  };
  const own = (kind: Kind) => ownOf(records, kind, me.user);
  return {
    records,
    own,
    busy,
    error,
    mayGive: allows(me, call.project_id, 'write'),
    give: (kind: Kind, payload: Payload) =>
      run(async () => {
        const before = own(kind);
        const given = await give(client, name, call, kind, payload, before);
        apply((all) => [...all.filter(({ id }) => id !== before?.id), given]);
      }),
    takeBack: (kind: Kind) =>
      run(async () => {
        const before = own(kind);
        if (!before) return;
        await takeBack(client, call.project_id, before);
        apply((all) => all.filter(({ id }) => id !== before.id));
      }),
  };
};

/** The feedback on a call, and what changes it. */
export type FeedbackState = ReturnType<typeof useFeedback>;
