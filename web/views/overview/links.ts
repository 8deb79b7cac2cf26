import { typedText } from '../../data/literal.ts';
import type { Condition, TracesSearch } from '../traces/search.ts';
import type { Worse } from './changes.ts';
import type { Span } from './period.ts';
import type { Dimension } from './search.ts';

const iso = (ms: number): string => new Date(ms).toISOString();

/** The calls of a span of time, which figures are counted of. */
export const callsIn = (project: string, { start, end }: Span): TracesSearch => ({
  project,
  all: true,
  from: iso(start),
  to: iso(end),
});

/** The condition that calls of a group fulfil. */
const conditionOf = (by: Dimension, group: string): Condition => {
  if (by === 'model') return { path: `summary.usage.${group}`, op: 'exists', value: '' };
  return { path: by === 'op' ? 'op_name' : 'svc_user_id', op: 'is', value: typedText(group) };
};

/** The calls of a group. */
export const callsOf = (project: string, span: Span, by: Dimension, group: string): TracesSearch => ({
  ...callsIn(project, span),
  where: [conditionOf(by, group)],
});

/** The calls that show what became worse, the worst first where they can be sorted by it. */
export const worseCalls = (
  project: string,
  span: Span,
  by: Dimension,
  group: string,
  worse: Worse,
): TracesSearch => ({
  ...callsOf(project, span, by, group),
  // What failed has no usage as a rule.
  ...(worse === 'faultier' &&
    by === 'model' && { where: [{ path: 'inputs.model', op: 'is' as const, value: typedText(group) }] }),
  ...(worse === 'faultier' && { status: ['error'] }),
  ...(worse === 'slower' && { sort: '-summary.svc.latency_ms' }),
});

/** The calls of a span that failed. */
export const failuresIn = (project: string, span: Span): TracesSearch => ({
  ...callsIn(project, span),
  status: ['error'],
});
