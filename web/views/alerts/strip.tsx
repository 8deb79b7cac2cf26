import { durationText, momentText } from '../../data/format.ts';
import type { AlertState, Stretch } from './alert.ts';

/** The states in words. */
const stateTexts: Readonly<Record<AlertState, string>> = {
  ok: 'ok',
  warn: 'warning',
  alert: 'alert',
  no_data: 'no data',
  paused: 'paused',
};

const signs: Readonly<Record<AlertState, string>> = {
  ok: '✓',
  warn: '!',
  alert: '✕',
  no_data: '?',
  paused: '‖',
};

/** The looks of the badges of calls, which mean as much. */
const looks: Readonly<Record<AlertState, string>> = {
  ok: 'success',
  warn: 'descendant_error',
  alert: 'error',
  no_data: 'quiet',
  paused: 'quiet',
};

interface StateBadgeProps {
  readonly state: AlertState | null;
  /** Whether it was checked before it has a state: that takes as many checks as it asks for. @default false */
  readonly isMeasured?: boolean;
}

/** The state of an alert, by sign, word and color. */
export const StateBadge = ({ state, isMeasured = false }: StateBadgeProps) =>
  state === null ? (
    <span className="muted">
      {isMeasured ? 'checked, next check confirms' : 'first check within a minute'}
    </span>
  ) : (
    <span className={`badge ${looks[state]}`}>
      <span aria-hidden="true">{signs[state]}</span> {stateTexts[state]}
    </span>
  );

const inWords = ({ state, from, to }: Stretch): string =>
  `${state ? stateTexts[state] : 'unknown'} for ${durationText(to - from)} from ${momentText(new Date(from).toISOString())}`;

/** How many stretches are told to screen readers: the table of changes has all. */
const toldCount = 5;

/** The states of an alert over time, the latest on the right. */
export const Strip = ({ label, stretches }: { label: string; stretches: readonly Stretch[] }) => (
  <span
    className="strip"
    role="img"
    aria-label={`${label}: ${stretches.slice(-toldCount).map(inWords).join('; ')}`}
  >
    {stretches.map((stretch) => (
      <span
        key={stretch.from}
        className={`stretch ${stretch.state ?? 'unknown'}`}
        style={{ flexGrow: stretch.to - stretch.from }}
        title={inWords(stretch)}
      />
    ))}
  </span>
);
