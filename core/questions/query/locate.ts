import { everyShard, type RequestBudget, type Store, shardsOf } from '../../foundations/storage/index.ts';
import type { AnyIndexRange } from '../../foundations/storage/tables.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import {
  type CallHeader,
  errorRange,
  type Level,
  maxTurnTraces,
  readHeaders,
  type TimeBounds,
  threadRange,
  timeRange,
  traceRange,
} from '../../records/calls/index.ts';
import { bothLevels, type Source } from './plan.ts';

/** The key ranges of a project's calls: one a level for each shard that has ever been in force. */
const projectRanges = (
  store: Store,
  projectId: ProjectId,
  levels: readonly Level[],
  bounds: TimeBounds,
): AnyIndexRange<'calls'>[] =>
  levels.flatMap((level) => everyShard(store).map((shard) => timeRange(projectId, level, shard, bounds)));

const traceRanges = (
  projectId: ProjectId,
  traceIds: Iterable<string>,
  bounds: TimeBounds,
): AnyIndexRange<'calls'>[] =>
  [...new Set(traceIds)].map((traceId) => traceRange(projectId, traceId, bounds));

const threadRanges = (
  store: Store,
  projectId: ProjectId,
  threadIds: Iterable<string>,
  bounds: TimeBounds,
): AnyIndexRange<'calls'>[] =>
  [...new Set(threadIds)].flatMap((threadId) =>
    shardsOf(store, threadId).flatMap((shard) =>
      [true, false].map((turns) => threadRange(projectId, threadId, turns, shard, bounds)),
    ),
  );

const hasManyTraces = ({ earlyTraces = [] }: CallHeader): boolean => earlyTraces.length >= maxTurnTraces;

/**
 * Turns the source of a plan into the key ranges to scan. Parents and turns are looked up for their
 * traces and threads. While one of them is not known, what belongs to it can be anywhere in the
 * project; children of a parent are nested.
 *
 * @param bounds the span of `started_at` that is wanted
 * @throws ServiceError 503 when storage does not give them in time
 */
export const locate = async (
  store: Store,
  projectId: ProjectId,
  source: Exclude<Source, { kind: 'nothing' | 'calls' }>,
  bounds: TimeBounds,
  budget: RequestBudget,
): Promise<AnyIndexRange<'calls'>[]> => {
  switch (source.kind) {
    case 'project':
      return projectRanges(store, projectId, source.levels, bounds);
    case 'errors':
      return everyShard(store).map((shard) => errorRange(projectId, shard, bounds));
    case 'traces':
      return traceRanges(projectId, source.ids, bounds);
    case 'threads':
      return threadRanges(store, projectId, source.ids, bounds);
  }
  const known: CallHeader[] = await readHeaders(store, projectId, source.ids, budget);
  if (known.length < source.ids.length)
    return projectRanges(store, projectId, source.kind === 'parents' ? ['nested'] : bothLevels, bounds);
  if (source.kind === 'turns' && known.some(hasManyTraces))
    return projectRanges(store, projectId, bothLevels, bounds);
  const traces = traceRanges(
    projectId,
    known.flatMap(({ start, earlyTraces = [] }) => [start.traceId, ...earlyTraces]),
    bounds,
  );
  if (source.kind === 'parents') return traces;
  // A nested call may name its turn and not its thread. Rows that both ranges hold are joined into
  // one call.
  const threads = known.flatMap(({ start }) => start.threadId ?? []);
  return [...threadRanges(store, projectId, threads, bounds), ...traces];
};
