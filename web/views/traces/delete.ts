import type { CallRow } from '../../api/calls.ts';
import type { Client } from '../../api/client.ts';
import { RequestFailed } from '../../api/http.ts';
import { countedText } from '../../data/format.ts';
import { toChunks } from '../../data/values.ts';

/** How many calls are deleted at once: each goes with everything below it. */
const atOnce = 50;

/** How often a request is sent again that the service was too busy for, and after how many ms at first. */
const maxTries = 4;
const firstPauseMs = 500;

const isBusy = (error: unknown): boolean =>
  error instanceof RequestFailed && [429, 502, 503, 504].includes(error.status ?? 0);

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

export interface Deletion {
  readonly client: Pick<Client, 'ask'>;
  readonly project: string;
  readonly calls: readonly string[];
  /** Ends it after the batch that is under way. */
  readonly signal: AbortSignal;
  /** Is told the calls of each batch once they are gone. */
  readonly onDeleted: (calls: readonly string[]) => void;
  /** How long to wait before a request is sent again, in ms. @default 500, then twice as long each time */
  readonly pauseMs?: number;
}

/**
 * Deletes calls in batches, with everything below them. A batch that failed may be gone in part; the same
 * request deletes the rest.
 *
 * @throws RequestFailed as the first batch fails that cannot be deleted; what follows stays
 */
export const deleteCalls = async (deletion: Deletion): Promise<void> => {
  const { client, project, calls, signal, onDeleted, pauseMs = firstPauseMs } = deletion;
  for (const call_ids of toChunks(calls, atOnce)) {
    for (let tries = 1; ; tries++) {
      // Without the signal: a request that is cut off goes on in the service.
      if (signal.aborted) return;
      try {
        await client.ask('/calls/delete', { project_id: project, call_ids });
        break;
      } catch (error) {
        if (tries === maxTries || !isBusy(error)) throw error;
        await pause(pauseMs * 2 ** (tries - 1));
      }
    }
    onDeleted(call_ids);
  }
};

/**
 * What calls are called that are to be deleted: traces, if all of them are roots.
 *
 * @param rows those of the list; calls that are not in it may be anything
 */
export const countedCalls = (calls: readonly string[], rows: readonly CallRow[]): string =>
  countedText(calls.length, rootsAmong(calls, rows) ? 'trace' : 'call');

/** The rows of calls, if the list has all of them and they are roots; undefined for any others. */
export const rootsAmong = (calls: readonly string[], rows: readonly CallRow[]): CallRow[] | undefined => {
  const chosen = new Set(calls);
  const roots = rows.filter(({ id, parent_id }) => chosen.has(id) && !parent_id);
  return roots.length === chosen.size ? roots : undefined;
};
