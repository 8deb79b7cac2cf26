import { mapBatches, sortTies } from '../listing/index.ts';
import type { RequestBudget, Store } from '../storage/index.ts';
import type { ProjectId } from '../wire/index.ts';
import { comparePlaces, type FeedbackRecord } from './model.ts';
import { readWhole, withPayloads } from './payload.ts';
import { type Find, settle } from './resolve.ts';
import { entriesOf, type Search } from './source.ts';

/**
 * The records that a search finds, in the order of their creation (or the reverse) and then of
 * their ids: of a record and those that came in its place one, whatever is being replaced at the
 * time.
 *
 * @param isWanted which records' payloads are needed, where they lie apart
 * @param scanned is told how many entries were met, batch by batch
 * @throws ServiceError 503 when storage does not give something in time
 */
export const recordsOf = (
  store: Store,
  projectId: ProjectId,
  search: Search,
  isWanted: (record: FeedbackRecord) => boolean,
  budget: RequestBudget,
  scanned: (entries: number) => void = () => {},
): AsyncGenerator<readonly FeedbackRecord[]> => {
  const { bounds, descending } = search;
  const met = mapBatches(entriesOf(store, projectId, search, budget), (entries) => {
    scanned(entries.length);
    return entries;
  });
  const find: Find = async ({ id, createdAt }) => {
    if (createdAt < (bounds.from ?? 0) || createdAt > (bounds.to ?? createdAt)) return undefined;
    const [entry] = await readWhole(store, projectId, [id], budget);
    return entry;
  };
  const entries = withPayloads(store, projectId, isWanted, met, budget);
  const isTied = (a: FeedbackRecord, b: FeedbackRecord) => a.header.createdAt === b.header.createdAt;
  const compare = comparePlaces(descending);
  return sortTies(isTied, (a, b) => compare(a.header, b.header), settle(descending, entries, find));
};
