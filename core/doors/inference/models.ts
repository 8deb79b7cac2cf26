import type { ModelFacts, PriceInForce } from '../../records/costs/index.ts';
import { candidatesFor, type ModelRule, nameByRule, type Upstream } from './upstream.ts';

/** A model that requests may name. */
export interface ListedModel {
  /** As requests name it. */
  readonly id: string;
  /** The upstream that is asked first. */
  readonly upstream: string;
  /** The most tokens that it takes, if the price table knows. */
  readonly contextWindow: number | undefined;
  /** What its tokens cost, if the price table knows. */
  readonly price: PriceInForce | undefined;
}

const listed = (upstreams: readonly Upstream[], facts: ModelFacts, id: string): ListedModel | undefined => {
  const [first] = candidatesFor(upstreams, id);
  if (!first) return undefined;
  const { contextWindow, price } = facts.find(first.model) ?? facts.find(id) ?? {};
  return { id, upstream: first.upstream.name, contextWindow, price };
};

/** What the `*` of a rule stands for, in the name that its upstream gets; undefined if it is not of the rule. */
const starIn = (sent: string, name: string): string | undefined =>
  nameByRule({ match: sent, send: '*' }, name);

/** The names by which requests reach the models of a rule. */
const expandNames = ({ match, send = match }: ModelRule, known: readonly string[]): string[] => {
  if (!match.includes('*')) return [match];
  // Any text reaches one model, so there is no name to list.
  if (!send.includes('*')) return [];
  return known.flatMap((name) => {
    const star = starIn(send, name);
    return star === undefined ? [] : [match.replace('*', () => star)];
  });
};

/**
 * The models that the rules of upstreams name, each once, in the order of the rules. A rule with `*`
 * stands for those that the price table has of the upstream's provider, which it knows by the base URL.
 */
export const listModels = (upstreams: readonly Upstream[], facts: ModelFacts): ListedModel[] => {
  const names = upstreams.flatMap(({ place, models }) => {
    const known = place.speaks === 'bedrock' ? [] : facts.ofProvider(place.baseUrl);
    return models.flatMap((rule) => expandNames(rule, known));
  });
  return [...new Set(names)].flatMap((id) => listed(upstreams, facts, id) ?? []);
};

/** A model that requests may name, also if it is not listed; undefined if no rule matches it. */
export const getModel = (
  upstreams: readonly Upstream[],
  facts: ModelFacts,
  id: string,
): ListedModel | undefined => listed(upstreams, facts, id);

/** Prices of tokens in dollars, as prices of models are stored. */
const toPrices = ({ price }: ListedModel) =>
  price && {
    prompt_token_cost: price.promptTokenCost,
    completion_token_cost: price.completionTokenCost,
    cache_read_token_cost: price.cacheReadTokenCost,
    cache_write_token_cost: price.cacheWriteTokenCost,
  };

/** A model in the form of OpenAI's API. When it was made is not known. */
export const toOpenAi = (model: ListedModel) => ({
  id: model.id,
  object: 'model' as const,
  created: 0,
  owned_by: model.upstream,
  ...(model.contextWindow !== undefined && { context_window: model.contextWindow }),
  ...toPrices(model),
});

/** A model in the form of Anthropic's API, which has 1970 for a time that is not known. */
export const toAnthropic = (model: ListedModel) => ({
  type: 'model' as const,
  id: model.id,
  display_name: model.id,
  created_at: '1970-01-01T00:00:00Z',
  ...(model.contextWindow !== undefined && { max_input_tokens: model.contextWindow }),
  ...toPrices(model),
});
