import * as z from 'zod/mini';
import { optionalQuery, type RecordKind, sortSchema } from '../foundations/expression/index.ts';
import { idRule, isJsonObject } from '../foundations/wire/index.ts';
import {
  documented,
  field,
  id,
  nullish,
  numeric,
  record,
  rule,
  withDefault,
} from '../foundations/wire/schema.ts';
import { endpoint, oneAnswer, oneRecord } from './endpoint.ts';
import { done, micros, project, queryNames, queryText, slice, sortText, timestamp } from './fields.ts';
import { purgeByIds } from './purge.ts';

/** More than any token costs in any unit. Below it, tokens × cost stays finite. */
const highestCost = 1e9;
const maxModels = 100;

const tokenCost = numeric(z.number().check(z.minimum(0), z.maximum(highestCost)));

/** What prices call the costs of cached tokens inside. */
const cachedNames = {
  cache_read_input_token_cost: 'cacheReadTokenCost',
  cache_creation_input_token_cost: 'cacheWriteTokenCost',
} as const;

const terms = () =>
  record(
    {
      prompt_token_cost: field(tokenCost, 'What one token of a prompt costs, in its unit.'),
      completion_token_cost: field(tokenCost, 'What one token of a completion costs, in its unit.'),
      prompt_token_cost_unit: field(withDefault(id, 'USD'), '`USD` without it.'),
      completion_token_cost_unit: field(withDefault(id, 'USD'), '`USD` without it.'),
      effective_date: field(nullish(micros), 'Calls from then on cost this; now without it.'),
      provider_id: field(withDefault(id, 'default'), 'Who provides the model; `default` without it.'),
      cache_read_input_token_cost: field(
        nullish(tokenCost),
        'What one token of a prompt costs that was read from a cache; what others cost without it.',
      ),
      cache_creation_input_token_cost: field(
        nullish(tokenCost),
        'What one token of a prompt costs that was written to a cache; what others cost without it.',
      ),
    },
    cachedNames,
  ).register(documented, { name: 'CostTerms' });

type CostTerms = z.output<ReturnType<typeof terms>>;

const modelCount = (isRight: (models: number) => boolean, error: string, type: string) =>
  z.refine<Record<string, CostTerms>>((models) => isRight(Object.keys(models).length), rule(error, type));

const byModel = () => {
  const models = z.record(id, terms(), { error: `a model's name ${idRule}` });
  return z
    .pipe(
      z
        .custom<z.input<typeof models>>(isJsonObject, rule('should be an object', 'dict_type'))
        // z.record would ignore it.
        .check(z.refine((models) => !Object.hasOwn(models, '__proto__'), 'no model can be called __proto__')),
      models.check(
        modelCount((count) => count > 0, 'should name at least one model', 'too_short'),
        modelCount((count) => count <= maxModels, `should name at most ${maxModels} models`, 'too_long'),
      ),
    )
    .register(documented, { like: () => models, keywords: { minProperties: 1, maxProperties: maxModels } });
};

const example = {
  prompt_token_cost: 0.0000025,
  completion_token_cost: 0.00001,
  effective_date: '2026-01-01T00:00:00Z',
};

// Tools know lists of a fixed length better than tuples.
const pair = z.array(z.string()).check(z.minLength(2), z.maxLength(2));

const pricesBody = () =>
  record(
    {
      project_id: project,
      costs: field(byModel(), 'The prices, by the exact names of models in `summary.usage`.'),
    },
    {},
    ({ costs }) => {
      const now = Date.now() * 1000;
      const terms = Object.entries(costs).map(([model, price]) => ({
        ...price,
        model,
        effectiveDate: price.effectiveDate ?? now,
        cacheReadTokenCost: price.cacheReadTokenCost ?? undefined,
        cacheWriteTokenCost: price.cacheWriteTokenCost ?? undefined,
      }));
      return { terms };
    },
  );

export const costCreate = /* @__PURE__ */ endpoint({
  path: '/cost/create',
  role: 'write',
  shape: oneRecord,
  stores: { costs: 'create' },
  tag: 'costs',
  name: 'CostCreate',
  summary: 'Store prices of models',
  description:
    'Stores what models cost the project per token from `effective_date` on, or from now on without it. The same price again gives the same id. Of several prices of a model, the newest one in force counts.',
  request: pricesBody,
  answer: () => z.object({ ids: field(z.array(pair), 'The name of each model, and the id of its price.') }),
  examples: {
    model: {
      summary: 'The price of one model',
      body: { project_id: 'acme/shop', costs: { 'gpt-4o': example } },
      answer: { ids: [['gpt-4o', '019b76da-a800-705a-af62-24b59533ff7e']] },
    },
  },
});

