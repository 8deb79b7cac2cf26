import { getRouteApi, Link } from '@tanstack/react-router';
import { Gauge } from 'lucide-react';
import { useMemo } from 'react';
import { toTime, usePeriod, useScores } from '../../calls/figures/read.ts';
import { pathOf, resultText, type ScoreFigures, scoreAt, sourceText } from '../../calls/figures/scores.ts';
import { TimeMenu } from '../../calls/filters/time-menu.tsx';
import { scorePath, scoreText } from '../../calls/scores.ts';
import { countText } from '../../data/format.ts';
import { useChange } from '../../navigation/change.ts';
import type { ScoresSearch } from '../../navigation/search.ts';
import { useTitle } from '../../navigation/title.ts';
import { Empty, QueryStatus, RefreshButton, ScrollTable, type TableColumn } from '../../ui/controls.tsx';
import { HeadTools, View } from '../../ui/view.tsx';
import { useEvaluatorTypes } from './data.ts';
import { ScorePage } from './score-page.tsx';
import { Spread, Trend } from './small-charts.tsx';

const route = getRouteApi('/scores');

/** A row of the list: a score, or an evaluator that gave none. */
interface Row {
  readonly path: string;
  readonly type: string;
  readonly name: string;
  readonly figures: ScoreFigures | undefined;
}

const makeColumns = (search: ScoresSearch): readonly TableColumn<Row>[] => [
  {
    title: 'Score',
    className: 'break',
    cell: ({ path, name }) => (
      <Link to="/scores" search={{ ...search, score: path }}>
        {name}
      </Link>
    ),
  },
  {
    title: 'Result',
    className: 'break',
    cell: ({ figures }) => (figures ? resultText(figures) : <span className="muted">none in this time</span>),
  },
  { title: 'Count', className: 'numeric', cell: ({ figures }) => countText(figures?.count ?? 0) },
  { title: 'Trend', cell: ({ figures }) => (figures ? <Trend figures={figures} /> : null) },
  { title: 'Distribution', cell: ({ figures }) => (figures ? <Spread figures={figures} /> : null) },
  { title: 'From', cell: ({ type }) => <span className="muted">{sourceText(type)}</span> },
];

/** The scores of a project, those of evaluators without any at the end. */
const toRows = (scores: readonly ScoreFigures[], evaluators: ReadonlyMap<string, string>): Row[] => {
  const given = new Set(scores.map(({ score }) => score.type));
  return [
    ...scores.map((figures) => ({
      path: pathOf(figures),
      type: figures.score.type,
      name: scoreText(figures.score),
      figures,
    })),
    ...[...evaluators.keys()]
      .filter((type) => !given.has(type) && !type.includes(']'))
      .sort()
      .map((type) => ({
        path: scorePath(type),
        type,
        name: scoreText({ type, field: 'value' }),
        figures: undefined,
      })),
  ];
};

const none: ReadonlyMap<string, string> = new Map();

/** The scores of a project, or one of them. */
export const ScoresView = () => {
  const search = route.useSearch();
  const change = useChange<ScoresSearch>(route.useNavigate());
  const { project } = search;
  const { span, period, refresh } = usePeriod(search, '7d');
  const score = useMemo(() => scoreAt(search.score), [search.score]);
  const query = useScores(project, period, score === undefined);
  const { data: evaluators = none } = useEvaluatorTypes(project);
  const rows = query.data && toRows(query.data, evaluators);
  const name = score && scoreText(score);
  useTitle(name);
  return (
    <View
      title={name ?? 'Scores'}
      about={score ? sourceText(score.type) : undefined}
      actions={<RefreshButton onClick={refresh} />}
    >
      <HeadTools>
        <TimeMenu
          span={span}
          onChange={(next) => change({ range: next.range, from: next.from, to: next.to })}
        />
      </HeadTools>
      {score ? (
        <ScorePage
          project={project}
          period={period}
          score={score}
          evaluator={evaluators.get(score.type)}
          onZoom={(start, end) => change(toTime(start, end))}
        />
      ) : (
        <>
          <QueryStatus queries={[query]} loading="Counting the scores…" />
          {rows?.length === 0 ? (
            <Empty icon={Gauge} title={`${project} has no scores in this time`}>
              Scores are feedback: thumbs and scores of people, annotations of reviewers, and the verdicts of
              evaluators. Choose a longer time, or create an evaluator.
            </Empty>
          ) : null}
          {rows && rows.length > 0 ? (
            <ScrollTable
              label="Scores"
              columns={makeColumns(search)}
              rows={rows}
              getKey={({ path }) => path}
            />
          ) : null}
        </>
      )}
    </View>
  );
};
