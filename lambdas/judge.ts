import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import {
  fromMessage,
  type Job,
  type Judging,
  judgeCall,
  NotYet,
  toMessage,
} from '../core/workers/evaluators/index.ts';
import { sendDeadLetters } from '../core/workers/streams.ts';
import { type RequestBudget, requestBudget } from '../foundations/storage/index.ts';
import { projectLimits, unpriced } from './http/limits.ts';
import { nearly } from './http/nearly-reached.ts';
import { settings } from './http/settings.ts';
import { inference } from './inference/upstreams.ts';
import { RequestLog } from './log/request-log.ts';
import { deadLetters } from './streams/batch.ts';
import { costsOfProject, limitPricesOfProject } from './streams/costs.ts';
import { rememberedEvaluators } from './streams/evaluators.ts';
import { required } from './streams/queues.ts';

/** The longest that one question to a judge may take, in milliseconds: there is time for two. */
const askMs = 45_000;

/** Made once per container, while it starts. */
const judging: Judging = {
  calls: settings.calls,
  feedback: settings.feedback,
  costs: costsOfProject,
  prices: limitPricesOfProject,
  evaluators: rememberedEvaluators(),
  ledger: settings.rollups,
  limits: unpriced && projectLimits,
  nearly,
  inference,
  askMs,
};

/** How often a message is brought before it goes to the dead letters. */
const maxReceives = Number(required('MAX_RECEIVES'));

/** The time that a batch leaves for its answer and its log line, in milliseconds. */
const reserveMs = 2000;

/** What became of a job. */
interface Handled {
  /** Whether it shall come again. */
  readonly again: boolean;
  readonly isJudged: boolean;
  readonly problem?: unknown;
}

/** Does a job. A verdict that says why there is none is for people, too. */
const handle = async (job: Job, isLast: boolean, budget: RequestBudget): Promise<Handled> => {
  try {
    const outcome = await judgeCall(judging, job, isLast, budget);
    const failure = outcome.kind === 'judged' ? outcome.failure : undefined;
    if (failure !== undefined) {
      const record = { message: toMessage(job.projectId, [job]) };
      await sendDeadLetters(deadLetters, [{ reason: failure, record }], budget);
    }
    return { again: false, isJudged: outcome.kind === 'judged', problem: failure };
  } catch (problem) {
    return { again: true, isJudged: false, problem };
  }
};

/** Does the jobs of a message at once. If one is not done, all come again, and are quick if they are. */
const handleMessage = async (
  { body, attributes }: SQSRecord,
  budget: RequestBudget,
): Promise<readonly Handled[]> => {
  const isLast = Number(attributes.ApproximateReceiveCount) >= maxReceives;
  try {
    return await Promise.all(fromMessage(body).map((job) => handle(job, isLast, budget)));
  } catch (problem) {
    return [{ again: true, isJudged: false, problem }];
  }
};

const reasonOf = (problem: unknown): string =>
  (problem instanceof Error ? problem.message : String(problem)).slice(0, 300);

/**
 * Asks judges what the queue of evaluations has, and stores their verdicts: docs/evaluators.md. It gets
 * one message at a time, whose jobs are of one project.
 */
export const handler = async (
  { Records }: SQSEvent,
  context: Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>,
): Promise<SQSBatchResponse> => {
  const log = new RequestLog({ message: 'queue', requestId: context.awsRequestId, route: 'judge' }, context);
  const budget = requestBudget(context.getRemainingTimeInMillis() - reserveMs);
  log.spends(budget.meter);
  const messages = await Promise.all(
    Records.map(async (record) => ({ record, jobs: await handleMessage(record, budget) })),
  );
  const handled = messages.flatMap(({ jobs }) => jobs);
  const problems = handled.flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
  const rows = handled.filter(({ isJudged }) => isJudged).length;
  const [first] = problems;
  log.describes(() => ({
    ...{ rows, scanned: handled.length },
    ...(first !== undefined && { reason: reasonOf(first) }),
  }));
  const unexpected = problems.find((problem) => problem instanceof Error && !(problem instanceof NotYet));
  if (unexpected === undefined) log.ends('answered');
  else log.ends('failed', unexpected);
  return {
    batchItemFailures: messages.flatMap(({ record, jobs }) =>
      jobs.some(({ again }) => again) ? [{ itemIdentifier: record.messageId }] : [],
    ),
  };
};
