export { rootOf } from './columns.ts';
export { type Plan, plan, planSummary } from './plan.ts';
export { type QueryCounts, type QueryRun, queryCalls } from './query.ts';
export * from './request.ts';
export { callsQueryBody } from './schema.ts';
