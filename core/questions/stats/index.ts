export {
  type BucketRow,
  keepingFor,
  metricsFor,
  numberIn,
  numberOf,
  type OneNumber,
  type StatsAnswer,
} from './answer.ts';
export { Cell, Numbers } from './cells.ts';
export { feedbackStatsOf, payloadPathsOf } from './feedback.ts';
export type { Span } from './hours.ts';
export type { StatsPlan } from './plan.ts';
export { type StatsLookups, type StatsUnderWay, statsOf } from './stats.ts';
export { type Ask, type AskSource, countTogether, sourceOf, unionOf } from './together.ts';
export { traceUsageOf, type UsagePlan, usageOf } from './usage.ts';
