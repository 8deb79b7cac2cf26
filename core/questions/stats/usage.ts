import type { CallsSelection, ModelCost } from '../../../api/queries.ts';
import { readTokens, type Tokens } from '../../../api/shared/usage.ts';
import type { UsageAnswer, UsageRequest } from '../../../api/stats.ts';
import { valueAt } from '../../../foundations/expression/index.ts';
import { mapConcurrent, type RequestBudget, type Store } from '../../../foundations/storage/index.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ProjectId,
} from '../../../foundations/wire/index.ts';
import {
  type CallHeader,
  getStatus,
  PayloadReader,
  readParts,
  traceRange,
} from '../../records/calls/index.ts';
import { findCalls, joinParts, type Lookups, scanParts } from '../query/index.ts';

/** How the traces of calls were found: plain data, logged with the request. */
export interface UsagePlan {
  /** How many traces the request names. */
  readonly named: number;
  /** How many calls were looked up by their ids. */
  readonly lookedUp: number;
}

/** How many traces are read at once. */
const traceConcurrency = 16;
/** Rows to ask for at first: most traces are smaller. */
const firstPage = 256;

/** Reads the calls of a trace, in the order of their start. */
export const readTrace = async (
  store: Store,
  projectId: ProjectId,
  traceId: string,
  budget: RequestBudget,
): Promise<CallHeader[]> => {
  const range = traceRange(projectId, traceId, {});
  const rows = scanParts(store, projectId, [range], { descending: false, firstPage }, budget);
  const batches = await Array.fromAsync(joinParts(store, projectId, rows, budget));
  return batches.flat();
};

/** What was read of some traces: calls by id, and the ids of the calls below each. */
class Families {
  readonly byId = new Map<string, CallHeader>();
  readonly #children = new Map<string, Set<string>>();
  readonly #read = new Set<string>();

