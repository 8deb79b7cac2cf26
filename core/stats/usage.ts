import { type CallHeader, PayloadReader, readParts, traceRange } from '../calls/index.ts';
import { type ModelCost, type Tokens, tokensOf } from '../costs/index.ts';
import { valueAt } from '../expression/index.ts';
import { joinParts, type Lookups, scanParts } from '../query/index.ts';
import { mapConcurrent, type RequestBudget, type Store } from '../storage/index.ts';
import { isJsonObject, type JsonObject, type JsonValue, type ProjectId } from '../wire/index.ts';

/** Which calls are to be summed up, checked. */
export interface UsageRequest {
  readonly projectId: ProjectId;
  /** Each once. */
  readonly callIds: readonly string[];
  readonly withCosts: boolean;
}

/** The tokens of one model, summed over calls, as they are answered; with costs all of those. */
export type ModelUsage = {
  requests: number;
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  cache_read_input_tokens: number;
  cache_creation_input_tokens: number;
} & Partial<ModelCost>;

/** What calls used with all that is below them, as it is answered. */
export interface UsageAnswer {
  /** By call and model. Unknown calls are left out. */
  readonly call_usage: Readonly<Record<string, Readonly<Record<string, ModelUsage>>>>;
  /** The calls that run themselves, or have a call below them that does: they may use more yet. */
  readonly unfinished_call_ids: readonly string[];
}

/** What one call used itself. */
interface OwnUsage {
  readonly header: CallHeader;
  readonly byModel: readonly (readonly [model: string, tokens: Tokens])[];
  readonly costs: Readonly<Record<string, ModelCost>>;
}

/** How many traces are read at once. */
const traceConcurrency = 16;
/** Rows to ask for at first: most traces are smaller. */
const firstPage = 256;

const addTo = (sum: ModelUsage, tokens: Tokens, cost: ModelCost | undefined): void => {
  sum.requests += tokens.requests;
  sum.prompt_tokens += tokens.prompt;
  sum.completion_tokens += tokens.completion;
  sum.total_tokens += tokens.total;
  sum.cache_read_input_tokens += tokens.cacheRead;
  sum.cache_creation_input_tokens += tokens.cacheWrite;
  if (!cost) return;
  const { requests, prompt_tokens, completion_tokens, total_tokens, ...price } = cost;
  const { prompt_tokens_total_cost: prompt = 0, completion_tokens_total_cost: completion = 0 } = sum;
  Object.assign(sum, price, {
    prompt_tokens_total_cost: prompt + price.prompt_tokens_total_cost,
    completion_tokens_total_cost: completion + price.completion_tokens_total_cost,
  });
};

const nothing = (): ModelUsage => ({
  ...{ requests: 0, prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  ...{ cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
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

/** A call with all calls below it. Parents may form cycles. */
const familyOf = <T>(
  id: string,
  byId: ReadonlyMap<string, T>,
  children: ReadonlyMap<string, string[]>,
): T[] => {
  const met = new Set([id]);
  for (const parent of met) for (const child of children.get(parent) ?? []) met.add(child);
  return [...met].flatMap((member) => byId.get(member) ?? []);
};

const readTrace = async (
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

/** The usage of calls by id. What is too large for a header is read from the payload. */
const usagesOf = async (
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
 * @throws ServiceError 503 when storage does not answer in time
 */
export const usageOf = async (
  store: Store,
  { projectId, callIds, withCosts }: UsageRequest,
  budget: RequestBudget,
  lookups: Pick<Lookups, 'costs'>,
): Promise<UsageAnswer> => {
  const starts = await readParts(store, projectId, callIds, ['S'], budget, { consistent: false });
  const traces = [...new Set(starts.flatMap(({ start }) => start?.traceId ?? []))];
  const [found, costsOf] = await Promise.all([
    mapConcurrent(traces, traceConcurrency, (trace) => readTrace(store, projectId, trace, budget)),
    withCosts ? lookups.costs(projectId, budget) : () => ({}),
  ]);
  // A call that was just moved may still appear in its former trace.
  const headers = [...new Map(found.flat().map((header) => [header.id, header])).values()];
  const usages = await usagesOf(store, projectId, headers, budget);
  const byId = new Map(
    headers.map((header): [string, OwnUsage] => {
      const usage = usages.get(header.id) ?? {};
      const byModel = Object.entries(usage).flatMap(([model, used]) =>
        isJsonObject(used) ? [[model, tokensOf(used)] as const] : [],
      );
      const costs = costsOf(usage, header.start.startedAt) as Readonly<Record<string, ModelCost>>;
      return [header.id, { header, byModel, costs }];
    }),
  );
  const children = new Map<string, string[]>();
  for (const { id, start } of headers) {
    if (start.parentId === null) continue;
    const siblings = children.get(start.parentId);
    if (siblings) siblings.push(id);
    else children.set(start.parentId, [id]);
  }
  const families = callIds
    .filter((id) => byId.has(id))
    .map((id) => [id, familyOf(id, byId, children)] as const);
  return {
    call_usage: Object.fromEntries(families.map(([id, family]) => [id, sumUp(family)])),
    unfinished_call_ids: families
      .filter(([, family]) => family.some(({ header }) => header.end === null))
      .map(([id]) => id),
  };
};
