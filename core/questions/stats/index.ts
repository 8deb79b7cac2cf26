export {
  type BucketRow,
  computeNumber,
  keepingFor,
  metricsFor,
  numberIn,
  type OneNumber,
  type StatsAnswer,
} from './answer.ts';
export { Cell, Numbers } from './cells.ts';
export { countSelection } from './counts.ts';
export { computeFeedbackStats, findPayloadPaths } from './feedback.ts';
export {
  findHours,
  findUnknownDays,
  gaps,
  hoursOfTheDay,
  type Knowledge,
  type Span,
  toWholeDays,
} from './hours.ts';
export type { StatsPlan } from './plan.ts';
export { computeStats, type StatsLookups, type StatsUnderWay } from './stats.ts';
export { type Ask, type AskSource, chooseSource, countTogether, mergeSpans } from './together.ts';
export { computeTraceUsage, computeUsage, readTrace, readUsages, type UsagePlan } from './usage.ts';
