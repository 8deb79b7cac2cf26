import { getRouteApi, Link } from '@tanstack/react-router';
import { countedText } from '../../data/format.ts';
import { useAllowed } from '../../session/session.tsx';
import { maxListed } from '../../session/stored.ts';
import { Moment, Notice, QueryStatus, ScrollTable, type TableColumn } from '../../ui/controls.tsx';
import { ObjectHead } from '../../ui/object-list.tsx';
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

const failuresOf = (history: readonly HistoryEntry[], id: string): number =>
  history
    .filter(({ object_id }) => object_id === id)
    .reduce((sum, { deliveries }) => sum + deliveries.filter(({ status }) => status === 'failed').length, 0);

const columnsOf = ({ project, history, mayChange }: ListProps): readonly TableColumn<Watched>[] => [
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
      const failures = failuresOf(history, id);
      return (
        <>
          <StateBadge state={row?.state ?? null} />
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
    ? [{ title: 'Pause', cell: (alert: Watched) => <PauseButton project={project} alert={alert} /> }]
    : []),
];

const List = (props: ListProps) => {
  const { project, alerts } = props;
  if (alerts.length === 0)
    return (
      <Notice kind="info">
        {project} has no alerts yet. One watches a figure, such as the share of calls that failed, and tells
        people when it passes a threshold. <em>Tell me…</em> beside a chart of the overview, or above a list,
        begins one.
      </Notice>
    );
  return (
    <>
      <ScrollTable
        label="Alerts"
        className="wide alerts"
        columns={columnsOf(props)}
        rows={alerts}
        keyOf={({ id }) => id}
      />
      {alerts.length === maxListed ? <p className="muted">These are the first {maxListed}.</p> : null}
    </>
  );
};

/** What stands there where nobody looks at alerts. */
const SwitchedOff = () => (
  <Notice kind="info">
    Alerts are switched off in this service: nothing is looked at, and nobody is told. Who runs it switches
    them on with the setting <code>alerts</code>, such as <code>npx cdk deploy -c alerts=true</code>, or
    locally with <code>ALERTS=1 npm start</code>. They can be made and previewed before.
  </Notice>
);

const route = getRouteApi('/alerts');

/** The alerts of a project, one of them, or the form of one. */
export const AlertsView = () => {
  const search = route.useSearch();
  const { project, alert: id, form } = search;
  const query = useAlerts(project);
  const { data } = query;
  const chosen = data?.alerts.find((each) => each.id === id);
  const mayChange = useAllowed(project, 'admin');
  const isList = id === undefined && !form;
  return (
    <main className="page wide">
      <ObjectHead
        title="Alerts"
        list={{ to: '/alerts', search: { project } }}
        shown={isList ? undefined : (chosen?.value.name ?? id ?? 'new')}
      >
        {mayChange ? (
          <Link to="/alerts" search={{ project, form: true }} className="button primary">
            New alert
          </Link>
        ) : null}
      </ObjectHead>
      {mayChange ? null : (
        <Notice kind="info">
          This key may look at alerts{form ? ', and preview one' : ''}. To make, change, pause or try one
          takes the role admin on {project}, since alerts speak to others. <code>npm run keys</code> makes a
          key with <code>--grant {project}:admin</code>.
        </Notice>
      )}
      {data?.isOn === false ? <SwitchedOff /> : null}
      <QueryStatus of={[query]} loading="Loading alerts…" />
      {data && id !== undefined && !chosen ? (
        <Notice kind="error">This alert is not there: it was deleted, or the link is cut off.</Notice>
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
    </main>
  );
};
