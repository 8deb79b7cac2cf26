import { mapBatches, sortTies } from '../../foundations/listing/index.ts';
import type { RequestBudget, Store } from '../../foundations/storage/index.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import { comparePositions, type FeedbackRecord } from './model.ts';
import { readWhole, withPayloads } from './payload.ts';
import { type Find, resolve } from './resolve.ts';
import { entriesOf, type Search } from './source.ts';

/**
 * The records that a search finds, in order of creation (or its reverse), then of their ids. It
 * gives one revision of each chain, whatever is being replaced meanwhile.
 *
 * @param isWanted which records' payloads must be read, if they are stored apart
 * @param scanned is told how many entries each batch has
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
  const compare = comparePositions(descending);
  return sortTies(isTied, (a, b) => compare(a.header, b.header), resolve(descending, entries, find));
};
