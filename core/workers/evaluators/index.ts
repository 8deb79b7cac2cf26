export { decide, type Watch } from './decide.ts';
export { Evaluators, type ParseEvaluator } from './evaluator.ts';
export { fromMessage, type Job, type JobMessage, type JobQueue, sendJobs, toMessage } from './jobs.ts';
export { asksJudge, type Judging, judgeCall, NotYet, type Outcome } from './judge.ts';
export { endLease, putBack, takeLease } from './leases.ts';
export { type Scored, type Scoring, scoreCalls } from './score.ts';
