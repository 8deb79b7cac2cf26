export type { BucketRow, StatsAnswer } from './answer.ts';
export type { StatsPlan } from './plan.ts';
export * from './request.ts';
export { type StatsLookups, type StatsUnderWay, statsOf } from './stats.ts';
export { traceUsageOf, type UsageAnswer, type UsagePlan, type UsageRequest, usageOf } from './usage.ts';
