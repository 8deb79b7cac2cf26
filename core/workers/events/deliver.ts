import type { RequestBudget } from '../../foundations/storage/index.ts';
import { formatTime } from '../../foundations/wire/index.ts';
import {
  bury,
  type DeadLetter,
  type DeadLetterQueue,
  isolateRecords,
  type StreamRecord,
  sequenceOf,
} from '../streams/index.ts';
import type { ServiceEvent } from './model.ts';
import { type EventBus, sendEvents } from './send.ts';
import { type EventSources, tell } from './tell.ts';

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
