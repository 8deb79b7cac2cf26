import type { RequestBudget, Store } from '../../../foundations/storage/index.ts';
import { qualifiedId } from '../../../foundations/wire/index.ts';
import type { StartEntry } from '../codec/items.ts';
import { type ReportedCall, resolveTraces } from './group-reports.ts';
import { reservationsOf, reserveTraces } from './reserve-traces.ts';

/** The traces of stored starts, and those that are reserved for others, by {@link qualifiedId}. */
const knownTraces = (
  stored: ReadonlyMap<string, StartEntry>,
): [stored: Map<string, string>, reserved: Map<string, string>] => {
  const known = [...stored].map(([name, { start, earlyTraces }]) => [name, start, earlyTraces] as const);
  return [
    new Map(known.flatMap(([name, start]) => (start ? [[name, start.traceId]] : []))),
    new Map(known.flatMap(([name, start, traces]) => (!start && traces?.[0] ? [[name, traces[0]]] : []))),
  ];
};

/**
 * Resolves the traces of a request and reserves those that have to be. A parent that came since the
 * request looked for it gives its trace after all.
 *
 * @param stored what is stored of the calls that the request depends on, by {@link qualifiedId}.
 * Parents that came meanwhile are added.
 * @returns the traces of all starts, by {@link qualifiedId}
 * @throws ServiceError 503 when storage does not accept the reservations in time
 */
export const settleTraces = async (
  store: Store,
  calls: readonly ReportedCall[],
  stored: Map<string, StartEntry>,
  budget: RequestBudget,
): Promise<Map<string, string>> => {
  for (;;) {
    const traces = resolveTraces(calls, ...knownTraces(stored));
    const reservations = reservationsOf(calls, stored, traces);
    const met = await reserveTraces(store, reservations, budget, (name) => stored.has(name));
    if (met.length === 0) return traces;
    for (const entry of met) stored.set(qualifiedId(entry.projectId, entry.id), entry);
  }
};
