import { useEffect } from 'react';
import type { CallList } from './call-list.ts';

/** How often the live mode looks for new calls, in ms. */
const intervalMs = 4000;

/** Looks for new calls again and again while the list is live and the page is in sight. */
export const useLive = (live: boolean, list: CallList, onAdded: (count: number) => void): void => {
  useEffect(() => {
    if (!live) return;
    const ending = new AbortController();
    const look = async () => {
      if (document.hidden) return;
      const added = await list.catchUp(Date.now(), ending.signal);
      if (added > 0 && !ending.signal.aborted) onAdded(added);
    };
    const timer = setInterval(look, intervalMs);
    return () => {
      ending.abort();
      clearInterval(timer);
    };
  }, [live, list, onAdded]);
};
