export { planSummary } from './plan.ts';
export { queryThreads, type ThreadsAnswer } from './query.ts';
