import type { ModelPrice, PriceCalculation } from '@pydantic/genai-prices';
import type { Micros, ProjectId } from '../../../foundations/wire/index.ts';
import type { Price } from './model.ts';

/** A price that is in force for some call. Costs are per token, in their units. */
export interface PriceInForce {
  readonly promptTokenCost: number;
  /** Of prompt tokens read from the provider's cache. */
  readonly cacheReadTokenCost: number;
  /** Of prompt tokens written to the provider's cache. */
  readonly cacheWriteTokenCost: number;
  readonly completionTokenCost: number;
  readonly promptTokenCostUnit: string;
  readonly completionTokenCostUnit: string;
  /** Since when it is in force, in microseconds since 1970; null for ever. */
  readonly effectiveDate: Micros | null;
  readonly providerId: string;
  readonly level: 'project' | 'default';
  /** The project's id, or `default`. */
  readonly levelId: string;
  /** When it was stored, in microseconds since 1970; null for one that was not. */
  readonly createdAt: Micros | null;
  readonly createdBy: string;
}

/**
 * Finds the price of a model.
 *
 * @param promptTokens of one request: some providers charge more for long prompts
 * @returns undefined if there is none
 */
export type PriceBook = (model: string, startedAt: Micros, promptTokens: number) => PriceInForce | undefined;

/**
 * The newest first: by the time from which they are in force, then by the time when they were
 * stored, then by id.
 */
const newestFirst = (a: Price, b: Price): number =>
  b.effectiveDate - a.effectiveDate || b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1);

const ownInForce = (projectId: ProjectId, price: Price): PriceInForce => ({
  ...price,
  cacheReadTokenCost: price.cacheReadTokenCost ?? price.promptTokenCost,
  cacheWriteTokenCost: price.cacheWriteTokenCost ?? price.promptTokenCost,
  level: 'project',
  levelId: projectId,
});

/**
 * Puts a project's own prices before the default ones. The newest counts that was in force when the
 * call started, by the model's exact name. Cached tokens cost what other tokens of the prompt do if
 * it has no price of them.
 *
 * @param prices all prices of the project, in any order
 */
export const priceBook = (projectId: ProjectId, prices: readonly Price[], defaults: PriceBook): PriceBook => {
  const byModel = Map.groupBy([...prices].sort(newestFirst), ({ model }) => model);
  return (model, startedAt, promptTokens) => {
    const own = byModel.get(model)?.find(({ effectiveDate }) => effectiveDate <= startedAt);
    return own ? ownInForce(projectId, own) : defaults(model, startedAt, promptTokens);
  };
};

type Library = typeof import('@pydantic/genai-prices');
type CalcPrice = Library['calcPrice'];
type FindProvider = Library['findProvider'];

/** Where the default prices are from, and of which version; answered as their `created_by`. */
export const defaultPricesSource = '@pydantic/genai-prices 0.1.8';

/** A project's own price can have no longer name either. */
const maxName = 256;

/**
 * Finds a model in the library's table by its name: as it is, or behind its provider's
 * (`openai/gpt-4o`), or as Google lists it (`models/gemini-2.5-pro`). It may also be one of
 * OpenAI's or Amazon Bedrock's. The library takes names for theirs only when told whose they are.
 */
const findNamed = (calcPrice: CalcPrice, model: string, timestamp: Date): PriceCalculation | null => {
  // Under this name of a provider, the library takes the one before a slash for the provider.
  const find = (name: string, providerId = 'litellm') => calcPrice({}, name, { providerId, timestamp });
  return (
    find(model) ??
    (model.startsWith('models/') ? find(model.slice('models/'.length)) : null) ??
    find(model, 'openai') ??
    find(model, 'aws')
  );
};

/**
 * The date or number of a snapshot, as providers write them: `-2026-01-01`, `-20260101`, `@20260101`,
 * `-05-20`, `-09-2025`, `-0613`, `-2411` and `-001`, at the end or before `-v1:0`, `:free`, `-preview`.
 */
const snapshots = [
  String.raw`20\d\d-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])`,
  String.raw`(?:0[1-9]|1[0-2])-20\d\d`,
  String.raw`(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])`,
  String.raw`2\d(?:0[1-9]|1[0-2])`,
  String.raw`0\d\d`,
];
const snapshot = new RegExp(`[-@](?:${snapshots.join('|')})(?=$|[-:@])`);

/** What stands before a snapshot, without the provider and Bedrock's region. */
const getStem = (name: string, end: number): string =>
  name
    .slice(0, end)
    .toLowerCase()
    .replace(/^.*[/:]/, '')
    .replace(/^(?:[a-z-]+\.)+(?=[a-z])/, '');

/** Providers some of whose models the table has with a snapshot alone. */
const bySnapshots = ['aws', 'mistral', 'moonshotai', 'google', 'openai', 'openrouter'];

