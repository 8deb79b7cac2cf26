import { getRouteApi, Link } from '@tanstack/react-router';
import { Gavel } from 'lucide-react';
import { useState } from 'react';
import type { Evaluator } from '../../calls/evaluators.ts';
import { whole } from '../../calls/figures/requests.ts';
import { costText, countText } from '../../data/format.ts';
import { ranges } from '../../navigation/search.ts';
import { useTitle } from '../../navigation/title.ts';
import { useAllowed } from '../../session/session.tsx';
import { maxListed } from '../../session/stored.ts';
import { Empty, Moment, Notice, QueryStatus, ScrollTable, type TableColumn } from '../../ui/controls.tsx';
import { View } from '../../ui/view.tsx';
import {
  getAnswerType,
  useEvaluators,
  useLastFailure,
  useSpending,
  useVerdictStats,
  useVerdicts,
} from './data.ts';
import { kindText, onText } from './evaluator.ts';
import { EvaluatorForm } from './evaluator-form.tsx';
import { EvaluatorPage } from './evaluator-page.tsx';
import { Switch } from './switch.tsx';
import { toTotals, totalsText } from './verdicts.ts';

interface RowProps {
  readonly project: string;
  readonly evaluator: Evaluator;
}

/** The days whose verdicts the list sums up. */
const weekMs = ranges['7d'] * 60_000;

/** So many of the latest verdicts tell how frequent labels are. */
const counted = 100;

const useWeek = (): number => useState(() => Math.floor((Date.now() - weekMs) / 60_000) * 60_000)[0];

const useTotals = ({ project, evaluator }: RowProps) => {
  const start = useWeek();
  const type = getAnswerType(evaluator);
  const { data } = useVerdictStats(project, evaluator, start, whole);
  // Statistics do not count labels.
  const latest = useVerdicts(project, evaluator, start, type === 'label' ? '' : undefined, counted);
  return { start, totals: data && toTotals(data, type, latest.data ?? []) };
};

const LastDays = (props: RowProps) => {
  const { totals } = useTotals(props);
  if (!totals) return <span className="muted">…</span>;
  return (
    <>
      {countText(totals.count)} <span className="muted">{totalsText(totals)}</span>
    </>
  );
};

const LastError = (props: RowProps) => {
  const { totals, start } = useTotals(props);
  const { data } = useLastFailure(props.project, props.evaluator, start, (totals?.failures ?? 0) > 0);
  if (!data) return null;
  return (
    <>
      <span className="error-text">{data.error}</span>{' '}
      <Moment time={new Date(data.at).toISOString()} className="muted" />
    </>
  );
};

const makeColumns = (
  project: string,
  spent: ReadonlyMap<string, number> | undefined,
): readonly TableColumn<Evaluator>[] => [
  {
    title: 'Name',
    className: 'break',
    cell: ({ id, value }) => (
      <Link to="/evaluators" search={{ project, evaluator: id }}>
        {value.name}
      </Link>
    ),
  },
  { title: 'State', cell: (evaluator) => <Switch project={project} evaluator={evaluator} /> },
  { title: 'Judges', cell: ({ value }) => onText(value) },
  { title: 'By', className: 'break', cell: ({ value }) => kindText(value) },
  { title: 'Verdicts in 7 days', cell: (evaluator) => <LastDays project={project} evaluator={evaluator} /> },
  {
    title: 'Today',
    className: 'numeric',
    cell: ({ id, value }) => {
      if (!value.judge) return '';
      const usd = spent?.get(id);
      return `${usd === undefined ? '' : `${costText(usd)} of `}${costText(value.max_usd_per_day ?? 0)}`;
    },
  },
  {
    title: 'Last error',
    className: 'break',
    cell: (evaluator) => <LastError project={project} evaluator={evaluator} />,
  },
];

/** What stands there where the service does not judge. */
const SwitchedOff = () => (
  <Notice kind="info">
    Evaluators are off in this service: nothing is scored, and trials do not run. An operator turns them on
    with the setting <code>evaluators</code>: <code>npx cdk deploy -c evaluators=true</code>, or locally{' '}
    <code>EVALUATORS=1 npm start</code>. You can create and price evaluators before that.
  </Notice>
);

const route = getRouteApi('/evaluators');

const List = ({ project, evaluators, spent }: ListProps) => (
  <>
    {evaluators.length === 0 ? (
      <Empty icon={Gavel} title={`${project} has no evaluators yet`}>
        An evaluator scores calls as they finish, with a model or a check. Its verdicts are feedback on the
        calls.
      </Empty>
    ) : (
      <ScrollTable
        label="Evaluators"
        columns={makeColumns(project, spent)}
        rows={evaluators}
        getKey={({ id }) => id}
      />
    )}
    {evaluators.length === maxListed ? <p className="muted">Only the first {maxListed} are shown.</p> : null}
  </>
);

interface ListProps {
  readonly project: string;
  readonly evaluators: readonly Evaluator[];
  readonly spent: ReadonlyMap<string, number> | undefined;
}

/** The evaluators of a project, or one of them with its verdicts. */
export const EvaluatorsView = () => {
  const search = route.useSearch();
  const { project, evaluator: id, form } = search;
  const query = useEvaluators(project);
  const { data } = query;
  const spending = useSpending(project, data);
  const chosen = data?.find((evaluator) => evaluator.id === id);
  const isOn = spending.data?.isOn;
  const mayWrite = useAllowed(project, 'write');
  const isList = id === undefined && !form;
  const shown = isList ? undefined : (chosen?.value.name ?? (form ? 'New evaluator' : id));
  useTitle(shown);
  return (
    <View
      title={shown ?? 'Evaluators'}
      narrow={form === true}
      actions={
        mayWrite && isList ? (
          <Link to="/evaluators" search={{ project, form: true }} className="button primary">
            New evaluator
          </Link>
        ) : null
      }
    >
      {mayWrite ? null : (
        <p className="muted">
          This key can view evaluators. Checks require the role write on {project}, and evaluators with a
          judge the role admin.
        </p>
      )}
      {isOn === false ? <SwitchedOff /> : null}
      <QueryStatus queries={[query]} loading="Loading evaluators…" />
      {data && id !== undefined && !chosen ? (
        <Notice kind="error">
          This evaluator does not exist: it was deleted, or the link is incomplete.
        </Notice>
      ) : null}
      {data && form && (chosen || id === undefined) ? (
        <EvaluatorForm
          key={chosen?.digest ?? search.watch ?? ''}
          project={project}
          evaluator={chosen}
          search={search}
          isOn={isOn}
        />
      ) : null}
      {chosen && !form ? (
        <EvaluatorPage key={chosen.id} project={project} evaluator={chosen} isOn={isOn} />
      ) : null}
      {data && isList ? <List project={project} evaluators={data} spent={spending.data?.spent} /> : null}
    </View>
  );
};
