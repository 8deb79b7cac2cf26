import { createHash, randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { json } from 'node:stream/consumers';
import { z } from 'zod';
import { listen } from '../gateway/server.ts';
import { localRegion } from '../stores/store.ts';
import { localAccount } from '../template/names.ts';

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

/** The local stand-ins of EventBridge and SQS, as far as functions use them. */
export interface EventBus {
  readonly endpoint: string;
  /** Everything that was put into a queue. */
  readonly letters: readonly string[];
  /** Puts something into the queue. */
  bury(letter: string): void;
  /**
   * Has every event from now on brought to a listener.
   *
   * @returns ends that
   */
  subscribe(listener: (event: BusEvent) => void): () => void;
  stop(): Promise<void>;
}

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

/** EventBridge's bound on all entries of a request, in bytes. */
const maxBytes = 256 * 1024;

type Put = z.output<typeof put>;

const eventOf = ({ EventBusName, Source, DetailType, Detail, Time }: Put['Entries'][number]): BusEvent => ({
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

/** An operation of one of the two services. Throws an Error for what AWS would refuse, too. */
type Operation = (body: unknown) => unknown;

const serve =
  (operations: Readonly<Record<string, Operation>>): RequestListener =>
  (req, res) => {
    const answer = (status: number, body: unknown) =>
      res.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
    json(req)
      .then((body) => {
        const target = String(req.headers['x-amz-target']);
        const operation = operations[target];
        if (!operation) throw new Error(`${target} is not supported locally`);
        answer(200, operation(body));
      })
      .catch((error: unknown) => answer(400, { __type: 'ValidationException', message: String(error) }));
  };

/** What becomes of an entry: it is taken, or fails with an error code of EventBridge's. */
export type EntryFate = (event: BusEvent) => 'taken' | 'ThrottlingException' | 'MalformedDetail';

/**
 * Starts an event bus, and a queue for what is not put on it, on the loopback address. They check
 * what EventBridge checks of a request's size.
 *
 * @param fate says which entries are not taken, and why. @default - all are taken
 */
export const startEventBus = async (fate: EntryFate = () => 'taken'): Promise<EventBus> => {
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
      const events = Entries.map(eventOf);
      const results = events.map((event) => {
        const met = fate(event);
        if (met !== 'taken') return { ErrorCode: met, ErrorMessage: 'as the caller of this bus wants' };
        for (const listener of listeners) listener(event);
        return { EventId: event.id };
      });
      const failed = results.filter((result) => 'ErrorCode' in result);
      return { FailedEntryCount: failed.length, Entries: results };
    },
    'AmazonSQS.SendMessage': (body) => {
      const { MessageBody } = z.object({ MessageBody: z.string() }).parse(body);
      letters.push(MessageBody);
      const MD5OfMessageBody = createHash('md5').update(MessageBody).digest('hex');
      return { MessageId: randomUUID(), MD5OfMessageBody };
    },
  };
  const server = await listen(0, Promise.resolve(serve(operations)));
  return {
    endpoint: `http://127.0.0.1:${server.port}`,
    letters,
    bury: (letter) => letters.push(letter),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop: () => server.stop(),
  };
};

/** The environment that directs an AWS SDK to the local bus and queue, and never to AWS. */
export const busEnvironment = ({ endpoint }: Pick<EventBus, 'endpoint'>): Record<string, string> => ({
  AWS_ENDPOINT_URL_EVENTBRIDGE: endpoint,
  AWS_ENDPOINT_URL_SQS: endpoint,
});
