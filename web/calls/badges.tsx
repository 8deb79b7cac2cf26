import type { ReactNode } from 'react';
import { type CallRow, getWait, type Status, type Usage } from '../api/calls.ts';
import type { Marks } from '../api/feedback.ts';
import {
  allTokensText,
  costText,
  countText,
  kindsText,
  type TokenCounts,
  tokensText,
  waitText,
} from '../data/format.ts';

interface TokensProps {
  readonly of: TokenCounts;
  /** @default 'tokens' */
  readonly unit?: 'tokens' | 'tok';
  /** Whether the count stands in a column, in full and behind its kinds. @default false */
  readonly inColumn?: boolean;
}

/** How many tokens something used, with those that came from a cache and those of reasoning. */
export const Tokens = ({ of, unit = 'tokens', inColumn = false }: TokensProps) => {
  const kinds = kindsText(of);
  const count = inColumn ? countText(of.total) : `${tokensText(of.total)} ${unit}`;
  return (
    <span
      className={`tokens ${inColumn ? 'in-column' : ''}`}
      title={kinds === '' ? undefined : allTokensText(of)}
    >
      <span>{count}</span>
      {kinds === '' ? null : <span className="kinds cut">{kinds}</span>}
    </span>
  );
};

interface CallFiguresProps {
  readonly usage: Usage | undefined;
  readonly duration: string;
  readonly title?: string;
}

/** What a call took, in short. */
export const CallFigures = ({ usage, duration, title }: CallFiguresProps) => (
  <span className="figures">
    {usage?.cost === undefined ? null : <span>{costText(usage.cost)}</span>}
    {usage && usage.total > 0 ? <Tokens of={usage} unit="tok" /> : null}
    <span title={title}>{duration}</span>
  </span>
);

/** The states of calls in words. */
export const statusTexts: Readonly<Record<Status, string>> = {
  success: 'ok',
  error: 'error',
  descendant_error: 'error below',
  running: 'running',
};

/** The states of calls as signs. */
export const statusSigns: Readonly<Record<Status, string>> = {
  success: '✓',
  error: '✕',
  descendant_error: '!',
  running: '…',
};

/** The state of a call, by sign, word and color: none of them alone. */
export const StatusBadge = ({ status }: { status: Status }) => (
  <span className={`badge ${status}`}>
    <span aria-hidden="true">{statusSigns[status]}</span> {statusTexts[status]}
  </span>
);

/** Whether a call waits for a person, or how long it did; nothing for one that did not. */
export const WaitBadge = ({ call }: { call: CallRow }) => {
  const wait = getWait(call);
  if (wait === undefined) return null;
  return (
    <span className={`badge ${wait === true ? 'waiting' : 'waited'}`}>
      <svg className="person" viewBox="0 0 16 16" width="12" height="12" aria-hidden="true">
        <path d="M8 2.5a2.7 2.7 0 1 0 0 5.4a2.7 2.7 0 1 0 0-5.4zM2.8 14c.4-5.4 10-5.4 10.4 0z" />
      </svg>
      {waitText(wait)}
    </span>
  );
};

/** A thumb, drawn: not every device has a font with one. */
export const Thumb = ({ up }: { up: boolean }) => (
  <svg
    className="thumb"
    viewBox="0 0 20 20"
    width="16"
    height="16"
    aria-hidden="true"
    style={up ? undefined : { transform: 'scaleY(-1)' }}
  >
    <path
      d="M2.5 9h3v8h-3zM7.5 9l3.3-6.3c1.4 0 2.2 1 1.9 2.4L12 8h4.2c1.1 0 1.8 1 1.5 2l-1.5 5.4c-.3 1-1.1 1.6-2.1 1.6H7.5z"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinejoin="round"
    />
  </svg>
);

const scoreText = (score: number): string => String(Math.round(score * 100) / 100);

/** What feedback comes to, by signs that have words. */
export const FeedbackMarks = ({ marks }: { marks: Marks }) => {
  const { up, down, score, notes, corrections, others } = marks;
  const parts: readonly (readonly [ReactNode, string, string, boolean])[] = [
    [<Thumb key="up" up />, up > 1 ? String(up) : '', 'thumbs up', up > 0],
    [<Thumb key="down" up={false} />, down > 1 ? String(down) : '', 'thumbs down', down > 0],
    ['★', score === undefined ? '' : scoreText(score), 'score', score !== undefined],
    ['✎', notes > 1 ? String(notes) : '', 'note', notes > 0],
    ['↻', corrections > 1 ? String(corrections) : '', 'correction', corrections > 0],
    ['•', String(others), 'other feedback', others > 0],
  ];
  return (
    <span className="marks">
      {parts
        .filter(([, , , shown]) => shown)
        .map(([sign, text, name]) => (
          <span key={name} title={name}>
            <span role="img" aria-label={name}>
              {sign}
            </span>
            {text}
          </span>
        ))}
    </span>
  );
};
