import type { IssueKind, IssueState } from '../../../api/shared/issues.ts';
import { countedText, countText } from '../../data/format.ts';
import { kindTexts, toBars } from './issue.ts';

/* What the list of issues and the page of one share. */

const signs: Readonly<Record<IssueState, string>> = {
  open: '!',
  regressed: '↩',
  resolved: '✓',
  ignored: '–',
};

/** The looks of the badges of calls, which mean as much. */
const looks: Readonly<Record<IssueState, string>> = {
  open: 'descendant_error',
  regressed: 'error',
  resolved: 'success',
  ignored: 'quiet',
};

/** The state of an issue, by sign, word and color. */
export const IssueStateBadge = ({ state }: { state: IssueState }) => (
  <span className={`badge ${looks[state]}`}>
    <span aria-hidden="true">{signs[state]}</span> {state}
  </span>
);

export const KindBadge = ({ kind }: { kind: IssueKind }) => (
  <span className="badge quiet">{kindTexts[kind]}</span>
);

/** How many bars a small series has at most. */
const maxBars = 28;
/** The height of the highest bar, and how far bars are apart. */
const height = 20;
const step = 4;

/** A series as small bars. */
export const Spark = ({ series }: { series: readonly number[] }) => {
  const bars = toBars(series, maxBars);
  const most = Math.max(1, ...bars);
  const sum = bars.reduce((all, count) => all + count, 0);
  const path = bars
    .flatMap((count, at) => {
      // What is seldom is still seen.
      const size = count === 0 ? 0 : Math.max(2, Math.round((count / most) * height));
      return size === 0 ? [] : [`M${at * step} ${height}v${-size}h${step - 1}v${size}z`];
    })
    .join('');
  return (
    <svg
      className="spark"
      viewBox={`0 0 ${Math.max(1, bars.length) * step} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${countedText(sum, 'time')}, at most ${countText(most)} at once`}
    >
      <path d={path} />
    </svg>
  );
};
