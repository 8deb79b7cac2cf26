import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { collect } from '../gateway/answer.ts';
import type { Functions } from '../runtime/functions.ts';
import { localRegion } from '../template/cloudformation.ts';
import type { QueueSpec, StackSpec } from '../template/stack.ts';

/** A message as it waits. */
interface Message {
  readonly id: string;
  readonly body: string;
  /** Whose it is; of messages without one each is another's. */
  readonly group: string;
  /** When it may be brought, in milliseconds since 1970. */
  visibleAt: number;
  receives: number;
}

/**
 * A stand-in for a fair queue of SQS
 * (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html):
 * the group that was served longest ago is served first. Its messages are in memory, and gone at the
 * end.
 */
export class LocalQueue {
  readonly createdAt = Date.now();
  readonly #messages = new Map<string, Message>();
  /** Groups with messages, by when they were last served: a number that grows. */
  readonly #served = new Map<string, number>();
  #servings = 0;

  /** How many messages wait, or are being worked on. */
  get size(): number {
    return this.#messages.size;
  }

  add(body: string, delayMs: number, group?: string): string {
    const id = randomUUID();
    const visibleAt = Date.now() + delayMs;
    this.#messages.set(id, { id, body, group: group ?? id, visibleAt, receives: 0 });
    return id;
  }

  /** Takes messages whose time has come. They come again if they are not deleted in time. */
  receive(most: number, visibilityMs: number): Message[] {
    const now = Date.now();
    const due = new Set([...this.#messages.values()].filter(({ visibleAt }) => visibleAt <= now));
    const servedAt = ({ group }: Message) => this.#served.get(group) ?? 0;
    const received: Message[] = [];
    while (received.length < most && due.size > 0) {
      const next = [...due].reduce((first, other) => (servedAt(other) < servedAt(first) ? other : first));
      due.delete(next);
      next.visibleAt = now + visibilityMs;
      next.receives++;
      this.#served.set(next.group, ++this.#servings);
      received.push(next);
    }
    return received;
  }

  delete(id: string): void {
    const message = this.#messages.get(id);
    this.#messages.delete(id);
    if (message && ![...this.#messages.values()].some(({ group }) => group === message.group))
      this.#served.delete(message.group);
  }
}

const batchSchema = z.object({
  QueueUrl: z.string(),
  Entries: z
    .array(
      z.object({
        Id: z.string(),
        MessageBody: z.string(),
        DelaySeconds: z.int().min(0).max(900).default(0),
        MessageGroupId: z
          .string()
          .regex(/^[\w!-/:-@[-`{-~]{1,128}$/)
          .optional(),
      }),
    )
    .min(1)
    .max(10),
});

export const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

/**
 * What SQS does with queues of jobs, by the names of its operations.
 *
 * @param getQueue the queue of a URL
 * @param delayFactor what delays are multiplied by: nobody wants to wait here
 */
export const queueOperations = (getQueue: (url: string) => LocalQueue, delayFactor: number) => ({
  'AmazonSQS.SendMessageBatch': (body: unknown) => {
    const { QueueUrl, Entries } = batchSchema.parse(body);
    const queue = getQueue(QueueUrl);
    return {
      Successful: Entries.map(({ Id, MessageBody, DelaySeconds, MessageGroupId }) => ({
        Id,
        MessageId: queue.add(MessageBody, delayFactor * DelaySeconds * 1000, MessageGroupId),
        MD5OfMessageBody: md5(MessageBody),
      })),
      Failed: [],
    };
  },
  'AmazonSQS.GetQueueAttributes': (body: unknown) => {
    const { QueueUrl } = z.object({ QueueUrl: z.string() }).parse(body);
    const { createdAt } = getQueue(QueueUrl);
    return { Attributes: { CreatedTimestamp: String(Math.floor(createdAt / 1000)) } };
  },
});

const answer = z.object({
  batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })).default([]),
});

/** The identifiers of the items of a batch that a function says that it failed for, given its answer. */
export const failuresIn = (text: string): ReadonlySet<string> => {
  const { batchItemFailures } = answer.parse(JSON.parse(text) ?? {});
  return new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
};

/** How long to wait for messages, in ms, when there were none. */
const idleMs = 50;
/** How long to go on at the end with what there is, in ms. */
const drainMs = 3000;

interface QueuesOptions {
  readonly stack: Pick<StackSpec, 'queues'>;
  readonly functions: Functions;
  readonly getQueue: (url: string) => LocalQueue;
  /** Takes a message that was brought too often. */
  readonly giveUp: (body: string) => void;
  /** The longest time until a message that was not done comes again, in ms. */
  readonly maxVisibilityMs: number;
}

/** Brings messages of one queue to its function, as Lambda does. */
const bring = async (
  spec: QueueSpec,
  { functions, getQueue, giveUp, maxVisibilityMs }: QueuesOptions,
  ending: AbortSignal,
  stopped: () => boolean,
): Promise<void> => {
  const queue = getQueue(spec.url);
  const target = functions.getFunction(spec.function);
  while (!ending.aborted) {
    const messages = queue.receive(spec.batchSize, Math.min(spec.visibilityMs, maxVisibilityMs));
    const fresh = messages.filter(({ id, body, receives }) => {
      if (receives <= spec.maxReceives) return true;
      queue.delete(id);
      giveUp(body);
      return false;
    });
    if (fresh.length === 0) {
      if (stopped()) return;
      await sleep(idleMs, undefined, { signal: ending }).catch(() => {});
      continue;
    }
    const event = {
      Records: fresh.map(({ id, body, receives }) => ({
        messageId: id,
        receiptHandle: id,
        body,
        md5OfBody: md5(body),
        eventSource: 'aws:sqs',
        eventSourceARN: spec.arn,
        awsRegion: localRegion,
        messageAttributes: {},
        attributes: { ApproximateReceiveCount: String(receives) },
      })),
    };
    try {
      const failed = failuresIn(await collect(await target.invoke(JSON.stringify(event), ending)));
      for (const { id } of fresh) if (!failed.has(id)) queue.delete(id);
    } catch {
      // The function failed or was killed: all of them come again.
    }
  }
};

/**
 * Brings the messages of queues to the functions that subscribe to them.
 *
 * @returns ends it, after what there is has been brought
 */
export const runQueues = (options: QueuesOptions): (() => Promise<void>) => {
  const ending = new AbortController();
  let stopping = false;
  const running = options.stack.queues.flatMap((spec) =>
    Array.from({ length: spec.concurrency }, () => bring(spec, options, ending.signal, () => stopping)),
  );
  return async () => {
    stopping = true;
    const timer = setTimeout(() => ending.abort(), drainMs);
    await Promise.all(running);
    clearTimeout(timer);
  };
};
