import type { CallRow } from '../../api/calls.ts';
import type { Client } from '../../api/client.ts';
import type { CallsQueryReq } from '../../api/types.ts';
import type { CostTest } from './cost-filter.ts';
import type { RowFigures } from './row-figures.ts';

/** What a list of calls holds at a moment. */
export interface ListState {
  readonly rows: readonly CallRow[];
  /** `reading` while a page is on its way, `stopped` if its reader stopped it. */
  readonly phase: 'reading' | 'idle' | 'stopped' | 'failed';
  /** Whether all rows are there. */
  readonly complete: boolean;
  /** How many rows were read, those included that the filter by cost left out. */
  readonly read: number;
  /** What roots used with all below them, by id, where the list itself asked for it. */
  readonly figures: ReadonlyMap<string, RowFigures>;
  readonly error?: unknown;
}

/** What a list is made of. */
export interface ListOptions {
  readonly client: Client;
  /** What the service is called. */
  readonly service: string;
  readonly request: CallsQueryReq;
  /** Whether its rows are roots, which show the figures of their traces. */
  readonly roots: boolean;
  /** The filter by cost. @default - none */
  readonly costTest?: CostTest | undefined;
}

/** A list before its first row. */
export const emptyList: ListState = {
  rows: [],
  phase: 'idle',
  complete: false,
  read: 0,
  figures: new Map(),
};
