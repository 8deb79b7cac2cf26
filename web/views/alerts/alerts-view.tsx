import { getRouteApi, Link } from '@tanstack/react-router';
import { Bell } from 'lucide-react';
import { countedText } from '../../data/format.ts';
import { useTitle } from '../../navigation/title.ts';
import { useAllowed } from '../../session/session.tsx';
import { maxListed } from '../../session/stored.ts';
import { Empty, Moment, Notice, QueryStatus, ScrollTable, type TableColumn } from '../../ui/controls.tsx';
import { View } from '../../ui/view.tsx';
import { draftFrom, ruleText, valueText } from './alert.ts';
import { AlertForm } from './alert-form.tsx';
import { AlertPage, History, PauseButton } from './alert-page.tsx';
import { type HistoryEntry, useAlerts, type Watched } from './data.ts';
import { StateBadge } from './strip.tsx';

interface ListProps {
  readonly project: string;
  readonly alerts: readonly Watched[];
  readonly history: readonly HistoryEntry[];
  readonly mayChange: boolean;
}

const countFailures = (history: readonly HistoryEntry[], id: string): number =>
  history
    .filter(({ object_id }) => object_id === id)
    .reduce((sum, { deliveries }) => sum + deliveries.filter(({ status }) => status === 'failed').length, 0);

const makeColumns = ({ project, history, mayChange }: ListProps): readonly TableColumn<Watched>[] => [
  {
    title: 'Alert',
    className: 'break',
    cell: ({ id, value }) => (
      <>
        <Link to="/alerts" search={{ project, alert: id }}>
          {value.name}
        </Link>
        <br />
        <span className="hint">{ruleText(value)}</span>
      </>
    ),
  },
  {
    title: 'State',
    cell: ({ id, row }) => {
      const failures = countFailures(history, id);
      return (
        <>
          <StateBadge state={row?.state ?? null} isMeasured={Boolean(row?.measured_at)} />
          {row?.problem ? <p className="error-text">the last look failed</p> : null}
          {failures > 0 ? (
            <p className="error-text">{countedText(failures, 'message')} not delivered</p>
          ) : null}
        </>
      );
    },
  },
  {
    title: 'Value',
    className: 'numeric',
    cell: ({ value, row }) => (row?.measured_at ? valueText(value, row.value) : ''),
  },
  { title: 'Last 30 days', cell: (alert) => <History alert={alert} history={history} /> },
  { title: 'Since', cell: ({ row }) => (row?.since ? <Moment time={row.since} /> : '') },
  ...(mayChange
    ? [
        {
          title: 'Pause',
          className: 'action' as const,
          cell: (alert: Watched) => <PauseButton project={project} alert={alert} />,
        },
      ]
    : []),
];

const List = (props: ListProps) => {
  const { project, alerts } = props;
  if (alerts.length === 0)
    return (
      <Empty icon={Bell} title={`${project} has no alerts yet`}>
        An alert watches a metric, such as the error rate, and notifies people when it crosses a threshold.
        Start one with <em>Create alert</em>, beside a chart of the overview or above a list.
      </Empty>
    );
  return (
    <>
      <ScrollTable
        label="Alerts"
        className="wide as-cards alerts"
        columns={makeColumns(props)}
        rows={alerts}
        getKey={({ id }) => id}
      />
      {alerts.length === maxListed ? <p className="muted">Only the first {maxListed} are shown.</p> : null}
    </>
  );
};

/** What stands there where nobody looks at alerts. */
const SwitchedOff = () => (
  <Notice kind="info">
    Alerts are off in this service: nothing is checked, and nobody is notified. An operator turns them on with
    the setting <code>alerts</code>: <code>npx cdk deploy -c alerts=true</code>, or locally{' '}
    <code>ALERTS=1 npm start</code>. You can create and preview alerts before that.
  </Notice>
);

const route = getRouteApi('/alerts');

/** The alerts of a project, one of them, or the form of one. */
export const AlertsView = () => {
  const search = route.useSearch();
  const { project, alert: id, form } = search;
  const query = useAlerts(project);
  const { data } = query;
  const chosen = data?.alerts.find((alert) => alert.id === id);
  const mayChange = useAllowed(project, 'admin');
  const isList = id === undefined && !form;
  const shown = isList ? undefined : (chosen?.value.name ?? id ?? 'New alert');
  useTitle(shown);
  return (
    <View
      title={shown ?? 'Alerts'}
      narrow={form === true}
      actions={
        mayChange && isList ? (
          <Link to="/alerts" search={{ project, form: true }} className="button primary">
            New alert
          </Link>
        ) : null
      }
    >
      {mayChange ? null : (
        <Notice kind="info">
          This key can view alerts{form ? ' and preview one' : ''}. To create, change, pause or test one, you
          need the role admin on {project}, since alerts notify others. <code>npm run keys</code> makes a key
          with <code>--grant {project}:admin</code>.
        </Notice>
      )}
      {data?.isOn === false ? <SwitchedOff /> : null}
      <QueryStatus queries={[query]} loading="Loading alerts…" />
      {data && id !== undefined && !chosen ? (
        <Notice kind="error">This alert does not exist: it was deleted, or the link is incomplete.</Notice>
      ) : null}
      {data && form && (chosen || id === undefined) ? (
        <AlertForm
          key={chosen?.id ?? ''}
          project={project}
          alert={chosen}
          first={draftFrom(search)}
          mayChange={mayChange}
        />
      ) : null}
      {data && chosen && !form ? (
        <AlertPage
          key={chosen.id}
          project={project}
          alert={chosen}
          history={data.history}
          isOn={data.isOn}
          mayChange={mayChange}
        />
      ) : null}
      {data && isList ? (
        <List project={project} alerts={data.alerts} history={data.history} mayChange={mayChange} />
      ) : null}
    </View>
  );
};
