export { pick } from './columns.ts';
export { type Lookups, noLookups } from './enrich.ts';
export { joinParts } from './join.ts';
export { type Plan, plan, planSummary } from './plan.ts';
export { type QueryAnswer, type QueryCounts, queryCalls } from './query.ts';
export { type CallRead, readCallJson } from './read.ts';
export * from './request.ts';
export { type PartRow, scanParts } from './scan.ts';
export { type CallsStats, countCalls } from './stats.ts';
