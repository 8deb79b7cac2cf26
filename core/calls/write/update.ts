import { type RequestBudget, replaceItem, type Store } from '../../storage/index.ts';
import { notFound, type ProjectId } from '../../wire/index.ts';
import { packHeader } from '../codec/header.ts';
import { readStarts, unchanged } from './replace-starts.ts';

/** What of a call can be changed without reporting it again. */
export interface CallChanges {
  /** What the call is shown as; null for what its op is called. */
  readonly displayName: string | null;
}

/**
 * Changes a stored call. All else about it stays, its places in the indexes included. What is
 * reported meanwhile is kept: the change is made to what is there then.
 *
 * @throws ServiceError 404 where there is no call of that id, or no start of it yet; 503 when
 * storage does not take it in time
 */
export const updateCall = async (
  store: Store,
  projectId: ProjectId,
  id: string,
  { displayName }: CallChanges,
  budget: RequestBudget,
): Promise<void> => {
  for (;;) {
    const [stored] = await readStarts(store, [{ projectId, id }], budget);
    if (!stored)
      throw notFound(['body', 'call_id'], 'there is no such call in this project, or no start of it yet');
    const { item, start, end } = stored;
    if (start.displayName === displayName) return;
    const owner = { projectId, id, names: store.names };
    const h = packHeader({ start: { ...start, displayName }, end }, owner);
    if (await replaceItem(store.table, { ...item, h }, unchanged(item), budget)) return;
  }
};
