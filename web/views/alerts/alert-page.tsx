import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { errorText } from '../../api/http.ts';
import { countedText, momentText } from '../../data/format.ts';
import { Button, Moment, Notice, ScrollTable, type TableColumn } from '../../ui/controls.tsx';
import { Confirm } from '../../ui/popups.tsx';
import {
  type AlertValue,
  callsText,
  isOfCalls,
  measuredCalls,
  ruleText,
  toStretches,
  valueText,
} from './alert.ts';
import { type HistoryEntry, useStoreAlert, useTrial, type Watched } from './data.ts';
import { StateBadge, Strip } from './strip.tsx';

/** For how long history is shown, in ms. */
const shownMs = 30 * 86_400_000;

/** The states of an alert in the last 30 days. */
export const History = ({ alert, history }: { alert: Watched; history: readonly HistoryEntry[] }) => {
  const [end] = useState(() => Date.now());
  const own = history.filter(({ object_id, kind }) => object_id === alert.id && kind === 'changed');
  const start = end - shownMs;
  const { row } = alert;
  // A first state that nobody was told of is in no history.
  const since = row?.state && row.since ? [{ at: row.since, state: row.state, previous: null }] : [];
  const changes = own.length > 0 ? own.toReversed() : since;
  return (
    <Strip label={`${alert.value.name} in the last 30 days`} stretches={toStretches(changes, start, end)} />
  );
};

const Deliveries = ({ deliveries }: { deliveries: HistoryEntry['deliveries'] }) => (
  <ul className="deliveries">
    {deliveries.map(({ target, status, tries, problem }, at) => (
      <li key={at} className={status === 'failed' ? 'error-text' : status === 'waiting' ? 'waiting' : ''}>
        <span aria-hidden="true">{status === 'delivered' ? '✓' : status === 'failed' ? '✕' : '…'}</span>{' '}
        {target}
        {status === 'delivered' ? null : (
          <>
            {' '}
            {status} after {countedText(tries, 'try').replace(/trys$/, 'tries')}
            {problem ? `: ${problem}` : ''}
          </>
        )}
      </li>
    ))}
  </ul>
);

const makeColumns = (project: string, value: AlertValue): readonly TableColumn<HistoryEntry>[] => [
  {
    title: 'When',
    cell: ({ at, window: { start, end } }) => (
      <Link to="/traces" search={measuredCalls(project, value, [Date.parse(start), Date.parse(end)])}>
        {momentText(at)}
      </Link>
    ),
  },
  {
    title: 'State',
    cell: ({ state, kind }) => (
      <>
        <StateBadge state={state} /> {kind === 'reminder' ? <span className="muted">still</span> : null}
      </>
    ),
  },
  { title: 'Value', className: 'numeric', cell: (entry) => valueText(value, entry.value) },
  { title: 'Threshold', className: 'numeric', cell: (entry) => valueText(value, entry.threshold) },
  { title: 'Notified', className: 'break', cell: ({ deliveries }) => <Deliveries deliveries={deliveries} /> },
];

/** Sends a test message, and says what each target did with it. */
const Trial = ({ project, alert }: { project: string; alert: Watched }) => {
  const trial = useTrial(project);
  const { data, error } = trial;
  return (
    <>
      <Button idle={trial.isPending} onClick={() => trial.mutate(alert.id)}>
        {trial.isPending ? 'Sending…' : 'Send a test message'}
      </Button>
      {error || data ? (
        <div className="whole" role="status">
          {error ? <Notice kind="error">{errorText(error)}</Notice> : null}
          {data?.targets.length === 0 ? <p className="muted">This alert notifies nobody.</p> : null}
          <ul className="deliveries">
            {data?.targets.map(({ target, delivered, problem }, at) => (
              <li key={at} className={delivered ? '' : 'error-text'}>
                <span aria-hidden="true">{delivered ? '✓' : '✕'}</span> {target}:{' '}
                {delivered ? 'delivered' : (problem ?? 'not delivered')}
              </li>
            ))}
          </ul>
        </div>
      ) : null}
    </>
  );
};

/** Pauses an alert, or has it looked at again. */
export const PauseButton = ({ project, alert: { id, value } }: { project: string; alert: Watched }) => {
  const { save } = useStoreAlert(project);
  return (
    <>
      <Button
        idle={save.isPending}
        aria-label={`${value.enabled ? 'Pause' : 'Resume'} ${value.name}`}
        onClick={() => save.mutate({ id, value: { ...value, enabled: !value.enabled } })}
      >
        {value.enabled ? 'Pause' : 'Resume'}
      </Button>
      {save.error ? <span className="error-text">{errorText(save.error)}</span> : null}
    </>
  );
};

interface AlertPageProps {
  readonly project: string;
  readonly alert: Watched;
  readonly history: readonly HistoryEntry[];
  readonly isOn: boolean;
  readonly mayChange: boolean;
}

/** One alert: its state, what it told, and what can be done with it. */
export const AlertPage = ({ project, alert, history, isOn, mayChange }: AlertPageProps) => {
  const navigate = useNavigate();
  const { remove } = useStoreAlert(project);
  const [removing, setRemoving] = useState(false);
  const { id, value, row } = alert;
  const own = history.filter(({ object_id }) => object_id === id);
  const [now] = useState(() => Date.now());
  const lastMeasured = row?.measured_at ? Date.parse(row.measured_at) : now;
  const lastWindow = [lastMeasured - value.window_minutes * 60_000, lastMeasured] as const;
  const deleteIt = async () => {
    await remove.mutateAsync(id);
    await navigate({ to: '/alerts', search: { project } });
  };
  return (
    <section className="stack alert-page" aria-label="Alert">
      <p className="facts">
        <StateBadge state={row?.state ?? null} isMeasured={Boolean(row?.measured_at)} />
        {row?.since ? (
          <span>
            since <Moment time={row.since} />
          </span>
        ) : null}
        {row?.measured_at ? (
          <span>
            {valueText(value, row.value)} at <Moment time={row.measured_at} />
          </span>
        ) : null}
      </p>
      <p>
        {ruleText(value)}
        {isOfCalls(value) ? <span className="muted"> · {callsText(value)}</span> : null}
      </p>
      {row?.problem ? <Notice kind="error">The last check failed: {row.problem}</Notice> : null}
      <div className="alert-actions">
        {isOfCalls(value) ? (
          <Link to="/traces" search={measuredCalls(project, value, lastWindow)} className="button plain">
            Show its calls
          </Link>
        ) : null}
        {mayChange ? (
          <>
            <Link to="/alerts" search={{ project, alert: id, form: true }} className="button plain">
              Change
            </Link>
            <PauseButton project={project} alert={alert} />
            <Button onClick={() => setRemoving(true)}>Delete</Button>
            {isOn ? <Trial project={project} alert={alert} /> : null}
          </>
        ) : null}
      </div>
      <History alert={alert} history={history} />
      <h2>Notifications</h2>
      {own.length === 0 ? (
        <p className="muted">None in the last 90 days. A first state of ok sends no notification.</p>
      ) : (
        <ScrollTable
          label="Notifications"
          columns={makeColumns(project, value)}
          rows={own}
          getKey={(entry) => `${entry.id} ${entry.at}`}
        />
      )}
      <Confirm
        title={`Delete ${value.name}?`}
        action="Delete"
        open={removing}
        onClose={() => setRemoving(false)}
        idle={remove.isPending}
        error={remove.error}
        onConfirm={deleteIt}
      >
        It sends no more notifications. Its history is kept for 90 days.
      </Confirm>
    </section>
  );
};
