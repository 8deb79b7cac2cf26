import { useMemo, useRef } from 'react';
import type { Keys } from '../../ui/use-keys.ts';
import type { TraceState } from './use-trace-state.ts';

const move = (state: TraceState, by: number): void =>
  state.selectIndex(Math.max(0, Math.min(state.lines.length - 1, state.selectedIndex + by)));

/** Opens a closed line; from an open one it goes to the first line below. */
const open = (state: TraceState): void => {
  const line = state.lines[state.selectedIndex];
  if (!line || line.node.children.length === 0) return;
  if (line.expanded) move(state, 1);
  else state.toggle(state.selectedIndex);
};

/** Closes an open line; from any other it goes to the line above it in the tree. */
const close = (state: TraceState): void => {
  const line = state.lines[state.selectedIndex];
  if (!line) return;
  if (line.expanded && line.node.children.length > 0) {
    state.toggle(state.selectedIndex);
    return;
  }
  const above = state.lines.slice(0, state.selectedIndex).findLastIndex(({ depth }) => depth < line.depth);
  if (above >= 0) state.selectIndex(above);
};

/** The keyboard of the tree. */
export const useTreeKeys = (
  state: TraceState,
  pane: 'tree' | 'call',
  focusTree: () => void,
  leave: () => void,
): Keys => {
  const latest = useRef(state);
  latest.current = state;
  return useMemo((): Keys => {
    const now = () => latest.current;
    return {
      j: () => move(now(), 1),
      ArrowDown: () => move(now(), 1),
      k: () => move(now(), -1),
      ArrowUp: () => move(now(), -1),
      ArrowRight: () => open(now()),
      ArrowLeft: () => close(now()),
      Home: () => now().selectIndex(0),
      End: () => now().selectIndex(now().lines.length - 1),
      e: () => now().nextError(),
      n: () => now().nextFound(),
      '/': () => now().searchBox.current?.focus(),
      Escape: () => {
        const isInTree = document.activeElement?.getAttribute('role') === 'tree';
        if (isInTree && (pane === 'tree' || window.innerWidth > 800)) leave();
        else focusTree();
      },
    };
  }, [pane, focusTree, leave]);
};
