import { useMemo } from 'react';
import { errorText } from '../../api/http.ts';
import {
  type Dashboard,
  keepChart,
  type StoredChart,
  storedTitle,
  withChart,
} from '../../calls/dashboards/dashboard.ts';
import { useStoreDashboard } from '../../calls/dashboards/stored.ts';
import { ChartSkeleton, dimensionTitles } from '../../calls/figures/charts.tsx';
import { figureMetrics, figureTitle, usualPercentile } from '../../calls/figures/figures.ts';
import { useScores } from '../../calls/figures/read.ts';
import type { Period } from '../../calls/figures/requests.ts';
import { pathOf, scoreAt } from '../../calls/figures/scores.ts';
import type { KeptFilter } from '../../calls/filters/kept-filter.ts';
import { KeptFilterForm } from '../../calls/filters/kept-filter-form.tsx';
import { scoreText } from '../../calls/scores.ts';
import { type Dimension, dimensions, type Percentile, percentiles } from '../../navigation/search.ts';
import { useKept } from '../../session/kept.ts';
import { Button, Notice, QueryStatus } from '../../ui/controls.tsx';
import { bindFields, Choice, Input, Section } from '../../ui/fields.tsx';
import { useSettled } from '../../ui/settled.ts';
import { ChartCard } from './chart-card.tsx';

/** A chart as somebody fills it in. */
interface ChartDraft {
  readonly metric: (typeof figureMetrics)[number] | 'score';
  /** The path of the score that it shows; empty for none. */
  readonly score: string;
  readonly percentile: Percentile;
  readonly by: Dimension | '';
  /** The path of the score that it is grouped by; empty for none. */
  readonly byScore: string;
  /** Empty for the usual way to draw it. */
  readonly kind: 'lines' | 'distribution' | '';
  readonly filter: KeptFilter;
  readonly title: string;
}

/** All calls of production, as in the overview. */
const firstDraft: ChartDraft = {
  metric: 'call_count',
  score: '',
  percentile: usualPercentile,
  by: '',
  byScore: '',
  kind: '',
  filter: { all: true, others: [], rest: {} },
  title: '',
};

/** The chart as it would be kept; undefined while the score that it needs is not chosen. */
const toChart = ({ metric, filter, by, byScore, title, ...draft }: ChartDraft): StoredChart | undefined => {
  const isScore = metric === 'score';
  const score = isScore ? scoreAt(draft.score) : undefined;
  if (isScore ? !score : by === 'score' && !scoreAt(byScore)) return undefined;
  const isBars = !isScore && metric !== 'latency_ms';
  const kind = draft.kind === (isScore ? 'distribution' : isBars ? 'lines' : undefined) && draft.kind;
  return keepChart(
    {
      metric,
      score,
      calls: filter,
      ...(!isScore && by && { by, byScore }),
      ...(kind && { kind }),
      ...(metric === 'latency_ms' && { percentile: draft.percentile }),
    },
    title.trim(),
  );
};

const metricOptions = [
  ...figureMetrics.map((metric) => [metric, figureTitle(metric, false)] as const),
  ['score', 'A score'] as const,
];

const groupOptions = [
  ['', 'Nothing'] as const,
  ...dimensions.map((by) => [by, by === 'score' ? 'A score' : dimensionTitles[by]] as const),
];

/** For how long a draft stands before its chart is read, in ms. */
const typingMs = 400;

interface ChartFormProps {
  readonly project: string;
  readonly dashboard: Dashboard;
  /** The time of the dashboard, which the preview is of. */
  readonly period: Period;
  readonly onDone: () => void;
}

/** Adds a chart to a dashboard: what it shows, of which calls, told apart by what. */
export const ChartForm = ({ project, dashboard, period, onDone }: ChartFormProps) => {
  const [draft, setDraft] = useKept<ChartDraft>('chart draft', `${project} ${dashboard.id}`, firstDraft);
  const { save } = useStoreDashboard(project);
  const change = (changes: Partial<ChartDraft>) => setDraft({ ...draft, ...changes });
  const field = bindFields(draft, change);
  const isScore = draft.metric === 'score';
  const needsScores = isScore || draft.by === 'score';
  const scores = useScores(project, period, needsScores);
  const scoreOptions = [
    ['', 'Choose a score'] as const,
    ...(scores.data ?? []).map((figures) => [pathOf(figures), scoreText(figures.score)] as const),
  ];
  const chart = useMemo(() => toChart(draft), [draft]);
  const shown = useSettled(chart, typingMs);
  const close = () => {
    setDraft(firstDraft);
    onDone();
  };
  const submit = () => {
    if (chart)
      save.mutate({ id: dashboard.id, makeDraft: withChart(dashboard.name, chart) }, { onSuccess: close });
  };
  return (
    <section className="stack alert-form" aria-label="Add a chart">
      <Section title="What it shows">
        <div className="alert-fields">
          <Choice label="Metric" options={metricOptions} {...field('metric')} />
          {isScore ? <Choice label="Score" options={scoreOptions} {...field('score')} /> : null}
          {draft.metric === 'latency_ms' ? (
            <Choice
              label="Percentile"
              options={percentiles.map((name) => [name, name] as const)}
              {...field('percentile')}
            />
          ) : null}
          {isScore ? null : <Choice label="Group by" options={groupOptions} {...field('by')} />}
          {!isScore && draft.by === 'score' ? (
            <Choice label="Score to group by" options={scoreOptions} {...field('byScore')} />
          ) : null}
          {draft.metric === 'latency_ms' ? null : (
            <Choice
              label="Drawn as"
              options={
                isScore
                  ? [
                      ['', 'the score over time'],
                      ['distribution', 'its distribution'],
                    ]
                  : [
                      ['', 'bars'],
                      ['lines', 'lines'],
                    ]
              }
              {...field('kind')}
            />
          )}
        </div>
        {needsScores ? <QueryStatus queries={[scores]} /> : null}
        {needsScores && scores.data?.length === 0 ? (
          <p className="muted">No feedback gave a score in the time of the dashboard.</p>
        ) : null}
        <KeptFilterForm
          project={project}
          filter={draft.filter}
          byFeedback={false}
          onChange={(filter) => change({ filter })}
        />
        <Input
          label="Title"
          spellCheck
          maxLength={100}
          placeholder={chart ? storedTitle({ ...chart, title: undefined }) : ''}
          {...field('title')}
        />
      </Section>
      {shown ? (
        <ChartCard project={project} period={period} stored={shown} onZoom={undefined} />
      ) : (
        <ChartSkeleton title="Choose a score" />
      )}
      {save.error ? <Notice kind="error">{errorText(save.error)}</Notice> : null}
      <div className="row-end">
        <Button onClick={close}>Cancel</Button>
        <Button kind="primary" disabled={!chart} idle={save.isPending} onClick={submit}>
          Add chart
        </Button>
      </div>
    </section>
  );
};