/** The snapshots that the table has of each stem, as they stand in its names, the last one first. */
const knownSnapshots = (findProvider: FindProvider): ReadonlyMap<string, readonly string[]> => {
  const known = new Map<string, Set<string>>();
  for (const providerId of bySnapshots)
    for (const { match } of findProvider({ providerId })?.models ?? [])
      for (const [, name = ''] of JSON.stringify(match).matchAll(/:"([^"\\]+)"/g)) {
        const found = snapshot.exec(name);
        if (!found) continue;
        const stem = getStem(name, found.index);
        known.set(stem, (known.get(stem) ?? new Set()).add(found[0]));
      }
  return new Map([...known].map(([stem, texts]) => [stem, [...texts].reverse()]));
};

/** What says beside a snapshot that it comes before the model itself. */
const previews = /-(?:preview|exp)$/;

/**
 * Names of a model that is not in the table by its own, since it has a snapshot that the table does not
 * know: without that, then with the ones that it does know. Bedrock's names always have one.
 * `gemini-2.5-flash-preview` is older than `gemini-2.5-flash`, so a new preview costs what the latter
 * does.
 */
const otherNames = (model: string, known: ReadonlyMap<string, readonly string[]>): string[] => {
  const found = snapshot.exec(model);
  if (!found) return [];
  const before = model.slice(0, found.index);
  const after = model.slice(found.index + found[0].length);
  const others = known.get(getStem(model, found.index)) ?? [];
  const names = [before.replace(previews, ''), before, ...others.map((other) => before + other)];
  return [...new Set(names)].map((name) => name + after);
};

/** Names that are remembered; clients choose them, so there is no end to them. */
const maxNames = 1000;

/**
 * Finds models by their names, those with a snapshot that the table does not know too. It has a memory,
 * since it tries the patterns of whole providers. A model's price may change with time; which model a
 * name is never does.
 */
const modelFinder = ({ calcPrice, findProvider }: Pick<Library, 'calcPrice' | 'findProvider'>) => {
  const findKnown = knownSnapshots(findProvider);
  const findModel = (model: string, timestamp: Date): PriceCalculation | null => {
    const found = findNamed(calcPrice, model, timestamp);
    if (found) return found;
    for (const name of otherNames(model, findKnown)) {
      const other = findNamed(calcPrice, name, timestamp);
      if (other) return other;
    }
    return null;
  };
  const known = new Map<string, PriceCalculation | null>();
  return (model: string, timestamp: Date): PriceCalculation | null => {
    const before = known.get(model);
    const changes = before && Array.isArray(before.model.prices);
    if (before !== undefined && !changes) return before;
    const found = findModel(model, timestamp);
    if (known.size >= maxNames) known.clear();
    known.set(model, found);
    return found;
  };
};

/**
 * The price of a token, from the price of a million; undefined if the model has no price of this
 * kind.
 */
const perToken = (perMillion: ModelPrice[string], promptTokens: number): number | undefined => {
  if (perMillion === undefined) return undefined;
  const price =
    typeof perMillion === 'number'
      ? perMillion
      : (perMillion.tiers.findLast(({ start }) => promptTokens > start)?.price ?? perMillion.base);
  // The double nearest to the listed price. The quotient may miss it by one bit: 1.5e-7, not
  // 1.4999999999999999e-7.
  return Number((price / 1e6).toPrecision(15));
};

/**
 * The day from which a price is in force, in microseconds since 1970; null if the table does not
 * say.
 */
const effectiveDate = ({ model, model_price }: PriceCalculation): Micros | null => {
  if (!Array.isArray(model.prices)) return null;
  const constraint = model.prices.find(({ prices }) => prices === model_price)?.constraint;
  return constraint?.type === 'start_date' ? Date.parse(constraint.start_date) * 1000 : null;
};

const defaultInForce = (found: PriceCalculation, promptTokens: number): PriceInForce | undefined => {
  const price = (key: string) => perToken(found.model_price[key], promptTokens);
  const prompt = price('input_mtok');
  const completion = price('output_mtok');
  // What tokens cost is not known of models that are paid by the hour, the page or the picture.
  if (prompt === undefined && completion === undefined) return undefined;
  return {
    promptTokenCost: prompt ?? 0,
    cacheReadTokenCost: price('cache_read_mtok') ?? prompt ?? 0,
    cacheWriteTokenCost: price('cache_write_mtok') ?? prompt ?? 0,
    completionTokenCost: completion ?? 0,
    promptTokenCostUnit: 'USD',
    completionTokenCostUnit: 'USD',
    effectiveDate: effectiveDate(found),
    providerId: found.provider.id,
    level: 'default',
    levelId: 'default',
    createdAt: null,
    createdBy: defaultPricesSource,
  };
};

