import { endpoint, longAnswer } from '../../../../api/endpoint.ts';
import { project, queryNames, queryText } from '../../../../api/fields.ts';
import { callKind, filter, noIncludes } from '../../../../api/queries.ts';
import { includeCosts, usageAnswer } from '../../../../api/stats.ts';
import { optionalQuery } from '../../../../foundations/expression/index.ts';
import { count, field, nullish, record } from '../../../../foundations/wire/schema.ts';

/** The most calls whose usage is answered at once. */
const maxTraceCalls = 10_000;

const traceUsageBody = () =>
  record(
    {
      project_id: project,
      filter: filter(),
      query: field(optionalQuery(callKind(noIncludes)), queryText),
      limit: field(nullish(count), 'The most to answer; all without it, or with null.'),
      include_costs: includeCosts,
    },
    { ...queryNames, include_costs: 'withCosts' },
    ({ limit }) => ({ limit: Math.min(limit ?? maxTraceCalls, maxTraceCalls), includes: noIncludes }),
  );

export const traceUsage = /* @__PURE__ */ endpoint({
  path: '/trace/usage',
  shape: longAnswer,
  stores: { calls: 'query', payloads: 'read', costs: 'read', feedback: 'joinMany' },
  tag: 'weave',
  name: 'TraceUsage',
  summary: 'Sum up the usage of selected calls',
  description: 'As `/calls/usage`, for the calls that a filter and a query select; at most 10,000 of them.',
  request: traceUsageBody,
  answer: usageAnswer,
  examples: {},
});
