import type { RequestBudget } from '../../core/foundations/storage/index.ts';
import type { ProjectId } from '../../core/foundations/wire/index.ts';
import {
  costsOf,
  loadDefaultPrices,
  type PriceBook,
  priceBook,
  readPrices,
} from '../../core/records/costs/index.ts';
import type { CostsOfProject } from '../../core/workers/streams/index.ts';
import { settings } from '../http/settings.ts';

/** How long prices are remembered, in milliseconds, and of how many projects. */
const rememberedMs = 60_000;
const maxProjects = 1000;

const books = new Map<ProjectId, { readonly until: number; readonly book: Promise<PriceBook> }>();

const readBook = async (projectId: ProjectId, budget: RequestBudget): Promise<PriceBook> => {
  const [own, defaults] = await Promise.all([
    readPrices(settings.costs, projectId, budget),
    loadDefaultPrices(),
  ]);
  return priceBook(projectId, own, defaults);
};

/**
 * The costs of a project's calls. Its prices are read once a minute, since batches come by the
 * second.
 */
export const costsOfProject: CostsOfProject = async (projectId, budget) => {
  const known = books.get(projectId);
  const isFresh = known && known.until > Date.now();
  const book = isFresh ? known.book : readBook(projectId, budget);
  if (!isFresh) {
    if (books.size >= maxProjects) books.clear();
    books.set(projectId, { until: Date.now() + rememberedMs, book });
    book.catch(() => books.delete(projectId));
  }
  const priceOf = await book;
  return (usage, startedAt) => costsOf(usage, startedAt, priceOf);
};
