import type { JsonObject, Micros } from '../../foundations/wire/index.ts';

/** What events tell of. */
export type EventKind = 'CallEnded' | 'CallFailed' | 'TurnEnded' | 'FeedbackCreated';

/** The source of all events. Rules match it. */
export const eventSource = 'pennytrace';

/** An event, ready to be sent. */
export interface ServiceEvent {
  readonly kind: EventKind;
  /** The same whenever the same end or the same feedback is told of again. */
  readonly id: string;
  /** When what it tells of was stored. */
  readonly time: Micros;
  /** What rules and targets get. openapi/events.ts has the schema. */
  readonly detail: JsonObject;
}
