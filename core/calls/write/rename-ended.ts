import { mapConcurrent, type RequestBudget, type Store } from '../../storage/index.ts';
import { ServiceError } from '../../wire/index.ts';
import type { CallEnd } from '../model.ts';
import { updateCall } from './update.ts';

/** How many calls are renamed at once. */
const concurrency = 8;

const isUnknown = (error: unknown): boolean => error instanceof ServiceError && error.status === 404;

/**
 * Gives calls the names that their ends tell, as Weave's SDKs may. An end that came before its
 * start names nothing: the start will bring a name.
 *
 * @throws ServiceError 503 when storage does not accept it in time
 */
export const renameEnded = async (
  store: Store,
  ends: readonly CallEnd[],
  budget: RequestBudget,
): Promise<void> => {
  const named = ends.flatMap(({ displayName, ...end }) => (displayName ? [{ ...end, displayName }] : []));
  await mapConcurrent(named, concurrency, ({ projectId, id, displayName }) =>
    updateCall(store, projectId, id, { displayName }, budget).catch((error: unknown) => {
      if (!isUnknown(error)) throw error;
    }),
  );
};
