import * as z from 'zod/mini';
import {
  compile,
  optionalQuery,
  type RecordKind,
  sortSchema,
} from '../../core/foundations/expression/index.ts';
import {
  idRule,
  isJsonObject,
  type Micros,
  parseTime,
  type WireNames,
} from '../../core/foundations/wire/index.ts';
import { purgeByIds } from '../../core/foundations/wire/purge.ts';
import {
  count,
  documented,
  fieldOf,
  id,
  namedFields,
  nullish,
  numeric,
  projectId,
  time,
} from '../../core/foundations/wire/schema.ts';
import type { CostsCreate, PriceRow, PriceTerms } from '../../core/records/costs/model.ts';
import { type CostsQuery, everyPrice, priceFields, readField } from '../../core/records/costs/query.ts';

/** More than any token costs in any unit. Below it, tokens × cost stays finite. */
const highestCost = 1e9;
const maxModels = 100;

const cost = numeric(z.number().check(z.minimum(0), z.maximum(highestCost)));

const maybeCost = nullish(cost);

const priceSchema = ({ dialect }: WireNames) =>
  z
    .strictObject({
      prompt_token_cost: cost,
      completion_token_cost: cost,
      prompt_token_cost_unit: nullish(id),
      completion_token_cost_unit: nullish(id),
      effective_date: nullish(time),
      provider_id: nullish(id),
      ...namedFields(
        dialect === 'weave'
          ? { cache_read_input_token_cost: maybeCost, cache_creation_input_token_cost: maybeCost }
          : {},
      ),
    })
    .register(documented, { name: 'CostTerms' });

type PriceSchema = ReturnType<typeof priceSchema>;

/** Weave's SDKs send 0 for what nobody said, so it counts as that. */
const cachedCosts = (price: object): Pick<PriceTerms, 'cacheReadTokenCost' | 'cacheWriteTokenCost'> => {
  const read = fieldOf(price, 'cache_read_input_token_cost', maybeCost);
  const written = fieldOf(price, 'cache_creation_input_token_cost', maybeCost);
  return { ...(read && { cacheReadTokenCost: read }), ...(written && { cacheWriteTokenCost: written }) };
};

const termsOf = (model: string, price: z.output<PriceSchema>, now: Micros): PriceTerms => ({
  model,
  promptTokenCost: price.prompt_token_cost,
  completionTokenCost: price.completion_token_cost,
  promptTokenCostUnit: price.prompt_token_cost_unit ?? 'USD',
  completionTokenCostUnit: price.completion_token_cost_unit ?? 'USD',
  effectiveDate: parseTime(price.effective_date ?? '') ?? now,
  providerId: price.provider_id ?? 'default',
  ...cachedCosts(price),
});

const byModel = z
  .custom<Record<string, z.input<PriceSchema>>>(isJsonObject, {
    error: 'should be an object',
    params: { type: 'dict_type' },
  })
  // z.record would ignore it.
  .check(
    z.refine((models) => !Object.hasOwn(models, '__proto__'), { error: 'no model can be called __proto__' }),
  );

const costsSchema = (names: WireNames) => {
  const pricesByModel = z.record(id, priceSchema(names), { error: `a model's name ${idRule}` });
  return z
    .pipe(byModel, pricesByModel)
    .check(
      z.refine((models) => Object.keys(models).length > 0, {
        error: 'should name at least one model',
        params: { type: 'too_short' },
      }),
      z.refine((models) => Object.keys(models).length <= maxModels, {
        error: `should name at most ${maxModels} models`,
        params: { type: 'too_long' },
      }),
    )
    .register(documented, {
      like: () => pricesByModel,
      says: { minProperties: 1, maxProperties: maxModels },
    });
};

/** The body of `/cost/create`. Prices without a date are in force from now on. */
export const costCreateBody = (names: WireNames) =>
  z.pipe(
    z.strictObject({ project_id: projectId, costs: costsSchema(names) }),
    z.transform((body): CostsCreate => {
      const now = Date.now() * 1000;
      const terms = Object.entries(body.costs).map(([model, price]) => termsOf(model, price, now));
      return { projectId: body.project_id, terms };
    }),
  );

/** Prices as records for expressions. */
const priceKind = (names: WireNames): RecordKind => ({
  name: 'Cost',
  fields: priceFields(names),
  nested: [],
  times: new Set(['effective_date']),
});

/** The body of `/cost/query`. */
export const costQueryBody = (names: WireNames) => {
  const kind = priceKind(names);
  return z.pipe(
    z.strictObject({
      project_id: projectId,
      fields: nullish(z.array(z.enum(priceFields(names)))),
      query: optionalQuery(kind),
      sort_by: nullish(sortSchema(kind)),
      limit: nullish(count),
      offset: nullish(count),
    }),
    z.transform(
      (body): CostsQuery => ({
        projectId: body.project_id,
        fields: body.fields ?? null,
        matches: body.query ? compile<PriceRow>(kind, body.query, readField) : everyPrice,
        sort: body.sort_by ?? [],
        limit: body.limit ?? null,
        offset: body.offset ?? 0,
      }),
    ),
  );
};

/** The body of `/cost/purge`. Its `query` becomes the ids that it names. */
export const costPurgeBody = z.strictObject({ project_id: projectId, query: purgeByIds });
