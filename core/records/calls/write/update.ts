import {
  compareAndSwap,
  type RequestBudget,
  replaceItem,
  type Store,
} from '../../../foundations/storage/index.ts';
import { notFound, type ProjectId } from '../../../foundations/wire/index.ts';
import { packHeader } from '../codec/header.ts';
import { readStarts, unchanged } from './stored-starts.ts';

/** The fields of a call that can change without a report. */
export interface CallChanges {
  /** The name to show; null for the op's name. */
  readonly displayName: string | null;
}

/**
 * Changes a stored call and keeps all other fields and index keys. A concurrent report is kept too:
 * the change is applied to its result.
 *
 * @throws ServiceError 404 if there is no call with the id, or no start of it yet; 503 when storage
 * does not accept it in time
 */
export const updateCall = (
  store: Store,
  projectId: ProjectId,
  id: string,
  { displayName }: CallChanges,
  budget: RequestBudget,
): Promise<void> =>
  compareAndSwap(budget, async () => {
    const [stored] = await readStarts(store, [{ projectId, id }], budget);
    if (!stored)
      throw notFound(['body', 'call_id'], 'there is no such call in this project, or no start of it yet');
    const { item, start, end, earlyTraces } = stored;
    if (start.displayName === displayName) return { value: undefined };
    const owner = { projectId, id, names: store.names };
    const h = packHeader({ start: { ...start, displayName }, end, earlyTraces }, owner);
    const held = await replaceItem(store.table, { ...item, h }, unchanged(item), budget);
    return held ? { value: undefined } : undefined;
  });
