export { type Lookups, noLookups } from './enrich.ts';
export { findRequirements } from './fields.ts';
export { among, compileTests, matchesAny, type Tests } from './filter.ts';
export { type Plan, type Planned, plan, planSummary } from './plan.ts';
export { feedbackAt, QueriedCall } from './queried-call.ts';
export {
  type CallsStats,
  countCalls,
  findCalls,
  type QueryAnswer,
  queryCalls,
  readCallJson,
} from './query.ts';
export { joinParts, scanParts } from './scan.ts';
