import type { Alert, AlertLevel } from '../../../api/alerts.ts';
import type { Micros } from '../../../foundations/wire/index.ts';

/** What a look has measured. */
export interface Reading {
  /** Null without data. Infinite for what grew from 0, where the change counts. */
  readonly value: number | null;
  /** The end of the window, exclusive. */
  readonly end: Micros;
}

/** What is known of an alert from one look to the next. */
export interface Standing {
  /** The version of the alert that looked. */
  readonly digest: string;
  /** Null until enough looks agree. */
  readonly state: AlertLevel | null;
  /** When it came into this state. */
  readonly since: Micros | null;
  /** What the last looks found, the latest last: as many as have to agree. */
  readonly recent: readonly AlertLevel[];
  /** What the last look measured. */
  readonly value: number | null;
  /** The end of the window of the last look; null if there was none. */
  readonly end: Micros | null;
  /** When somebody was told of this state, or reminded of it; null if nobody was. */
  readonly toldAt: Micros | null;
  /** Why the last look failed; null if it did not. */
  readonly problem: string | null;
}

/** What is known of an alert before its first look. */
export const noStanding = (digest: string): Standing => ({
  digest,
  state: null,
  since: null,
  recent: [],
  value: null,
  end: null,
  toldAt: null,
  problem: null,
});

/** What there is to tell. */
export interface Change {
  readonly kind: 'changed' | 'reminder';
  readonly state: AlertLevel;
  readonly previous: AlertLevel | null;
}

type Rules = Pick<Alert, 'direction' | 'warn' | 'alert' | 'noData' | 'looks' | 'remindMinutes'>;

/** What a value means; undefined if it means what was before. */
const toLevel = (
  { direction, warn, alert, noData }: Rules,
  { value }: Pick<Reading, 'value'>,
): AlertLevel | undefined => {
  if (value === null) return noData === 'keep' ? undefined : noData;
  const passes = (threshold: number) => (direction === 'above' ? value > threshold : value < threshold);
  if (passes(alert)) return 'alert';
  return warn !== null && passes(warn) ? 'warn' : 'ok';
};

const levels: readonly AlertLevel[] = ['ok', 'warn', 'alert'];

/**
 * The state that looks agree on. A look that finds `alert` agrees with one that finds `warn` that it is
 * at least that bad; so what goes to and fro between both is not taken for `ok`.
 */
const agreed = (state: AlertLevel | null, recent: readonly AlertLevel[]): AlertLevel | null => {
  if (recent.every((level) => level === 'no_data')) return 'no_data';
  if (recent.includes('no_data')) return state;
  const ranks = recent.map((level) => levels.indexOf(level));
  const least = Math.min(...ranks);
  const most = Math.max(...ranks);
  const rank = state === null ? -1 : levels.indexOf(state);
  if (rank < 0 || least > rank) return levels[least] ?? state;
  return most < rank ? (levels[most] ?? state) : state;
};

/** Whether somebody is told of a change: not of a first state in which nothing is wrong. */
const isTold = (state: AlertLevel, previous: AlertLevel | null): boolean =>
  previous !== null || state === 'warn' || state === 'alert';

const minute = 60_000_000;

/**
 * Goes on from what is known of an alert by what a look has measured. Pure. Looking at the same window
 * again counts once.
 *
 * @param now when it looks
 */
export const decide = (
  rules: Rules,
  digest: string,
  before: Standing,
  reading: Reading,
  now: Micros,
): { readonly standing: Standing; readonly change: Change | null } => {
  const level = toLevel(rules, reading);
  // Another version has other thresholds: what looks found by the former says nothing.
  const known = before.digest === digest ? before.recent : [];
  const earlier = before.end === reading.end ? known.slice(0, -1) : known;
  const recent = level === undefined ? known : [...earlier, level].slice(-rules.looks);
  const state = recent.length < rules.looks ? before.state : agreed(before.state, recent);
  const { value, end } = reading;
  const standing = { ...before, digest, recent, value, end, problem: null };
  if (state !== null && state !== before.state) {
    const change: Change = { kind: 'changed', state, previous: before.state };
    const isNotified = isTold(state, before.state);
    return {
      standing: { ...standing, state, since: now, toldAt: isNotified ? now : null },
      change: isNotified ? change : null,
    };
  }
  const isDue =
    rules.remindMinutes !== null &&
    before.toldAt !== null &&
    state !== null &&
    state !== 'ok' &&
    now - before.toldAt >= rules.remindMinutes * minute;
  if (!isDue) return { standing, change: null };
  return { standing: { ...standing, toldAt: now }, change: { kind: 'reminder', state, previous: state } };
};

/** The threshold that a state is about: the one that was passed, or that it came back over. */
export const getThreshold = ({ warn, alert }: Pick<Rules, 'warn' | 'alert'>, state: AlertLevel): number =>
  state === 'alert' ? alert : (warn ?? alert);

// When alerts look.

/** How long after its end a window is looked at: what was reported a little late is in it by then. */
export const lagMicros: Micros = minute;

/**
 * How often an alert looks, in minutes: windows of less than a quarter of an hour every minute, those up
 * to an hour every five, and longer ones every twelfth of themselves.
 */
export const stepMinutes = ({ windowMinutes }: Pick<Alert, 'windowMinutes'>): number => {
  if (windowMinutes > 60) return Math.floor(windowMinutes / 12);
  return windowMinutes < 15 ? 1 : 5;
};

/** The end of the last window that may be looked at. */
export const windowEnd = (alert: Pick<Alert, 'windowMinutes'>, now: Micros): Micros => {
  const step = stepMinutes(alert) * minute;
  return Math.floor((now - lagMicros) / step) * step;
};

/** When the next look comes after one at some time. */
export const nextLook = (alert: Pick<Alert, 'windowMinutes'>, now: Micros): Micros =>
  windowEnd(alert, now) + stepMinutes(alert) * minute + lagMicros;
