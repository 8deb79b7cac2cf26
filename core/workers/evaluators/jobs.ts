import type { SendMessageBatchRequestEntry, SQSClient } from '@aws-sdk/client-sqs';
import * as z from 'zod/mini';
import { shortDigest } from '../../../foundations/encoding/index.ts';
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

const jobSchema = z.object({
  call_id: z.string(),
  object_id: z.string(),
  digest: z.string(),
  is_asked: z.optional(z.boolean()),
});

const projectSchema = z.object({
  project_id: z.string(),
  tries: z.optional(z.number()),
  waits: z.optional(z.number()),
});

/** A message of a release before messages had several jobs is one job. */
const messageSchema = z.union([
  z.extend(projectSchema, { jobs: z.array(jobSchema) }),
  z.pipe(
    z.extend(projectSchema, jobSchema.shape),
    z.transform(({ project_id, tries, waits, ...job }) => ({ project_id, tries, waits, jobs: [job] })),
  ),
]);

/** What has become of the jobs of a message in earlier messages. */
export interface History {
  /** How often they were tried. */
  readonly tries: number;
  /** How often they were put back, because all leases of their project were taken. */
  readonly waits: number;
}

const noHistory: History = { tries: 0, waits: 0 };

/**
 * Jobs as a message. They are of one project, so that whatever becomes of a message is that project's
 * own: docs/decisions/0250.
 */
export const toMessage = (
  projectId: ProjectId,
  jobs: readonly Job[],
  { tries, waits }: History = noHistory,
): string =>
  JSON.stringify({
    project_id: projectId,
    ...(tries > 0 && { tries }),
    ...(waits > 0 && { waits }),
    jobs: jobs.map(({ callId, objectId, digest, isAsked }) => ({
      call_id: callId,
      object_id: objectId,
      digest,
      ...(isAsked && { is_asked: true }),
    })),
  });

/** A message of the queue. */
export interface JobMessage extends History {
  readonly projectId: ProjectId;
  readonly jobs: readonly Job[];
}

/**
 * Reads a message.
 *
 * @throws Error if it is none
 */
export const fromMessage = (text: string): JobMessage => {
  const { project_id, jobs, tries = 0, waits = 0 } = messageSchema.parse(JSON.parse(text));
  const projectId = parseProjectId(project_id);
  if (projectId === undefined) throw new Error('a message without a project');
  return {
    projectId,
    tries,
    waits,
    jobs: jobs.map(({ call_id, object_id, digest, is_asked = false }) => ({
      projectId,
      callId: call_id,
      objectId: object_id,
      digest,
      isAsked: is_asked,
    })),
  };
};

/** So many jobs are a message: their judges are asked at once. */
const jobsPerMessage = 10;
/** SQS takes so many messages a request. */
const maxMessages = 10;
/** Requests that are under way at once. */
const concurrency = 8;

/** Names a project to the queue, which takes 128 characters, but not all that names may have. */
const toGroup = (projectId: ProjectId): string => shortDigest(projectId).toString('hex');

/** The messages of jobs, each with jobs of one project and delay. */
const toMessages = (jobs: readonly Job[], history: History): Omit<SendMessageBatchRequestEntry, 'Id'>[] =>
  [...Map.groupBy(jobs, ({ projectId }) => projectId)].flatMap(([projectId, ofProject]) =>
    [...Map.groupBy(ofProject, ({ delaySeconds }) => delaySeconds)].flatMap(([delaySeconds, some]) =>
      chunked(some, jobsPerMessage).map((portion) => ({
        MessageBody: toMessage(projectId, portion, history),
        // The queue is fair among groups: it does not let one with much to do delay another.
        MessageGroupId: toGroup(projectId),
        ...(delaySeconds && { DelaySeconds: delaySeconds }),
      })),
    ),
  );

/**
 * Puts jobs into the queue. What the queue does not take is sent again.
 *
 * @param history of jobs that were in the queue before. @default - they are new
 * @throws ServiceError 503 when the queue does not take all in time; some may have been taken
 */
export const sendJobs = async (
  { url, client }: JobQueue,
  jobs: readonly Job[],
  budget: RequestBudget,
  history: History = noHistory,
): Promise<void> => {
  if (jobs.length === 0) return;
  const [sqs, { SendMessageBatchCommand }] = await Promise.all([client(), import('@aws-sdk/client-sqs')]);
  await mapConcurrent(chunked(toMessages(jobs, history), maxMessages), concurrency, async (some) => {
    let left = some.map((message, i): SendMessageBatchRequestEntry => ({ Id: String(i), ...message }));
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
