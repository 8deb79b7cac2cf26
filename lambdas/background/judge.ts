import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import {
  asksJudge,
  endLease,
  fromMessage,
  type Job,
  type Judging,
  judgeCall,
  NotYet,
  putBack,
  takeLease,
  toMessage,
} from '../../core/workers/evaluators/index.ts';
import { sendDeadLetters } from '../../core/workers/streams.ts';
import { type RequestBudget, requestBudget } from '../../foundations/storage/index.ts';
import { projectLimits, unpriced } from '../common/http/limits.ts';
import { nearly } from '../common/http/nearly-reached.ts';
import { stores } from '../common/http/stores.ts';
import { inference } from '../common/inference/upstreams.ts';
import { RequestLog } from '../common/log/request-log.ts';
import { deadLetters } from '../common/streams/batch.ts';
import { costsOfProject, limitPricesOfProject } from '../common/streams/costs.ts';
import { rememberedEvaluators } from '../common/streams/evaluators.ts';
import { required, sqsClient } from '../common/streams/queues.ts';

/** The longest that one question to a judge may take, in milliseconds: there is time for two. */
const askMs = 45_000;

/** Made once per container, while it starts. */
const judging: Judging = {
  calls: stores.calls,
  feedback: stores.feedback,
  costs: costsOfProject,
  prices: limitPricesOfProject,
  evaluators: rememberedEvaluators(),
  spending: stores.bookkeeping,
  limits: unpriced && projectLimits,
  nearly,
  inference,
  askMs,
};

/** How often a message is brought before it goes to the dead letters. */
const maxReceives = Number(required('MAX_RECEIVES'));

/** How many messages with judges of one project are worked on at once. */
const leases = Number(required('LEASES_OF_PROJECT'));

/** Where messages come from, and go back to. */
const queue = { url: required('EVALUATIONS_QUEUE'), client: sqsClient };

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

/**
 * Does the jobs of a message at once. If one is not done, all come again, and are quick if they are. If
 * all leases of the project are taken, its judges wait, and its checks do not.
 *
 * @param until when the invocation has ended, in milliseconds since 1970
 */
const handleMessage = async (
  { body, attributes }: SQSRecord,
  until: number,
  budget: RequestBudget,
): Promise<readonly Handled[]> => {
  try {
    const message = fromMessage(body);
    const { projectId, jobs } = message;
    const tries = message.tries + Number(attributes.ApproximateReceiveCount);
    const handleAll = (some: readonly Job[]) =>
      Promise.all(some.map((job) => handle(job, tries >= maxReceives, budget)));
    const areJudges = await Promise.all(jobs.map((job) => asksJudge(judging, job, budget)));
    const judges = jobs.filter((_, i) => areJudges[i]);
    const checks = handleAll(jobs.filter((_, i) => !areJudges[i]));
    if (judges.length === 0) return await checks;
    const lease = await takeLease(stores.bookkeeping, projectId, { leases, until }, budget);
    if (lease) {
      const handled = await Promise.all([checks, handleAll(judges)]);
      await endLease(stores.bookkeeping, lease, budget);
      return handled.flat();
    }
    const checked = await checks;
    // If a check comes again, the judges come with it.
    if (checked.some(({ again }) => again)) return checked;
    // To have waited is not to have been tried.
    await putBack(queue, { ...message, jobs: judges, tries: tries - 1 }, budget);
    const problem = `${projectId} has ${leases} messages with judges at work, so this one waits`;
    return [...checked, ...judges.map(() => ({ again: false, isJudged: false, problem }))];
  } catch (problem) {
    return [{ again: true, isJudged: false, problem }];
  }
};

const toReason = (problem: unknown): string =>
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
  const leftMs = context.getRemainingTimeInMillis();
  const until = Date.now() + leftMs;
  const budget = requestBudget(leftMs - reserveMs);
  log.spends(budget.meter);
  const messages = await Promise.all(
    Records.map(async (record) => ({ record, jobs: await handleMessage(record, until, budget) })),
  );
  const handled = messages.flatMap(({ jobs }) => jobs);
  const problems = handled.flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
  const rows = handled.filter(({ isJudged }) => isJudged).length;
  const [first] = problems;
  log.describes(() => ({
    rows,
    scanned: handled.length,
    ...(first !== undefined && { reason: toReason(first) }),
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
