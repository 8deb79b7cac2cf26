export type { BucketRow, StatsAnswer } from './answer.ts';
export type { UsagePlan } from './families.ts';
export type { StatsPlan } from './plan.ts';
export * from './request.ts';
export { type StatsLookups, type StatsUnderWay, statsOf } from './stats.ts';
export { traceUsageOf } from './trace-usage.ts';
export { type UsageAnswer, type UsageRequest, usageOf } from './usage.ts';