const wholePrice = () =>
  z.object({
    id: field(z.string(), "The price's id."),
    llm_id: field(z.string(), "The model's name."),
    prompt_token_cost: field(z.number(), 'What one token of a prompt costs, in its unit.'),
    completion_token_cost: field(z.number(), 'What one token of a completion costs, in its unit.'),
    prompt_token_cost_unit: field(z.string(), 'Such as `USD`.'),
    completion_token_cost_unit: field(z.string(), 'Such as `USD`.'),
    effective_date: field(timestamp, 'Calls that started then or later cost this.'),
    provider_id: field(z.string(), 'Who provides the model.'),
    cache_read_input_token_cost: field(
      z.nullable(z.number()),
      'What one token of a prompt costs that was read from a cache; if it costs what others do, null, or missing without `fields`.',
    ),
    cache_creation_input_token_cost: field(
      z.nullable(z.number()),
      'What one token of a prompt costs that was written to a cache; if it costs what others do, null, or missing without `fields`.',
    ),
  });

/** A price as it is answered. With `fields` it has those alone. */
const price = () => z.partial(wholePrice()).register(documented, { name: 'Cost' });

/** A price as it is answered, in full. */
export type PriceRow = Readonly<z.output<ReturnType<typeof wholePrice>>>;

/** Made once: queries need it, and schemas take time to make. */
let kind: RecordKind | undefined;

/** Prices as records for expressions. */
export const priceKind = (): RecordKind => {
  kind ??= {
    name: 'Cost',
    fields: Object.keys(price().shape),
    nested: [],
    times: new Set(['effective_date']),
  };
  return kind;
};

const costsQuery = () => {
  const kind = priceKind();
  const names = z.enum(kind.fields as [keyof PriceRow, ...(keyof PriceRow)[]]);
  return record(
    {
      project_id: project,
      fields: field(nullish(z.array(names)), 'The fields to answer. All without it.'),
      query: field(optionalQuery(kind), queryText),
      sort_by: field(withDefault(sortSchema(kind), []), sortText),
      ...slice,
    },
    queryNames,
  );
};

/** A query over the prices of one project. */
export type CostsQuery = z.output<ReturnType<typeof costsQuery>>;

export const costQuery = /* @__PURE__ */ endpoint({
  path: '/cost/query',
  shape: oneAnswer,
  stores: { costs: 'read' },
  tag: 'costs',
  name: 'CostQuery',
  summary: "Query a project's prices",
  description: "The project's own prices, strongly consistent. Without `sort_by` they come by `id`.",
  request: costsQuery,
  answer: () => z.object({ results: field(z.array(price()), 'The prices, in order.') }),
  examples: {
    prices: {
      summary: 'Two fields of each price',
      body: {
        project_id: 'acme/shop',
        fields: ['llm_id', 'prompt_token_cost'],
        sort_by: [{ field: 'llm_id', direction: 'asc' }],
      },
      answer: { results: [{ llm_id: 'gpt-4o', prompt_token_cost: 0.0000025 }] },
    },
  },
});

export const costPurge = /* @__PURE__ */ endpoint({
  path: '/cost/purge',
  role: 'write',
  shape: oneRecord,
  stores: { costs: 'purge', audit: 'append' },
  tag: 'costs',
  name: 'CostPurge',
  summary: 'Delete prices',
  description: 'Deletes prices by their ids. Unknown ids are ignored.',
  request: () =>
    record(
      {
        project_id: project,
        query: field(purgeByIds, 'Which prices, only by id: an `$eq`, or an `$or` of these.'),
      },
      { query: 'ids' },
    ),
  answer: () => done,
  examples: {
    one: {
      summary: 'One price',
      body: {
        project_id: 'acme/shop',
        query: {
          $expr: { $eq: [{ $getField: 'id' }, { $literal: '019b76da-a800-705a-af62-24b59533ff7e' }] },
        },
      },
      answer: {},
    },
  },
});

/** The endpoints of this file. Their examples run in this order. */
export const costRoutes = [costCreate, costQuery, costPurge] as const;
