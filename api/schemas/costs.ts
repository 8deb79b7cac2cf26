import * as z from 'zod/mini';
import type { CostsCreate, PriceRow, PriceTerms } from '../../core/costs/model.ts';
import { type CostsQuery, everyPrice, priceFields, readField } from '../../core/costs/query.ts';
import { compile, optionalQuery, type RecordKind, sortSchema } from '../../core/expression/index.ts';
import { idRule, isJsonObject, type Micros, parseTime } from '../../core/wire/index.ts';
import { purgeByIds } from '../../core/wire/purge.ts';
import { count, documented, id, nullish, numeric, projectId, time } from '../../core/wire/schema.ts';

/** More than any token costs in any unit. Below it, tokens × cost stays finite. */
const highestCost = 1e9;
const maxModels = 100;

const cost = numeric(z.number().check(z.minimum(0), z.maximum(highestCost)));

const priceSchema = z
  .strictObject({
    prompt_token_cost: cost,
    completion_token_cost: cost,
    prompt_token_cost_unit: nullish(id),
    completion_token_cost_unit: nullish(id),
    effective_date: nullish(time),
    provider_id: nullish(id),
  })
  .register(documented, { name: 'CostTerms' });

const termsOf = (model: string, price: z.output<typeof priceSchema>, now: Micros): PriceTerms => ({
  model,
  promptTokenCost: price.prompt_token_cost,
  completionTokenCost: price.completion_token_cost,
  promptTokenCostUnit: price.prompt_token_cost_unit ?? 'USD',
  completionTokenCostUnit: price.completion_token_cost_unit ?? 'USD',
  effectiveDate: parseTime(price.effective_date ?? '') ?? now,
  providerId: price.provider_id ?? 'default',
});

const byModel = z
  .custom<Record<string, z.input<typeof priceSchema>>>(isJsonObject, {
    error: 'should be an object',
    params: { type: 'dict_type' },
  })
  // z.record would ignore it.
  .check(
    z.refine((models) => !Object.hasOwn(models, '__proto__'), { error: 'no model can be called __proto__' }),
  );

const pricesByModel = z.record(id, priceSchema, { error: `a model's name ${idRule}` });

const costsSchema = z
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
  .register(documented, { like: () => pricesByModel, says: { minProperties: 1, maxProperties: maxModels } });

/** The body of `/cost/create`. Prices without a date are in force from now on. */
export const costCreateBody = z.pipe(
  z.strictObject({ project_id: projectId, costs: costsSchema }),
  z.transform((body): CostsCreate => {
    const now = Date.now() * 1000;
    const terms = Object.entries(body.costs).map(([model, price]) => termsOf(model, price, now));
    return { projectId: body.project_id, terms };
  }),
);

/** Prices as records for expressions. */
const priceKind: RecordKind = {
  name: 'Cost',
  fields: priceFields,
  nested: [],
  times: new Set(['effective_date']),
};

/** The body of `/cost/query`. */
export const costQueryBody = z.pipe(
  z.strictObject({
    project_id: projectId,
    fields: nullish(z.array(z.enum(priceFields))),
    query: optionalQuery(priceKind),
    sort_by: nullish(sortSchema(priceKind)),
    limit: nullish(count),
    offset: nullish(count),
  }),
  z.transform(
    (body): CostsQuery => ({
      projectId: body.project_id,
      fields: body.fields ?? null,
      matches: body.query ? compile<PriceRow>(priceKind, body.query, readField) : everyPrice,
      sort: body.sort_by ?? [],
      limit: body.limit ?? null,
      offset: body.offset ?? 0,
    }),
  ),
);

/** The body of `/cost/purge`. Its `query` becomes the ids that it names. */
export const costPurgeBody = z.strictObject({ project_id: projectId, query: purgeByIds });
