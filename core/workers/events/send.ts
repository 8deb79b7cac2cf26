import {
  type EventBridgeClient,
  PutEventsCommand,
  type PutEventsRequestEntry,
  type PutEventsResultEntry,
} from '@aws-sdk/client-eventbridge';
import { mapConcurrent, type RequestBudget, withRetries } from '../../foundations/storage/index.ts';
import { ServiceError } from '../../foundations/wire/index.ts';
import { eventSource, type ServiceEvent } from './model.ts';

/** Where events go. */
export interface EventBus {
  readonly client: EventBridgeClient;
  readonly name: string;
}

/** EventBridge's bounds on one request: entries, and bytes of all of them. */
const maxEntries = 10;
const maxBytes = 256 * 1024;
/** What an entry's source, kind and time count, and a little more. */
const entryOverhead = 100;
/** Requests that are under way at once. */
const concurrency = 8;

/** How an event fared. */
export type Fate =
  | 'sent'
  /** Nobody knows, or not now: it may be sent again. */
  | 'unsent'
  /** It would be refused again. */
  | { readonly refused: string };

const sizeOf = ({ detail }: ServiceEvent): number =>
  Buffer.byteLength(JSON.stringify(detail)) + entryOverhead;

/** Cuts events into the requests that EventBridge takes. */
const requestsOf = (events: readonly ServiceEvent[]): ServiceEvent[][] => {
  const requests: ServiceEvent[][] = [];
  let [current, bytes]: [ServiceEvent[], number] = [[], 0];
  for (const event of events) {
    const size = sizeOf(event);
    if (current.length === 0 || current.length >= maxEntries || bytes + size > maxBytes) {
      [current, bytes] = [[], 0];
      requests.push(current);
    }
    current.push(event);
    bytes += size;
  }
  return requests;
};

const entryOf = ({ kind, time, detail }: ServiceEvent, bus: string): PutEventsRequestEntry => ({
  EventBusName: bus,
  Source: eventSource,
  DetailType: kind,
  Detail: JSON.stringify(detail),
  Time: new Date(time / 1000),
});

/** Whether an entry that was not taken may be taken later. */
const isTransient = (code: string): boolean => /Throttl|Internal|Limit|Unavailable|Timeout/i.test(code);

const fateOf = ({ EventId, ErrorCode, ErrorMessage }: PutEventsResultEntry): Fate => {
  if (EventId !== undefined && ErrorCode === undefined) return 'sent';
  const code = ErrorCode ?? 'InternalFailure';
  return isTransient(code) ? 'unsent' : { refused: `${code}: ${ErrorMessage ?? ''}` };
};

const sendRequest = async (
  { client, name }: EventBus,
  events: readonly ServiceEvent[],
  budget: RequestBudget,
): Promise<Fate[]> => {
  const fates = events.map((): Fate => 'unsent');
  let left = events.map((_, at) => at);
  try {
    await withRetries(budget, async (options) => {
      const Entries = left.flatMap((at) => (events[at] ? [entryOf(events[at], name)] : []));
      const { Entries: results = [] } = await client.send(new PutEventsCommand({ Entries }), options);
      for (const [i, at] of left.entries()) fates[at] = fateOf(results[i] ?? {});
      left = left.filter((at) => fates[at] === 'unsent');
      return left.length === 0;
    });
  } catch (error) {
    // The time is up. Whoever sends the rest again sends the same ids.
    if (!(error instanceof ServiceError)) throw error;
  }
  return fates;
};

/**
 * Sends events, ten a request. Of a request that was taken in part, the rest is sent again.
 *
 * @returns how each fared, in order
 * @throws Error if the bus refuses whole requests: it does not exist, or may not be used
 */
export const sendEvents = async (
  bus: EventBus,
  events: readonly ServiceEvent[],
  budget: RequestBudget,
): Promise<Fate[]> => {
  const fates = await mapConcurrent(requestsOf(events), concurrency, (some) =>
    sendRequest(bus, some, budget),
  );
  return fates.flat();
};