  /** Reads traces that were not read yet. */
  async read(
    store: Store,
    projectId: ProjectId,
    traces: Iterable<string>,
    budget: RequestBudget,
  ): Promise<void> {
    const unread = [...new Set(traces)].filter((trace) => !this.#read.has(trace));
    for (const trace of unread) this.#read.add(trace);
    const found = await mapConcurrent(unread, traceConcurrency, (trace) =>
      readTrace(store, projectId, trace, budget),
    );
    for (const header of found.flat()) this.#add(header);
  }

  /** A call with all calls below it that were read. Parents may form cycles. */
  getFamily(id: string): CallHeader[] {
    const met = new Set([id]);
    for (const parent of met)
      for (const child of this.#children.get(parent) ?? [])
        if (this.byId.get(child)?.start.parentId === parent) met.add(child);
    return [...met].flatMap((member) => this.byId.get(member) ?? []);
  }

  /** The traces of calls below these that are in another trace than their parents. */
  earlyTraces(ids: readonly string[]): Set<string> {
    const early = new Set<string>();
    for (const id of ids)
      for (const { earlyTraces = [] } of this.getFamily(id))
        for (const trace of earlyTraces) if (!this.#read.has(trace)) early.add(trace);
    return early;
  }

  #add(header: CallHeader): void {
    // A call that was just moved may still appear in its former trace, below its former parent.
    this.byId.set(header.id, header);
    const { parentId } = header.start;
    if (parentId === null) return;
    const siblings = this.#children.get(parentId) ?? new Set();
    this.#children.set(parentId, siblings);
    siblings.add(header.id);
  }
}

/**
 * Reads calls with all below them. It reads the traces that are given, those of calls that are not
 * in them, which are looked up by their ids, and those of calls apart from their parents.
 */
const readFamilies = async (
  store: Store,
  { projectId, callIds, traceIds }: UsageRequest,
  budget: RequestBudget,
): Promise<{ readonly families: Families; readonly plan: UsagePlan }> => {
  const families = new Families();
  await families.read(store, projectId, traceIds, budget);
  const missing = callIds.filter((id) => !families.byId.has(id));
  if (missing.length > 0) {
    const starts = await readParts(store, projectId, missing, ['S'], budget, { consistent: false });
    const traces = starts.flatMap(({ start }) => start?.traceId ?? []);
    await families.read(store, projectId, traces, budget);
  }
  for (let early = families.earlyTraces(callIds); early.size > 0; early = families.earlyTraces(callIds))
    await families.read(store, projectId, early, budget);
  return { families, plan: { named: traceIds.length, lookedUp: missing.length } };
};

/** The tokens of one model, summed over calls, as they are answered; with costs all of those. */
type ModelUsage = UsageAnswer['call_usage'][string][string];

/** What one call used itself. */
interface OwnUsage {
  readonly header: CallHeader;
  readonly byModel: readonly (readonly [model: string, tokens: Tokens])[];
  readonly costs: Readonly<Record<string, ModelCost>>;
}

/** What is added up of costs; all else is of the latest price. */
const totalCosts = [
  'prompt_tokens_total_cost',
  'completion_tokens_total_cost',
  'cache_read_tokens_total_cost',
  'cache_creation_tokens_total_cost',
  'reasoning_tokens_total_cost',
] as const;

const addTo = (sum: ModelUsage, tokens: Tokens, cost: ModelCost | undefined): void => {
  sum.requests += tokens.requests;
  sum.prompt_tokens += tokens.prompt;
  sum.completion_tokens += tokens.completion;
  sum.total_tokens += tokens.total;
  sum.cache_read_input_tokens += tokens.cacheRead;
  sum.cache_creation_input_tokens += tokens.cacheWrite;
  sum.reasoning_tokens += tokens.reasoning;
  if (!cost) return;
  const { requests, prompt_tokens, completion_tokens, total_tokens, ...price } = cost;
  const sums = totalCosts.flatMap((name) => {
    const before = sum[name];
    const more = price[name];
    return before === undefined && more === undefined ? [] : [[name, (before ?? 0) + (more ?? 0)]];
  });
  Object.assign(sum, price, Object.fromEntries(sums));
};

const nothing = (): ModelUsage => ({
  requests: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  reasoning_tokens: 0,
});

/** Sums what calls used by model. The price that is answered is that of the latest call. */
const sumUp = (calls: readonly OwnUsage[]): Record<string, ModelUsage> => {
  const sums = new Map<string, ModelUsage>();
  const byTime = calls.toSorted((a, b) => a.header.start.startedAt - b.header.start.startedAt);
  for (const { byModel, costs } of byTime)
    for (const [model, tokens] of byModel) {
      const sum = sums.get(model) ?? nothing();
      sums.set(model, sum);
      addTo(sum, tokens, Object.hasOwn(costs, model) ? costs[model] : undefined);
    }
  // Not by assignment: a model may be called __proto__.
  return Object.fromEntries(sums);
};

/** The usage of calls by id. What is too large for a header is read from the payload. */
export const readUsages = async (
  store: Store,
  projectId: ProjectId,
  headers: readonly CallHeader[],
  budget: RequestBudget,
): Promise<ReadonlyMap<string, JsonObject>> => {
  const apart = headers.filter(({ end }) => end?.usage === true);
  const reader = new PayloadReader(store, projectId, budget);
  const read = apart.length > 0 ? await reader.read(apart) : [];
  const usages = new Map<string, JsonValue>(
    headers.flatMap(({ id, end }) =>
      isJsonObject(end?.usage ?? null) ? [[id, end?.usage as JsonValue]] : [],
    ),
  );
  for (const { header, payload } of read)
    usages.set(header.id, valueAt(JSON.parse(payload.summary) as JsonValue, ['usage']) ?? null);
  return new Map([...usages].flatMap(([id, usage]) => (isJsonObject(usage) ? [[id, usage] as const] : [])));
};

/**
 * Sums what calls and all calls below them used, by model, from headers alone. The traces of the
 * calls are read from their index, which normally lags some milliseconds.
 *
 * @param lookups gives what usage costs
 * @returns the answer, and how its traces were found
 */
export const computeUsage = async (
  store: Store,
  request: UsageRequest,
  budget: RequestBudget,
  lookups: Pick<Lookups, 'costs'>,
): Promise<{ readonly plan: UsagePlan; readonly answer: UsageAnswer }> => {
  const { projectId, callIds, withCosts } = request;
  const [{ families, plan }, computeCosts] = await Promise.all([
    readFamilies(store, request, budget),
    withCosts ? lookups.costs(projectId, budget) : () => ({}),
  ]);
  const known = callIds.filter((id) => families.byId.has(id));
  const familiesById = new Map(known.map((id) => [id, families.getFamily(id)]));
  const members = [...new Set([...familiesById.values()].flat())];
  const usages = await readUsages(store, projectId, members, budget);
  const ownUsages = new Map(
    members.map((header): [CallHeader, OwnUsage] => {
      const usage = usages.get(header.id) ?? {};
      const byModel = Object.entries(usage).flatMap(([model, used]) =>
        isJsonObject(used) ? [[model, readTokens(used)] as const] : [],
      );
      const costs = computeCosts(usage, header.start.startedAt) as Readonly<Record<string, ModelCost>>;
      return [header, { header, byModel, costs }];
    }),
  );
  const answer: UsageAnswer = {
    call_usage: Object.fromEntries(
      [...familiesById].map(([id, family]) => [
        id,
        sumUp(family.flatMap((member) => ownUsages.get(member) ?? [])),
      ]),
    ),
    error_counts: Object.fromEntries(
      [...familiesById].map(([id, family]) => [
        id,
        family.filter((member) => getStatus(member) === 'error').length,
      ]),
    ),
    unfinished_call_ids: known.filter((id) => familiesById.get(id)?.some(({ end }) => end === null)),
  };
  return { plan, answer };
};

/** Which calls are to be summed up, checked. */
export interface TraceUsageRequest {
  readonly selection: CallsSelection & { readonly limit: number };
  readonly withCosts: boolean;
}

/** Sums what each call of a selection used with all that is below it, by model. */
export const computeTraceUsage = async (
  store: Store,
  { selection, withCosts }: TraceUsageRequest,
  budget: RequestBudget,
  lookups: Lookups,
): Promise<UsageAnswer> => {
  const callIds: string[] = [];
  const traceIds = new Set<string>();
  for await (const batch of findCalls(store, selection, budget, lookups).found)
    for (const { header } of batch) {
      callIds.push(header.id);
      traceIds.add(header.start.traceId);
    }
  const { projectId } = selection;
  const request = { projectId, callIds, traceIds: [...traceIds], withCosts };
  return (await computeUsage(store, request, budget, lookups)).answer;
};
