import { type RefObject, useLayoutEffect, useRef } from 'react';
import type { CallRow } from '../../api/calls.ts';

/**
 * Keeps what is being read where it is when rows come in above it. At the very top nothing is kept:
 * whoever is there wants to see what is new.
 */
export const useAnchor = (
  rows: readonly CallRow[],
  scroller: RefObject<HTMLDivElement | null>,
  rowHeight: number,
): void => {
  const first = useRef<string>(undefined);
  useLayoutEffect(() => {
    const before = first.current;
    first.current = rows[0]?.id;
    if (before === undefined || before === rows[0]?.id) return;
    const added = rows.findIndex(({ id }) => id === before);
    const { current: element } = scroller;
    if (element && added > 0 && element.scrollTop > 0) element.scrollTop += added * rowHeight;
  }, [rows, scroller, rowHeight]);
};
