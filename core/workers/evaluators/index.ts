export { decide, type Watch } from './decide.ts';
export { Evaluators, type ParseEvaluator } from './evaluator.ts';
export { fromMessage, type Job, type JobQueue, sendJobs, toMessage } from './jobs.ts';
export { type Judging, judgeCall, NotYet, type Outcome } from './judge.ts';
export { type Scored, type Scoring, scoreCalls } from './score.ts';
