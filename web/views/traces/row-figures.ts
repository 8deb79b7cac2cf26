import type { Usage } from '../../api/calls.ts';

/** What a row stands for used, and how much of it failed. */
export interface RowFigures {
  readonly usage: Usage | undefined;
  /** How many calls failed; undefined where nobody counts. */
  readonly errors?: number | undefined;
}
