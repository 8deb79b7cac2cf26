import { type RefObject, useLayoutEffect, useRef } from 'react';
import type { CallRow } from '../../api/calls.ts';

/** Where the row at a place of some rows is in others; -1 if it has left. */
export const placeAfter = (place: number, before: readonly CallRow[], after: readonly CallRow[]): number => {
  const id = before[place]?.id;
  return id === undefined ? -1 : after.findIndex((row) => row.id === id);
};

/**
 * Keeps what is being read where it is when rows come in above it. At the very top nothing is kept:
 * whoever is there wants to see what is new.
 */
export const useAnchor = (
  rows: readonly CallRow[],
  scroller: RefObject<HTMLDivElement | null>,
  rowHeight: number,
): void => {
  const shown = useRef(rows);
  useLayoutEffect(() => {
    const before = shown.current;
    shown.current = rows;
    const { current: element } = scroller;
    if (before === rows || !element || element.scrollTop <= 0) return;
    const place = Math.floor(element.scrollTop / rowHeight);
    const added = placeAfter(place, before, rows) - place;
    if (added > 0) element.scrollTop += added * rowHeight;
  }, [rows, scroller, rowHeight]);
};
