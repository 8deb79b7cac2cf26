import { everyShard, type RequestBudget, type Store } from '../../foundations/storage/index.ts';
import type { Micros, ProjectId } from '../../foundations/wire/index.ts';
import { timeRange } from '../../records/calls/index.ts';
import { scanParts } from '../query/index.ts';

/*
 * DynamoDB rounds each call that is looked up to half a unit, and packs a dozen roots of a list or
 * more into one. So roots whose ids say when they were made are looked for among the roots of that
 * time. This is a guess. It costs at most half of what the lookups would, and ends earlier if it
 * finds little. Whatever it does not find is looked up.
 */

/** What was read of the roots of a time: plain data, logged with the request. */
export interface RootsPlan {
  /** Why nothing was read; null if something was. */
  readonly because: 'few calls' | 'few ids with a time' | null;
  /** The span of time in whole seconds. */
  readonly seconds: number;
  /** How many rows were read. */
  readonly rows: number;
  /** How many of the calls were among them. */
  readonly found: number;
}

/** Roots of some time, and the traces of those that were asked for. */
export interface FoundRoots {
  readonly plan: RootsPlan;
  readonly traces: ReadonlySet<string>;
}

/** So many lookups for each range that is read are worth a guess: its first page costs one. */
const lookupsPerRange = 4;
/** Rows for the price of a lookup, 4 KB. A payload in a row has up to 512 bytes. */
const rowsPerLookup = 6;
/** Rows of a range to ask for at first. So many cost no more than one. */
const firstPage = 8;
/** The shares of the lookups for which a guess may read rows, and may read rows in vain. */
const [maxShare, maxVainShare] = [1 / 2, 1 / 8];
/** How far apart an id may be made from the start of its call, in microseconds. */
const slack: Micros = 1_000_000;

const timedUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/**
 * The time in a UUID of version 7 (RFC 9562, 5.7), its first 48 bits in milliseconds, as
 * microseconds; undefined for any other id.
 */
export const timeOfId = (id: string): Micros | undefined =>
  timedUuid.test(id) ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) * 1000 : undefined;

/** Ids with the times in them, without those that have none. */
const timesOf = (ids: readonly string[]): Map<string, Micros> =>
  new Map(
    ids.flatMap((id) => {
      const time = timeOfId(id);
      return time === undefined ? [] : [[id, time] as const];
    }),
  );

const nothing = (because: RootsPlan['because']): FoundRoots => ({
  plan: { because, seconds: 0, rows: 0, found: 0 },
  traces: new Set(),
});

/**
 * Finds the traces of calls among the roots of the time that their ids name, as far as that is
 * cheaper than looking them up.
 *
 * @param ids each once
 * @throws ServiceError 503 when storage does not answer in time
 */
export const findRoots = async (
  store: Store,
  projectId: ProjectId,
  ids: readonly string[],
  budget: RequestBudget,
): Promise<FoundRoots> => {
  const shards = everyShard(store);
  const least = shards.length * lookupsPerRange;
  if (ids.length < least) return nothing('few calls');
  const times = timesOf(ids);
  if (times.size < least) return nothing('few ids with a time');
  const [first, last] = [Math.min(...times.values()), Math.max(...times.values())];
  const bounds = { from: first - slack, to: last + slack };
  const ranges = shards.map((shard) => timeRange(projectId, 'roots', shard, bounds));
  const [traces, found] = [new Set<string>(), new Set<string>()];
  let [rows, rowsAtLast] = [0, 0];
  const missing = () => times.size - found.size;
  const isWorthIt = () =>
    rows < rowsPerLookup * Math.min(times.size * maxShare, found.size + times.size * maxVainShare) &&
    rows - rowsAtLast < rowsPerLookup * missing();
  const options = {
    descending: true,
    firstPage,
    wanted: () => missing() * (found.size > 0 ? rows / found.size : 1),
  };
  for await (const batch of scanParts(store, projectId, ranges, options, budget)) {
    for (const { part } of batch) {
      rows++;
      if (!part.start || !times.has(part.id)) continue;
      found.add(part.id);
      traces.add(part.start.traceId);
      rowsAtLast = rows;
    }
    if (!isWorthIt()) break;
  }
  const plan = { because: null, seconds: Math.ceil((last - first) / 1e6), rows, found: found.size };
  return { plan, traces };
};
