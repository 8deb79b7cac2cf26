export { rootOf } from './columns.ts';
export { type Plan, plan, planSummary } from './plan.ts';
export { type QueryAnswer, type QueryCounts, queryCalls } from './query.ts';
export * from './request.ts';
export { callsQueryBody } from './schema.ts';
