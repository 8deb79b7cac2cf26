export { type Lookups, noLookups } from './enrich.ts';
export { type Plan, plan, planSummary } from './plan.ts';
export { type QueryAnswer, type QueryCounts, queryCalls } from './query.ts';
export { type CallRead, readCallJson } from './read.ts';
export * from './request.ts';
export { callReadBody, callsQueryBody, callsStatsBody } from './schema.ts';
export { type CallsStats, countCalls } from './stats.ts';