const loadFinder = async () => modelFinder(await import('@pydantic/genai-prices'));

let finder: ReturnType<typeof loadFinder> | undefined;

/** The finder of models, loaded once per container. */
const theFinder = (): ReturnType<typeof loadFinder> => {
  finder ??= loadFinder();
  return finder;
};

/** Whether a list of prices has one that begins or ends within a span, or depends on the hour. */
const changesWithin = ({ model: { prices } }: PriceCalculation, from: Micros, to: Micros): boolean =>
  Array.isArray(prices) &&
  prices.some(({ constraint }) => {
    if (constraint === undefined) return false;
    if (constraint.type !== 'start_date') return true;
    const date = Date.parse(constraint.start_date) * 1000;
    return date > from && date < to;
  });

const isSamePrice = (a: PriceInForce, b: PriceInForce): boolean =>
  a.promptTokenCost === b.promptTokenCost &&
  a.cacheReadTokenCost === b.cacheReadTokenCost &&
  a.cacheWriteTokenCost === b.cacheWriteTokenCost &&
  a.completionTokenCost === b.completionTokenCost;

/**
 * The default prices that are in force throughout a span of time, for prompts of any length up to
 * the longest. Tiers ascend, so a price that is the same for the shortest and the longest prompt is
 * the same for all.
 */
const loadSteadyDefaults = async (): Promise<SteadyPrices> => {
  const find = await theFinder();
  return (model, from, to, maxPrompt) => {
    if (model.length > maxName) return null;
    const found = find(model, new Date(from / 1000));
    if (found === null) return null;
    if (changesWithin(found, from, to)) return undefined;
    const shortest = defaultInForce(found, 0);
    const longest = defaultInForce(found, maxPrompt);
    if (!shortest || !longest) return null;
    return isSamePrice(shortest, longest) ? longest : undefined;
  };
};

/**
 * The default prices: what providers list, with the changes over time that the library knows. Its
 * table is large, so it is loaded once per container, when somebody first asks for costs.
 */
export const loadDefaultPrices = async (): Promise<PriceBook> => {
  const find = await theFinder();
  return (model, startedAt, promptTokens) => {
    if (model.length > maxName) return undefined;
    const found = find(model, new Date(startedAt / 1000));
    return found ? defaultInForce(found, promptTokens) : undefined;
  };
};

/** What the table of default prices knows of models. */
export interface ModelFacts {
  /** What it knows of a model by any of its names. */
  readonly find: (
    model: string,
  ) => { readonly contextWindow: number | undefined; readonly price: PriceInForce | undefined } | undefined;
  /** The models that it has of the provider with this base URL, by their names there. */
  readonly ofProvider: (baseUrl: string) => readonly string[];
}

/** Loads what the table of default prices knows of models today. */
export const loadModelFacts = async (): Promise<ModelFacts> => {
  const [find, { findProvider }] = await Promise.all([theFinder(), import('@pydantic/genai-prices')]);
  return {
    find: (model) => {
      const found = model.length > maxName ? null : find(model, new Date());
      return found
        ? { contextWindow: found.model.context_window, price: defaultInForce(found, 0) }
        : undefined;
    },
    ofProvider: (baseUrl) => {
      const models = findProvider({ providerApiUrl: baseUrl })?.models ?? [];
      return models.filter(({ deprecated }) => !deprecated).map(({ id }) => id);
    },
  };
};

/** No model of the default prices costs more for a token, of prompts or of answers. */
const dearestModel = 'o1-pro';

/** The price of the dearest model of the default prices. */
export const dearestDefault = async (): Promise<PriceInForce> => {
  const price = (await loadDefaultPrices())(dearestModel, Date.now() * 1000, 0);
  if (!price) throw new Error(`the default prices have no ${dearestModel}`);
  return price;
};

/**
 * Finds the price of a model that is in force throughout a span of time, for prompts of any length
 * up to the longest.
 *
 * @returns null if there is none at any time; undefined if it is not the same throughout
 */
export type SteadyPrices = (
  model: string,
  from: Micros,
  to: Micros,
  maxPrompt: number,
) => PriceInForce | null | undefined;

/**
 * Puts a project's own prices before the default ones, as {@link priceBook} does.
 *
 * @param prices all prices of the project, in any order
 */
export const steadyPrices = async (projectId: ProjectId, prices: readonly Price[]): Promise<SteadyPrices> => {
  const defaults = await loadSteadyDefaults();
  const own = priceBook(projectId, prices, () => undefined);
  const byModel = Map.groupBy(prices, ({ model }) => model);
  return (model, from, to, maxPrompt) => {
    const changes = byModel.get(model)?.some(({ effectiveDate: date }) => date > from && date < to);
    if (changes) return undefined;
    return own(model, from, maxPrompt) ?? defaults(model, from, to, maxPrompt);
  };
};
