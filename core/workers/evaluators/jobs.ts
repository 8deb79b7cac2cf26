import type { SendMessageBatchRequestEntry, SQSClient } from '@aws-sdk/client-sqs';
import * as z from 'zod/mini';
import {
  chunked,
  mapConcurrent,
  type RequestBudget,
  withRetries,
} from '../../../foundations/storage/index.ts';
import { type ProjectId, parseProjectId } from '../../../foundations/wire/index.ts';

/** A call that an evaluator is to judge. */
export interface Job {
  readonly projectId: ProjectId;
  readonly callId: string;
  readonly objectId: string;
  /** The version of the evaluator. */
  readonly digest: string;
  /** Whether somebody asked for this verdict, so that it does not matter if it is enabled. */
  readonly isAsked: boolean;
  /** How long it waits before it is done, in seconds. @default 0 */
  readonly delaySeconds?: number;
}

/** Where jobs wait. The client is made at the first one. */
export interface JobQueue {
  readonly url: string;
  readonly client: () => Promise<SQSClient>;
}

const schema = z.object({
  project_id: z.string(),
  call_id: z.string(),
  object_id: z.string(),
  digest: z.string(),
  is_asked: z.optional(z.boolean()),
});

/** A job as a message. */
export const toMessage = ({ projectId, callId, objectId, digest, isAsked }: Job): string =>
  JSON.stringify({
    ...{ project_id: projectId, call_id: callId, object_id: objectId, digest },
    ...(isAsked && { is_asked: true }),
  });

/**
 * Reads a job from a message.
 *
 * @throws Error if it is none
 */
export const fromMessage = (text: string): Job => {
  const { project_id, call_id, object_id, digest, is_asked = false } = schema.parse(JSON.parse(text));
  const projectId = parseProjectId(project_id);
  if (projectId === undefined) throw new Error('a job without a project');
  return { projectId, callId: call_id, objectId: object_id, digest, isAsked: is_asked };
};

/** SQS takes so many messages a request. */
const maxMessages = 10;
/** Requests that are under way at once. */
const concurrency = 8;

/**
 * Puts jobs into the queue. What the queue does not take is sent again.
 *
 * @throws ServiceError 503 when the queue does not take all in time; some may have been taken
 */
export const sendJobs = async (
  { url, client }: JobQueue,
  jobs: readonly Job[],
  budget: RequestBudget,
): Promise<void> => {
  if (jobs.length === 0) return;
  const [sqs, { SendMessageBatchCommand }] = await Promise.all([client(), import('@aws-sdk/client-sqs')]);
  await mapConcurrent(chunked(jobs, maxMessages), concurrency, async (some) => {
    let left = some.map(
      (job, i): SendMessageBatchRequestEntry => ({
        Id: String(i),
        MessageBody: toMessage(job),
        ...(job.delaySeconds && { DelaySeconds: job.delaySeconds }),
      }),
    );
    await withRetries(budget, async (options) => {
      const command = new SendMessageBatchCommand({ QueueUrl: url, Entries: left });
      const { Failed = [] } = await sqs.send(command, options);
      const failed = new Set(Failed.map(({ Id }) => Id));
      left = left.filter(({ Id }) => failed.has(Id));
      return left.length === 0;
    });
  });
};

/**
 * When a queue was made, in microseconds since 1970.
 *
 * @throws ServiceError 503 when it does not answer in time
 */
export const madeAt = async ({ url, client }: JobQueue, budget: RequestBudget): Promise<number> => {
  const [sqs, { GetQueueAttributesCommand }] = await Promise.all([client(), import('@aws-sdk/client-sqs')]);
  let seconds = 0;
  await withRetries(budget, async (options) => {
    const command = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['CreatedTimestamp'] });
    const { Attributes } = await sqs.send(command, options);
    seconds = Number(Attributes?.CreatedTimestamp ?? 0);
    return true;
  });
  return seconds * 1e6;
};
