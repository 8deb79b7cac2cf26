import type { Alert, AlertLevel, Target } from '../../../api/alerts.ts';
import type { RequestBudget } from '../../../foundations/storage/index.ts';

/** A call or a group that contributes much to a value. */
export interface Contributor {
  /** What people read: the name of an op, or a call's op and preview. */
  readonly label: string;
  /** Its own value, in the unit of the metric. */
  readonly value: number;
  /** The call's id; null for a group. */
  readonly call_id: string | null;
  /** Into the page. */
  readonly link: string;
}

/** What an alert tells, as JSON has it. Times are ISO 8601 in UTC. */
export interface Message {
  /** One for each change, the same over retries and targets: 32 hex digits. */
  readonly id: string;
  readonly kind: 'changed' | 'reminder' | 'test';
  readonly project_id: string;
  readonly alert: { readonly object_id: string; readonly name: string; readonly digest: string };
  readonly state: AlertLevel;
  /** Null for the first state. */
  readonly previous: AlertLevel | null;
  /** What is measured, as a person reads it: `p95 latency in ms`. */
  readonly metric: string;
  /**
   * What was measured; with a comparison the change in percent. Null without data, or if it grew from
   * 0 and so by no percentage.
   */
  readonly value: number | null;
  /** The threshold that it passed, or came back over. */
  readonly threshold: number;
  readonly direction: Alert['direction'];
  readonly compare: Alert['compare'];
  /** What is compared; null for an absolute value. */
  readonly compared: { readonly current: number | null; readonly before: number | null } | null;
  /** The start is inclusive, the end exclusive. */
  readonly window: { readonly start: string; readonly end: string };
  /** Those that contribute most, at most three. */
  readonly contributors: readonly Contributor[];
  /** Into the page, at exactly the window. */
  readonly link: string;
  /** When the change was found. */
  readonly at: string;
}

/**
 * Tells a target.
 *
 * @throws Error whose message says to people why it was not delivered: it shows in the page. It is
 * tried again later, with the same message
 */
export type Tell = (message: Message, target: Target, budget: RequestBudget) => Promise<void>;

/** A target as people and the history call it. */
export const targetName = ({ sns, webhook }: Target): string =>
  sns ? 'sns' : webhook === null ? 'event_bus' : `webhook ${webhook}`;
