import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen, type Signing, type StandIn, signatureRefusal } from 'aws-stand-in';
import { z } from 'zod';

import { isObject, localAccount, localRegion } from '../template/cloudformation.ts';
import type { Pattern } from '../template/stack.ts';
import { LocalQueue, md5, queueOperations } from './queues.ts';
import { type Notice, publishLocally } from './topic.ts';

/*
 * EventBridge's patterns, as far as they are understood:
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-event-patterns.html
 */

const comparisons: Readonly<Record<string, (value: number, bound: number) => boolean>> = {
  '<': (value, bound) => value < bound,
  '<=': (value, bound) => value <= bound,
  '=': (value, bound) => value === bound,
  '>': (value, bound) => value > bound,
  '>=': (value, bound) => value >= bound,
};

/** `["<", 0.5]` or `[">", 0, "<=", 1]` */
const isNumeric = (value: unknown, rule: readonly unknown[]): boolean => {
  if (typeof value !== 'number') return false;
  for (let at = 0; at < rule.length; at += 2) {
    const compare = comparisons[String(rule[at])];
    if (!compare) throw new Error(`the comparison ${String(rule[at])} is not supported locally`);
    if (!compare(value, Number(rule[at + 1]))) return false;
  }
  return true;
};

/** Whether a value fits one entry of a pattern's list. */
const fitsEntry = (entry: unknown, value: unknown): boolean => {
  if (!isObject(entry)) return entry === value;
  const [operator, operand] = Object.entries(entry)[0] ?? [];
  if (operator === 'exists') return (value !== undefined) === operand;
  if (operator === 'prefix') return typeof value === 'string' && value.startsWith(String(operand));
  if (operator === 'anything-but') return value !== undefined && ![operand].flat().includes(value);
  if (operator === 'numeric' && Array.isArray(operand)) return isNumeric(value, operand);
  throw new Error(`the pattern ${JSON.stringify(entry)} is not supported locally`);
};

/**
 * Whether a record or an event fits a pattern.
 *
 * @throws Error if the pattern has something that is not supported locally
 */
export const fitsPattern = (pattern: Pattern, value: unknown): boolean =>
  Object.entries(pattern).every(([name, rule]) => {
    const found = isObject(value) ? value[name] : undefined;
    if (!Array.isArray(rule)) return fitsPattern(rule as Pattern, found);
    const values = Array.isArray(found) ? found : [found];
    return rule.some((entry) => values.some((candidate) => fitsEntry(entry, candidate)));
  });

/** An event as rules and targets get it. */
export interface BusEvent {
  readonly version: '0';
  readonly id: string;
  readonly source: string;
  readonly 'detail-type': string;
  readonly account: string;
  readonly region: string;
  /** To the second, as EventBridge has it. */
  readonly time: string;
  readonly resources: readonly string[];
  readonly detail: Readonly<Record<string, unknown>>;
  /** The bus that it was put on. Targets do not get it. */
  readonly bus: string;
}

/** The local stand-ins of EventBridge, SQS, SNS and Lambda, as far as functions use them. */
export interface EventBus extends StandIn {
  /** What was put into queues that wake no function, and what the others gave up. */
  readonly letters: readonly string[];
  addDeadLetter(letter: string): void;
  /** The queue of jobs of a URL or a name, which is made when it is first asked for. */
  getQueue(url: string): LocalQueue;
  /**
   * Has every event from now on brought to a listener.
   *
   * @returns ends that
   */
  subscribe(listener: (event: BusEvent) => void): () => void;
  /** Everything that was published to topics. */
  readonly notices: readonly Notice[];
  /** Has everything that is published from now on brought to a listener. */
  subscribeToTopic(listener: (notice: Notice) => void): void;
  /** Has functions invoke functions. */
  invokeBy(invoke: Invoke): void;
}

/** Invokes a function of a name with an event, and gives its answer, both as JSON. */
export type Invoke = (name: string, event: string) => Promise<string>;

const put = z.object({
  Entries: z
    .array(
      z.object({
        EventBusName: z.string(),
        Source: z.string(),
        DetailType: z.string(),
        Detail: z.string(),
        Time: z.number(),
      }),
    )
    .min(1)
    .max(10),
});

const sent = z.object({
  QueueUrl: z.string().default(''),
  MessageBody: z.string(),
  DelaySeconds: z.number().default(0),
});

/** EventBridge's bound on all entries of a request, in bytes. */
const maxBytes = 256 * 1024;

type Put = z.output<typeof put>;

const toEvent = ({ EventBusName, Source, DetailType, Detail, Time }: Put['Entries'][number]): BusEvent => ({
  version: '0',
  id: randomUUID(),
  source: Source,
  'detail-type': DetailType,
  account: localAccount,
  region: localRegion,
  time: new Date(Time * 1000).toISOString().replace(/\.\d+/, ''),
  resources: [],
  detail: JSON.parse(Detail) as BusEvent['detail'],
  bus: EventBusName,
});

/** An operation of a service. Throws an Error for what AWS would refuse, too. */
type Operation = (body: unknown) => unknown;

const invocationPath = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/;

