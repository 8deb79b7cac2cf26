import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { errorText } from '../../api/http.ts';
import { Button, Notice, QueryStatus } from '../../ui/controls.tsx';
import { Choice, Form, Input } from '../../ui/fields.tsx';
import { keepChart, type ShownChart, withChart } from './dashboard.ts';
import { useDashboards, useStoreDashboard } from './stored.ts';

interface KeepFormProps {
  readonly project: string;
  readonly chart: ShownChart;
  readonly title: string;
  readonly onDone: () => void;
}

/** Chooses the dashboard that a chart is kept on, or names a new one. */
export const KeepForm = ({ project, chart, title, onDone }: KeepFormProps) => {
  const query = useDashboards(project);
  const { save } = useStoreDashboard(project);
  const [chosen, setChosen] = useState<string>();
  const [name, setName] = useState('');
  const [label, setLabel] = useState(title);
  const dashboards = query.data ?? [];
  const id = chosen ?? dashboards[0]?.id ?? '';
  const kept = save.data;
  const keptName = dashboards.find((dashboard) => dashboard.id === kept)?.name ?? name;
  if (kept !== undefined)
    return (
      <div className="stack">
        <p role="status">
          Kept on{' '}
          <Link to="/dashboards" search={{ project, dashboard: kept }}>
            {keptName}
          </Link>
          .
        </p>
        <div className="row-end">
          <Button kind="primary" autoFocus onClick={onDone}>
            Done
          </Button>
        </div>
      </div>
    );
  const submit = () => {
    const own = label.trim();
    const stored = keepChart(chart, own === title ? undefined : own);
    save.mutate({ id: id || undefined, makeDraft: withChart(name.trim(), stored) });
  };
  return (
    <Form className="stack" onSubmit={submit}>
      <QueryStatus queries={[query]} loading="Loading the dashboards…" />
      {query.data ? (
        <>
          {dashboards.length > 0 ? (
            <Choice
              label="Dashboard"
              value={id}
              options={[
                ...dashboards.map((dashboard) => [dashboard.id, dashboard.name] as const),
                ['', 'New dashboard…'],
              ]}
              onChange={setChosen}
            />
          ) : null}
          {id === '' ? (
            <Input
              label="Name of the new dashboard"
              spellCheck
              maxLength={100}
              value={name}
              onChange={setName}
            />
          ) : null}
          <Input label="Title of the chart" spellCheck maxLength={100} value={label} onChange={setLabel} />
          {save.error ? <Notice kind="error">{errorText(save.error)}</Notice> : null}
          <div className="row-end">
            <Button onClick={onDone}>Cancel</Button>
            <Button
              type="submit"
              kind="primary"
              disabled={id === '' && name.trim() === ''}
              idle={save.isPending}
            >
              Keep
            </Button>
          </div>
        </>
      ) : null}
    </Form>
  );
};
