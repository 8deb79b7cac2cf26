export type { BucketRow, StatsAnswer } from './answer.ts';
export { feedbackStatsOf, payloadPathsOf } from './feedback.ts';
export type { StatsPlan } from './plan.ts';
export { type StatsLookups, type StatsUnderWay, statsOf } from './stats.ts';
export { traceUsageOf, type UsagePlan, usageOf } from './usage.ts';