interface Services {
  /** What requests are signed with; undefined if none has to be. */
  readonly signing: Signing | undefined;
  readonly operations: Readonly<Record<string, Operation>>;
  readonly publish: (form: string) => string;
  readonly invoke: Invoke;
}

const serve =
  ({ signing, operations, publish, invoke }: Services): RequestListener =>
  (req, res) => {
    const answer = (status: number, body: unknown) =>
      res.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
    text(req)
      .then(async (body) => {
        const refusal = signing && signatureRefusal(signing, req, body);
        if (refusal) return answer(403, { __type: 'InvalidSignatureException', message: refusal.message });
        const [, name] = invocationPath.exec(req.url ?? '') ?? [];
        if (name !== undefined) return res.end(await invoke(decodeURIComponent(name), body));
        if (req.headers['content-type']?.startsWith('application/x-www-form-urlencoded'))
          return res.end(publish(body));
        const target = String(req.headers['x-amz-target']);
        const operation = operations[target];
        if (!operation) throw new Error(`${target} is not supported locally`);
        return answer(200, operation(JSON.parse(body)));
      })
      .catch((error: unknown) => answer(400, { __type: 'ValidationException', message: String(error) }));
  };

/** What happens to an entry: it is taken, or fails with this error code of EventBridge's. */
export type EntryFate = (event: BusEvent) => 'taken' | 'ThrottlingException' | 'MalformedDetail';

/**
 * Starts an event bus, and a queue for what is not put on it, on the loopback address. They check
 * what EventBridge checks of a request's size.
 *
 * @param fate says which entries are not taken, and why. @default - all are taken
 * @param delayFactor what delays of messages are multiplied by
 * @param signing what requests have to be signed with: functions run for whoever asks. @default - none
 * has to be, for tests
 */
export const startEventBus = async (
  fate: EntryFate = () => 'taken',
  delayFactor = 1,
  signing?: Signing,
): Promise<EventBus> => {
  const queues = new Map<string, LocalQueue>();
  const nameIn = (url: string): string => url.split('/').at(-1) ?? url;
  const getQueue = (url: string): LocalQueue => {
    const name = nameIn(url);
    const queue = queues.get(name) ?? new LocalQueue();
    queues.set(name, queue);
    return queue;
  };
  const listeners = new Set<(event: BusEvent) => void>();
  const letters: string[] = [];
  const operations: Readonly<Record<string, Operation>> = {
    'AWSEvents.PutEvents': (body) => {
      const { Entries } = put.parse(body);
      const bytes = Entries.reduce(
        (sum, entry) =>
          sum + 14 + Buffer.byteLength(entry.Source + entry.DetailType) + Buffer.byteLength(entry.Detail),
        0,
      );
      if (bytes > maxBytes) throw new Error(`the entries have ${bytes} bytes, more than ${maxBytes}`);
      const events = Entries.map(toEvent);
      const results = events.map((event) => {
        const met = fate(event);
        if (met !== 'taken') return { ErrorCode: met, ErrorMessage: 'refused by the setting of this bus' };
        for (const listener of listeners) listener(event);
        return { EventId: event.id };
      });
      const failed = results.filter((result) => 'ErrorCode' in result);
      return { FailedEntryCount: failed.length, Entries: results };
    },
    'AmazonSQS.SendMessage': (body) => {
      const { QueueUrl, MessageBody, DelaySeconds } = sent.parse(body);
      const queue = queues.get(nameIn(QueueUrl));
      if (!queue) letters.push(MessageBody);
      return {
        MessageId: queue?.add(MessageBody, delayFactor * DelaySeconds * 1000) ?? randomUUID(),
        MD5OfMessageBody: md5(MessageBody),
      };
    },
    ...queueOperations(getQueue, delayFactor),
  };
  const notices: Notice[] = [];
  const ofTopic = new Set<(notice: Notice) => void>();
  const publish = (form: string): string => {
    const { notice, answer } = publishLocally(form);
    notices.push(notice);
    for (const listener of ofTopic) listener(notice);
    return answer;
  };
  let invoke: Invoke = async (name) => {
    throw new Error(`there is no function ${name}`);
  };
  const services = {
    signing,
    operations,
    publish,
    invoke: (name: string, event: string) => invoke(name, event),
  };
  const server = await listen(0, Promise.resolve(serve(services)));
  return {
    endpoint: `http://127.0.0.1:${server.port}`,
    letters,
    addDeadLetter: (letter) => letters.push(letter),
    getQueue,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    notices,
    subscribeToTopic: (listener) => ofTopic.add(listener),
    invokeBy: (by) => {
      invoke = by;
    },
    stop: () => server.stop(),
  };
};

/** The environment that directs an AWS SDK to the local bus and queue, and never to AWS. */
export const busEnvironment = ({ endpoint }: Pick<EventBus, 'endpoint'>): Record<string, string> => ({
  AWS_ENDPOINT_URL_EVENTBRIDGE: endpoint,
  AWS_ENDPOINT_URL_SQS: endpoint,
  AWS_ENDPOINT_URL_SNS: endpoint,
  AWS_ENDPOINT_URL_LAMBDA: endpoint,
});
