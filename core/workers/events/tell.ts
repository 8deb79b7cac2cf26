import type { RequestBudget, Store } from '../../foundations/storage/index.ts';
import {
  type MeasureSources,
  measure,
  type StreamRecord,
  sequenceOf,
  toCallChange,
  toChange,
} from '../streams/index.ts';
import { callEvents } from './call-events.ts';
import { endedCalls } from './ended.ts';
import { feedbackEvent } from './feedback-events.ts';
import type { ServiceEvent } from './model.ts';

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
