import {
  type EventBridgeClient,
  PutEventsCommand,
  type PutEventsRequestEntry,
} from '@aws-sdk/client-eventbridge';
import { eventSource } from '../../../foundations/aws/index.ts';
import { bySize } from '../../../foundations/listing/index.ts';
import {
  chunked,
  mapConcurrent,
  type RequestBudget,
  type Store,
  withRetries,
} from '../../../foundations/storage/index.ts';
import { formatTime, ServiceError } from '../../../foundations/wire/index.ts';
import {
  type DeadLetter,
  type DeadLetterQueue,
  getSequence,
  isolateRecords,
  type MeasureSources,
  measure,
  type StreamRecord,
  sendDeadLetters,
  toCallChange,
  toChange,
} from '../streams.ts';
import { endedCalls } from './ended.ts';
import { callEvents, feedbackEvent, type ServiceEvent } from './events.ts';

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

const entrySize = ({ detail }: ServiceEvent): number =>
  Buffer.byteLength(JSON.stringify(detail)) + entryOverhead;

/** Cuts events into the requests that EventBridge takes. */
const toRequests = (events: readonly ServiceEvent[]): ServiceEvent[][] =>
  bySize(events, maxBytes, entrySize).flatMap((some) => chunked(some, maxEntries));

const toEntry = ({ kind, time, detail }: ServiceEvent, bus: string): PutEventsRequestEntry => ({
  EventBusName: bus,
  Source: eventSource,
  DetailType: kind,
  Detail: JSON.stringify(detail),
  Time: new Date(time / 1000),
});

/** Whether an entry that was not taken may be taken later. */
const isTransient = (code: string): boolean => /Throttl|Internal|Limit|Unavailable|Timeout/i.test(code);

/** An event as it stands in a dead letter: the arguments of `aws events put-events`. */
const toDeadLetter = ({ kind, time, detail }: ServiceEvent, reason: string): DeadLetter => ({
  reason,
  event: { kind, time: formatTime(time), detail },
});

/** The events that were not taken. */
interface NotSent {
  /** Nobody knows whether they were, or not now: they may be sent again. */
  readonly unsent: readonly ServiceEvent[];
  /** They would be refused again. */
  readonly refused: readonly DeadLetter[];
}

/**
 * Sends the events of one request. If it was taken in part, the rest is sent again.
 *
 * @throws Error if the bus refuses whole requests: it does not exist, or may not be used
 */
const sendRequest = async (
  { client, name }: EventBus,
  events: readonly ServiceEvent[],
  budget: RequestBudget,
): Promise<NotSent> => {
  let unsent = events;
  const refused: DeadLetter[] = [];
  try {
    await withRetries(budget, async (options) => {
      const command = new PutEventsCommand({ Entries: unsent.map((event) => toEntry(event, name)) });
      const { Entries: results = [] } = await client.send(command, options);
      unsent = unsent.filter((event, at) => {
        const { EventId, ErrorCode, ErrorMessage = '' } = results[at] ?? {};
        if (EventId !== undefined && ErrorCode === undefined) return false;
        if (ErrorCode === undefined || isTransient(ErrorCode)) return true;
        refused.push(toDeadLetter(event, `${ErrorCode}: ${ErrorMessage}`));
        return false;
      });
      return unsent.length === 0;
    });
  } catch (error) {
    // The time is up. Whoever sends the rest again sends the same ids.
    if (!(error instanceof ServiceError)) throw error;
  }
  return { unsent, refused };
};

/** What events are made from. */
export interface EventSources extends MeasureSources {
  readonly feedback: Store;
  /** Whether events have the inputs and outputs of calls, too. */
  readonly payloads: boolean;
}

/**
 * Makes the events of records, in order, each once.
 *
 * @throws Error if a record cannot be read
 */
const makeEvents = async (
  sources: EventSources,
  records: readonly StreamRecord[],
  budget: RequestBudget,
): Promise<ServiceEvent[]> => {
  const { calls, feedback } = sources;
  const changes = records.map(toChange);
  const ofCalls = changes.flatMap((change) =>
    change.table === calls.table.name ? (toCallChange(change) ?? []) : [],
  );
  const ended = await endedCalls(calls, ofCalls, budget);
  const headers = ended.map(({ header }) => header);
  const measured = await measure(sources, headers, sources.payloads, budget);
  const events = ended.flatMap((call) => {
    const measures = measured.get(call.header);
    return measures ? callEvents(call, measures) : [];
  });
  for (const change of changes.filter(({ table }) => table === feedback.table.name)) {
    const event = await feedbackEvent(change);
    if (event) events.push(event);
  }
  return inOrder(records, events);
};

/** Events in the order of their records. Of several with one id, one is left. */
const inOrder = (records: readonly StreamRecord[], events: readonly ServiceEvent[]): ServiceEvent[] => {
  const bySequence = Map.groupBy(events, ({ sequence }) => sequence);
  const ordered = records.flatMap((record) => bySequence.get(getSequence(record)) ?? []);
  return [...new Map(ordered.map((event) => [event.id, event])).values()];
};

/** What delivering takes: what events are made from, and where they go. */
export interface Delivery extends EventSources {
  readonly bus: EventBus;
  readonly deadLetters: DeadLetterQueue;
}

/** What became of a batch of records. */
export interface Delivered {
  /** The number of events that the bus took. */
  readonly sent: number;
  /** The first record with an event that was not sent; this and all behind it shall come again. */
  readonly failedFrom: string | undefined;
}

/**
 * Sends the events of a batch of records, ten a request. What never can be sent goes to the queue of
 * dead letters.
 *
 * @throws ServiceError 503 when a store does not answer in time: the batch may come again as it is
 */
export const deliver = async (
  delivery: Delivery,
  records: readonly StreamRecord[],
  budget: RequestBudget,
): Promise<Delivered> => {
  const { results: events, letters } = await isolateRecords(records, (some) =>
    makeEvents(delivery, some, budget),
  );
  const outcomes = await mapConcurrent(toRequests(events), concurrency, (some) =>
    sendRequest(delivery.bus, some, budget),
  );
  const unsent = outcomes.flatMap((outcome) => outcome.unsent);
  const refused = outcomes.flatMap((outcome) => outcome.refused);
  await sendDeadLetters(delivery.deadLetters, [...letters, ...refused], budget);
  const failed = new Set(unsent.map(({ sequence }) => sequence));
  return {
    sent: events.length - unsent.length - refused.length,
    failedFrom: records.map(getSequence).find((sequence) => failed.has(sequence)),
  };
};
