import { type ReactNode, useMemo } from 'react';
import type { TracesSearch } from '../../navigation/search.ts';
import { scoreText, toScorePath } from '../scores.ts';
import { MetricChart } from './charts.tsx';
import type { Point } from './figures.ts';
import { type Counted, callsIn } from './requests.ts';
import { type ScoreFigures, scoreLines, spreadLines } from './scores.ts';

/** The calls that scores are looked at of if nothing is filtered: feedback counts whatever its call is. */
export const anyCall = (project: string): Counted => ({ project, all: true, source: 'all' });

/** The calls that have a score, the lowest first where that can be told. */
export const callsWith = (
  counted: Counted,
  span: Parameters<typeof callsIn>[1],
  { score, kind }: Pick<ScoreFigures, 'score' | 'kind'>,
  value?: string,
): TracesSearch => {
  const path = toScorePath(score);
  const condition =
    value === undefined ? { path, op: 'exists' as const, value: '' } : { path, op: 'is' as const, value };
  return {
    ...callsIn(counted, span),
    where: [...(counted.where ?? []), condition],
    ...(kind === 'number' && { sort: path }),
  };
};

interface ScoreChartProps {
  readonly figures: ScoreFigures;
  readonly project: string;
  readonly granularity: number;
  /** The calls that it is about; undefined if the list has no words for them. */
  readonly counted: Counted | undefined;
  /** Whether it shows how values are spread. @default false */
  readonly isSpread?: boolean;
  /** @default - the name of the score */
  readonly title?: string | undefined;
  readonly tools?: ReactNode;
  readonly onZoom?: ((from: number, to: number) => void) | undefined;
}

/** A score over time: its mean, its share of true, or how often each label is there; or how its values are spread. */
export const ScoreChart = (props: ScoreChartProps) => {
  const { figures, counted, isSpread = false } = props;
  const { lines, bars, text } = useMemo(
    () => (isSpread ? spreadLines(figures) : scoreLines(figures)),
    [figures, isSpread],
  );
  const linkTo = (point: Pick<Point, 'from' | 'to'>, of: Counted) =>
    callsWith(of, { start: point.from, end: point.to }, figures);
  return (
    <MetricChart
      title={props.title ?? scoreText(figures.score)}
      tools={props.tools}
      points={figures.points}
      granularity={props.granularity}
      lines={lines}
      bars={bars}
      text={text}
      getLink={counted && ((point) => linkTo(point, counted))}
      onZoom={props.onZoom}
      sync={props.project}
    />
  );
};
