import { everyCall } from '../../../api/queries.ts';
import { compare } from '../../../foundations/expression/index.ts';
import type { ProjectId } from '../../../foundations/wire/index.ts';
import { usageOf } from '../../questions/stats/index.ts';
import { type Call, fieldsOf, headerColumns, readCalls, rounded, textOf } from './calls.ts';
import type { ToolContext } from './context.ts';
import type { JsonFields } from './reply.ts';

const isBlank = (call: Call): boolean => {
  const { input, output } = fieldsOf(call.preview);
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
    filter: { ...everyCall, traceIds: blank.flatMap(({ trace_id }) => textOf(trace_id) ?? []) },
    where: compare('attributes.kind', '$eq', 'model'),
    columns: ['preview'],
  });
  const byTrace = Map.groupBy(models, ({ trace_id }) => trace_id);
  return calls.map((call) => {
    const below = blank.includes(call) ? (byTrace.get(call.trace_id) ?? []) : [];
    const [first, last] = [below[0], below.at(-1)];
    if (!first || !last) return call;
    return {
      ...call,
      preview: { input: fieldsOf(first.preview).input, output: fieldsOf(last.preview).output },
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
  const ids = (name: 'id' | 'trace_id') => [...new Set(roots.flatMap((call) => textOf(call[name]) ?? []))];
  const request = { projectId, callIds: ids('id'), traceIds: ids('trace_id'), withCosts: true };
  const { answer } = await usageOf(stores.calls, request, budget, lookups);
  return new Map(
    ids('id').map((id) => {
      const models = Object.values(answer.call_usage[id] ?? {});
      const sum = (of: (model: (typeof models)[number]) => number): number =>
        models.reduce((all, model) => all + of(model), 0);
      const cost = sum((of) => (of.prompt_tokens_total_cost ?? 0) + (of.completion_tokens_total_cost ?? 0));
      return [
        id,
        {
          errors: answer.error_counts[id] ?? 0,
          ...(models.length > 0 && {
            tokens_in: sum((of) => of.prompt_tokens),
            tokens_out: sum((of) => of.completion_tokens),
          }),
          ...(cost > 0 && { cost_usd: rounded(cost) }),
        },
      ];
    }),
  );
};

/** What rows of lists need of calls. */
export const listColumns: readonly string[] = [...headerColumns, 'preview'];
