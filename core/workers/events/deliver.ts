import {
  type EventBridgeClient,
  PutEventsCommand,
  type PutEventsRequestEntry,
  type PutEventsResultEntry,
} from '@aws-sdk/client-eventbridge';
import {
  mapConcurrent,
  type RequestBudget,
  type Store,
  withRetries,
} from '../../foundations/storage/index.ts';
import { formatTime, ServiceError } from '../../foundations/wire/index.ts';
import {
  bury,
  type DeadLetter,
  type DeadLetterQueue,
  isolateRecords,
  type MeasureSources,
  measure,
  type StreamRecord,
  sequenceOf,
  toCallChange,
  toChange,
} from '../streams/index.ts';
import { endedCalls } from './ended.ts';
import { callEvents, eventSource, feedbackEvent, type ServiceEvent } from './events.ts';

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

/** What events are made from. */
export interface EventSources extends MeasureSources {
  readonly feedback: Store;
  /** Whether events have what calls got and gave, too. */
  readonly payloads: boolean;
}

/** An event and the record that it comes from. */
export interface ToldEvent {
  readonly sequence: string;
  readonly event: ServiceEvent;
}

/**
 * Makes the events of records, in order, each once.
 *
 * @throws ServiceError 503 when storage does not answer in time; Error if a record cannot be read
 */
export const tell = async (
  sources: EventSources,
  records: readonly StreamRecord[],
  budget: RequestBudget,
): Promise<ToldEvent[]> => {
  const changes = records.map(toChange);
  const ofFeedback = changes.filter(({ table }) => table === sources.feedback.table.name);
  const ofCalls = changes.flatMap((change) =>
    change.table === sources.calls.table.name ? (toCallChange(sources.calls, change) ?? []) : [],
  );
  const ended = await endedCalls(sources.calls, ofCalls, budget);
  const headers = ended.map(({ header }) => header);
  const measured = await measure(sources, headers, sources.payloads, budget);
  const told: ToldEvent[] = ended.flatMap((call) => {
    const measures = measured.get(call.header);
    if (!measures) return [];
    const { sequence } = call.change.change;
    return callEvents(sources.calls.names, { ...call, ...measures }).map((event) => ({ sequence, event }));
  });
  for (const change of ofFeedback) {
    const event = await feedbackEvent(sources.feedback, change);
    if (event) told.push({ sequence: change.sequence, event });
  }
  return inOrder(records, told);
};

/** Events in the order of their records, without what another event of the batch says already. */
const inOrder = (records: readonly StreamRecord[], told: readonly ToldEvent[]): ToldEvent[] => {
  const bySequence = Map.groupBy(told, ({ sequence }) => sequence);
  const ordered = records.flatMap((record) => bySequence.get(sequenceOf(record)) ?? []);
  return [...new Map(ordered.map((each) => [each.event.id, each])).values()];
};

/** What delivering takes: what events are made from, and where they go. */
export interface Delivery extends EventSources {
  readonly bus: EventBus;
  readonly deadLetters: DeadLetterQueue;
}

/** What became of a batch of records. */
export interface Delivered {
  readonly sent: number;
  readonly buried: number;
  /** The first record with an event that was not sent; this and all behind it shall come again. */
  readonly failedFrom: string | undefined;
}

/** An event as it stands in a dead letter: the arguments of `aws events put-events`. */
const letterOf = ({ kind, time, detail }: ServiceEvent, reason: string): DeadLetter => ({
  reason,
  event: { kind, time: formatTime(time), detail },
});

/**
 * Sends the events of a batch of records. What never can be sent goes to the queue of dead letters.
 *
 * @throws ServiceError 503 when a store does not answer in time: the batch may come again as it is
 */
export const deliver = async (
  delivery: Delivery,
  records: readonly StreamRecord[],
  budget: RequestBudget,
): Promise<Delivered> => {
  const { results: told, letters } = await isolateRecords(records, (some) => tell(delivery, some, budget));
  const fates = await sendEvents(
    delivery.bus,
    told.map(({ event }) => event),
    budget,
  );
  const unsent = new Set<string>();
  const refused: DeadLetter[] = [];
  for (const [at, { sequence, event }] of told.entries()) {
    const fate = fates[at];
    if (fate === 'unsent') unsent.add(sequence);
    else if (typeof fate === 'object') refused.push(letterOf(event, fate.refused));
  }
  const buried = [...letters, ...refused];
  await bury(delivery.deadLetters, buried, budget);
  return {
    sent: fates.filter((fate) => fate === 'sent').length,
    buried: buried.length,
    failedFrom: records.map(sequenceOf).find((sequence) => unsent.has(sequence)),
  };
};
