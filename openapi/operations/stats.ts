import * as z from 'zod/mini';
import * as requests from '../../api/requests.ts';
import { documented } from '../../core/foundations/wire/schema.ts';
import { field, timestamp } from '../answers/fields.ts';
import type { Operations } from '../operation.ts';

const tokens = z.number().check(z.minimum(0));

const modelUsage = z.object({
  requests: field(tokens, 'Requests to the model.'),
  prompt_tokens: field(tokens, 'Tokens of prompts, cached ones included.'),
  completion_tokens: field(tokens, 'Tokens of completions.'),
  total_tokens: field(tokens, 'All tokens.'),
  cache_read_input_tokens: field(tokens, "Tokens of prompts that were read from the provider's cache."),
  cache_creation_input_tokens: field(tokens, "Tokens of prompts that were written to the provider's cache."),
  prompt_token_cost: field(z.optional(z.number()), 'The price of a prompt token, of the latest call.'),
  completion_token_cost: field(
    z.optional(z.number()),
    'The price of a completion token, of the latest call.',
  ),
  prompt_tokens_total_cost: field(z.optional(z.number()), 'What all tokens of prompts cost.'),
  completion_tokens_total_cost: field(z.optional(z.number()), 'What all tokens of completions cost.'),
  prompt_token_cost_unit: field(z.optional(z.string()), 'Such as `USD`.'),
  completion_token_cost_unit: field(z.optional(z.string()), 'Such as `USD`.'),
  effective_date: field(
    z.optional(z.nullable(timestamp)),
    'Since when the price is in force; null for ever.',
  ),
  provider_id: field(z.optional(z.string()), 'Whose price it is.'),
  pricing_level: field(z.optional(z.enum(['project', 'default'])), 'Whether the project has its own price.'),
  pricing_level_id: field(z.optional(z.string()), 'The project, or `default`.'),
  created_at: field(z.optional(z.nullable(timestamp)), 'When the price was stored; null for a default one.'),
  created_by: field(z.optional(z.string()), 'Who stored it, or whose list it is from.'),
});

const bucket = z
  .looseObject({ timestamp: field(timestamp, 'When the bucket begins.') })
  .register(documented, { name: 'StatsPeriod' });

/** What usage is answered as. */
export const usageAnswer = () =>
  z.object({
    call_usage: field(
      z.record(z.string(), z.record(z.string(), modelUsage)),
      'By the id of the call, then by model.',
    ),
    error_counts: field(
      z.record(z.string(), z.int()),
      'How many calls failed, of each call and all below it, by its id.',
    ),
    unfinished_call_ids: field(
      z.array(z.string()),
      'The calls that run, or have a call below them that runs: they may use more yet.',
    ),
  });

/** What the document says of statistics and usage. */
export const statsOperations = (): Pick<Operations, '/calls/stats' | '/calls/usage'> => ({
  '/calls/stats': [
    {
      name: 'CallsStats',
      tag: 'statistics',
      summary: 'Count calls over time',
      description:
        'Counts, sums, means, extremes and percentiles of calls and their usage, in buckets of time and by groups. A call is in the bucket of its `started_at`; one that runs counts, and has no latency. Percentiles are within 1 % of the exact value, all else is exact. Buckets without calls are left out. A metric without `aggregations` and `percentiles` is summed up.',
      request: requests.callsStats,
      answer: z.object({
        start: field(timestamp, 'The beginning, inclusive.'),
        end: field(timestamp, 'The end, exclusive.'),
        granularity: field(z.int(), 'Seconds of a bucket.'),
        timezone: field(z.string(), 'The zone whose midnights buckets are aligned to.'),
        call_buckets: field(z.array(bucket), 'By time and group.'),
        usage_buckets: field(z.array(bucket), 'By time, group and `model`.'),
      }),
      examples: {
        day: {
          summary: 'A day, by op',
          body: {
            ...{ project_id: 'acme/shop', start: '2026-10-01T00:00:00Z', end: '2026-10-02T00:00:00Z' },
            granularity: 86_400,
            filter: { op_names: ['answer'] },
            call_metrics: [
              { metric: 'call_count' },
              { metric: 'latency_ms', aggregations: ['max'], percentiles: [50] },
            ],
            usage_metrics: [{ metric: 'input_tokens' }],
            group_by: ['op_name'],
          },
          answer: {
            ...{ start: '2026-10-01T00:00:00.000000Z', end: '2026-10-02T00:00:00.000000Z' },
            ...{ granularity: 86_400, timezone: 'UTC' },
            call_buckets: [
              {
                ...{ timestamp: '2026-10-01T00:00:00.000000Z', op_name: 'answer', sum_call_count: 1 },
                ...{ max_latency_ms: 1500, p50_latency_ms: 1500 },
              },
            ],
            usage_buckets: [
              {
                ...{ timestamp: '2026-10-01T00:00:00.000000Z', model: 'gpt-4o', op_name: 'answer' },
                sum_input_tokens: 1200,
              },
            ],
          },
        },
      },
    },
  ],
  '/calls/usage': [
    {
      name: 'CallsUsage',
      tag: 'statistics',
      summary: 'Sum up usage',
      description:
        'What each call used with all calls below it, by model: tokens and, if asked for, costs at the prices in force when each call started. Models without a price have no costs. Unknown ids are left out. `trace_ids` are the traces of the calls, if you know them: calls that are found there need not be looked up.',
      request: requests.callsUsage,
      answer: usageAnswer(),
      examples: {
        turn: {
          summary: 'A turn and what is below it',
          body: { project_id: 'acme/shop', call_ids: ['turn-1'], trace_ids: ['trace-1'] },
          answer: {
            call_usage: {
              'turn-1': {
                'gpt-4o': {
                  ...{ requests: 1, prompt_tokens: 1200, completion_tokens: 12, total_tokens: 1212 },
                  ...{ cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
                },
              },
            },
            error_counts: { 'turn-1': 0 },
            unfinished_call_ids: [],
          },
        },
      },
    },
  ],
});
