import { everyCall } from '../../../api/queries.ts';
import { compare } from '../../../foundations/expression/index.ts';
import { asString, type ProjectId } from '../../../foundations/wire/index.ts';
import { computeUsage } from '../../questions/stats/index.ts';
import { type Call, headerColumns, readCalls, rounded, toFields } from './calls.ts';
import type { ToolContext } from './context.ts';
import type { JsonFields } from './reply.ts';

const isBlank = (call: Call): boolean => {
  const { input, output } = toFields(call.preview);
  return (input ?? null) === null && (output ?? null) === null;
};

/**
 * Gives roots that have no previews those of the first and the last model call in their traces.
 *
 * @param calls with previews; those in sight
 */
export const withPreviews = async (
  context: ToolContext,
  projectId: ProjectId,
  calls: readonly Call[],
): Promise<readonly Call[]> => {
  const blank = calls.filter((call) => call.parent_id === null && isBlank(call));
  if (blank.length === 0) return calls;
  const models = await readCalls(context, {
    projectId,
    filter: { ...everyCall, traceIds: blank.flatMap(({ trace_id }) => asString(trace_id) ?? []) },
    where: compare('attributes.kind', '$eq', 'model'),
    columns: ['preview'],
  });
  const byTrace = Map.groupBy(models, ({ trace_id }) => trace_id);
  return calls.map((call) => {
    const below = blank.includes(call) ? (byTrace.get(call.trace_id) ?? []) : [];
    const first = below[0];
    const last = below.at(-1);
    if (!first || !last) return call;
    return {
      ...call,
      preview: { input: toFields(first.preview).input, output: toFields(last.preview).output },
    };
  });
};

/** What the traces of roots took in all, by the ids of the roots. */
export const traceFigures = async (
  { stores, budget, lookups }: ToolContext,
  projectId: ProjectId,
  calls: readonly Call[],
): Promise<ReadonlyMap<string, JsonFields>> => {
  const roots = calls.filter(({ parent_id }) => parent_id === null);
  if (roots.length === 0) return new Map();
  const ids = (name: 'id' | 'trace_id') => [...new Set(roots.flatMap((call) => asString(call[name]) ?? []))];
  const request = { projectId, callIds: ids('id'), traceIds: ids('trace_id'), withCosts: true };
  const { answer } = await computeUsage(stores.calls, request, budget, lookups);
  return new Map(
    ids('id').map((id) => {
      const models = Object.values(answer.call_usage[id] ?? {});
      const sum = (read: (model: (typeof models)[number]) => number): number =>
        models.reduce((all, model) => all + read(model), 0);
      const cost = sum(
        (model) => (model.prompt_tokens_total_cost ?? 0) + (model.completion_tokens_total_cost ?? 0),
      );
      return [
        id,
        {
          errors: answer.error_counts[id] ?? 0,
          ...(models.length > 0 && {
            tokens_in: sum((model) => model.prompt_tokens),
            tokens_out: sum((model) => model.completion_tokens),
          }),
          ...(cost > 0 && { cost_usd: rounded(cost) }),
        },
      ];
    }),
  );
};

/** What rows of lists need of calls. */
export const listColumns: readonly string[] = [...headerColumns, 'preview'];
