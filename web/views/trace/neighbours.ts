import { useQueryClient } from '@tanstack/react-query';
import type { CallRow } from '../../api/calls.ts';
import { useKept, useSession } from '../../session/session.tsx';
import type { TracesSearch } from '../search.ts';
import type { CallList } from '../traces/call-list.ts';
import { askedOf } from '../traces/layout.ts';

/** The list that a trace was opened from, as its reader left it, with the rows around the trace. */
export const useNeighbours = (project: string, trace: string) => {
  const { me } = useSession();
  const cache = useQueryClient();
  const [search] = useKept<TracesSearch>('kept list', project, { project });
  const list = cache.getQueryData<{ readonly store: CallList }>(['calls', me.key_id, askedOf(search)])?.store;
  const rows = list?.snapshot().rows ?? [];
  const isHere = (row: CallRow | undefined) => row?.trace_id === trace;
  const at = list && isHere(rows[list.active]) ? list.active : rows.findIndex(isHere);
  return {
    search,
    /** The place of the trace in its list, from 1; undefined if it is in none. */
    place: at < 0 ? undefined : at + 1,
    mayGo: (by: 1 | -1) => at >= 0 && (by < 0 ? at > 0 : at < rows.length - 1 || !list?.snapshot().complete),
    /** The row before or after the trace, which the list then is at; undefined if there is none. */
    step: async (by: 1 | -1): Promise<CallRow | undefined> => {
      if (!list || at < 0) return undefined;
      if (at + by >= list.snapshot().rows.length) await list.more();
      const row = list.snapshot().rows[at + by];
      if (row) list.active = at + by;
      return row;
    },
  };
};
