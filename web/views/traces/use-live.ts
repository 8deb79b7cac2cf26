import { useEffect } from 'react';
import type { CallRow } from '../../api/calls.ts';
import type { CallList } from './call-list.ts';

/** How often the live mode looks for new calls, in ms. */
const intervalMs = 4000;

type Rows = readonly CallRow[];

/**
 * Looks for new calls again and again while the list is live and the page is in sight.
 *
 * @param onAdded is told the rows before a look that changed them, and those after it
 */
export const useLive = (
  live: boolean,
  list: CallList,
  onAdded: (before: Rows, after: Rows) => void,
): void => {
  useEffect(() => {
    if (!live) return;
    const ending = new AbortController();
    const look = async () => {
      if (document.hidden) return;
      const before = list.snapshot().rows;
      await list.catchUp(Date.now(), ending.signal);
      const after = list.snapshot().rows;
      if (after !== before && !ending.signal.aborted) onAdded(before, after);
    };
    const timer = setInterval(look, intervalMs);
    return () => {
      ending.abort();
      clearInterval(timer);
    };
  }, [live, list, onAdded]);
};
