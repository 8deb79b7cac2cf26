import { useCallback } from 'react';
import { type Changes, changed } from './search.ts';

/**
 * Changes the state of a view, as the URL has it.
 *
 * @param navigate that of the view's route
 */
export const useChange = <State extends object>(
  navigate: (options: { search: (before: State) => State }) => unknown,
) =>
  useCallback(
    (changes: Changes<State>) => navigate({ search: (before) => changed<State>(before, changes) }),
    [navigate],
  );
