import { Link } from '@tanstack/react-router';
import { countText, durationText, tokensText } from '../../data/format.ts';
import type { TracesSearch } from '../traces/search.ts';
import { errorRate } from './changes.ts';
import type { Figures } from './figures.ts';
import { callsIn, failuresIn } from './links.ts';
import type { Period } from './period.ts';
import { changeText, percentText } from './texts.ts';
import { useCostText } from './use-cost-text.ts';

interface Tile {
  readonly title: string;
  readonly text: string;
  readonly change: string | undefined;
  /** Whether more of it is worse. */
  readonly worse: boolean;
  readonly link: TracesSearch;
}

const or = <T,>(value: T | undefined, text: (value: T) => string): string =>
  value === undefined ? '–' : text(value);

interface HeadlineProps {
  readonly project: string;
  readonly period: Period;
  readonly now: Figures;
  readonly before: Figures | undefined;
}

const tilesOf = (
  { project, period, now, before }: HeadlineProps,
  costText: (cost: number) => string,
): Tile[] => {
  const all = callsIn(project, period);
  const slow = { ...all, sort: '-summary.svc.latency_ms' };
  const change = (of: (figures: Figures) => number | undefined) => changeText(before && of(before), of(now));
  return [
    { title: 'Calls', text: countText(now.calls), change: change((f) => f.calls), worse: false, link: all },
    {
      title: 'Errors',
      text: `${countText(now.errors)} · ${percentText(errorRate(now))}`,
      change: change((f) => f.errors),
      worse: true,
      link: failuresIn(project, period),
    },
    {
      title: 'p50 latency',
      text: or(now.p50, durationText),
      change: change((f) => f.p50),
      worse: true,
      link: slow,
    },
    {
      title: 'p95 latency',
      text: or(now.p95, durationText),
      change: change((f) => f.p95),
      worse: true,
      link: slow,
    },
    {
      title: 'Tokens',
      text: tokensText(now.tokens),
      change: change((f) => f.tokens),
      worse: false,
      link: all,
    },
    { title: 'Cost', text: or(now.cost, costText), change: change((f) => f.cost), worse: true, link: all },
  ];
};

const toneOf = ({ change, worse }: Tile): string => {
  if (!worse || change === undefined || change.startsWith('±')) return 'muted';
  return change.startsWith('−') ? 'better' : 'worse';
};

/** The figures of the whole period, beside those of the period before. */
export const Headline = (props: HeadlineProps) => {
  const costText = useCostText(props.project);
  return (
    <ul className="tiles" aria-label="In all">
      {tilesOf(props, costText).map((tile) => (
        <li key={tile.title}>
          <Link to="/traces" search={tile.link} className="card tile">
            <span className="muted">{tile.title}</span>
            <strong>{tile.text}</strong>
            <span className={`tile-change ${toneOf(tile)}`}>
              {tile.change === undefined ? 'nothing before' : `${tile.change} vs. before`}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
};
