import { useNavigate } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import { useKeys } from '../../ui/use-keys.ts';
import type { CallList } from './call-list.ts';
import type { ListState } from './list-state.ts';
import type { usePicked } from './use-picked.ts';

/** The row that the keyboard is at. The list keeps it, for a reader who comes back. */
const useActive = (list: CallList) => {
  const [, setMoves] = useState(0);
  const setActive = useCallback(
    (placeFrom: (before: number) => number) => {
      list.active = placeFrom(list.active);
      setMoves((moves) => moves + 1);
    },
    [list],
  );
  return [list.active, setActive] as const;
};

/** The keyboard of the list: which row it is at, and what its keys do. */
export const useListKeys = (
  list: CallList,
  rows: ListState['rows'],
  project: string,
  focusSearch: () => void,
  refresh: () => void,
  { pick, compare }: ReturnType<typeof usePicked>,
) => {
  const navigate = useNavigate();
  const [active, setActive] = useActive(list);
  const [help, setHelp] = useState(false);
  const actions = useMemo(() => {
    const move = (by: number) =>
      setActive((at) => Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + by)));
    const open = () => {
      const row = rows[active];
      if (!row) return;
      const call = row.parent_id ? { call: row.id } : {};
      navigate({ to: '/trace', search: { project, trace: row.trace_id, ...call } });
    };
    return {
      j: () => move(1),
      ArrowDown: () => move(1),
      k: () => move(-1),
      ArrowUp: () => move(-1),
      Enter: open,
      x: () => {
        const row = rows[active];
        if (row) pick(row.id);
      },
      c: compare,
      '/': focusSearch,
      r: refresh,
      '?': () => setHelp(true),
    };
  }, [rows, active, setActive, navigate, project, focusSearch, refresh, pick, compare]);
  useKeys(actions);
  return { active, setActive, help, setHelp };
};
