import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { LayoutDashboard } from 'lucide-react';
import { useState } from 'react';
import { errorText } from '../../api/http.ts';
import type { Dashboard } from '../../calls/dashboards/dashboard.ts';
import { useDashboards, useStoreDashboard } from '../../calls/dashboards/stored.ts';
import { useChange } from '../../navigation/change.ts';
import type { DashboardsSearch } from '../../navigation/search.ts';
import { useTitle } from '../../navigation/title.ts';
import { useAllowed } from '../../session/session.tsx';
import {
  Button,
  Empty,
  Moment,
  Notice,
  QueryStatus,
  ScrollTable,
  type TableColumn,
} from '../../ui/controls.tsx';
import { Form, Input } from '../../ui/fields.tsx';
import { Modal } from '../../ui/popups.tsx';
import { View } from '../../ui/view.tsx';
import { DashboardPage } from './dashboard-page.tsx';

const route = getRouteApi('/dashboards');

const makeColumns = (search: DashboardsSearch): readonly TableColumn<Dashboard>[] => [
  {
    title: 'Name',
    className: 'break',
    cell: ({ id, name }) => (
      <Link to="/dashboards" search={{ ...search, dashboard: id }}>
        {name}
      </Link>
    ),
  },
  { title: 'Charts', className: 'numeric', cell: ({ charts }) => charts.length },
  {
    title: 'Start',
    cell: ({ isStart }) => (isStart ? 'the project opens with it' : ''),
  },
  { title: 'Saved', cell: ({ savedAt }) => (savedAt ? <Moment time={savedAt} /> : '') },
];

/** Names a new dashboard, and opens it. */
const NewDashboard = ({ project }: { project: string }) => {
  const [name, setName] = useState<string>();
  const { save } = useStoreDashboard(project);
  const navigate = useNavigate();
  const close = () => setName(undefined);
  const create = () =>
    save.mutate(
      { id: undefined, makeDraft: () => ({ name: (name ?? '').trim(), charts: [], isStart: false }) },
      { onSuccess: (dashboard) => navigate({ to: '/dashboards', search: { project, dashboard } }) },
    );
  return (
    <>
      <Button kind="primary" onClick={() => setName('')}>
        New dashboard
      </Button>
      <Modal title="New dashboard" open={name !== undefined} onClose={close}>
        <Form className="stack" onSubmit={create}>
          <Input label="Name" spellCheck maxLength={100} value={name ?? ''} onChange={setName} />
          {save.error ? <Notice kind="error">{errorText(save.error)}</Notice> : null}
          <div className="row-end">
            <Button onClick={close}>Cancel</Button>
            <Button type="submit" kind="primary" disabled={(name ?? '').trim() === ''} idle={save.isPending}>
              Create
            </Button>
          </div>
        </Form>
      </Modal>
    </>
  );
};

/** The dashboards of a project, or one of them. */
export const DashboardsView = () => {
  const search = route.useSearch();
  const onSearch = useChange<DashboardsSearch>(route.useNavigate());
  const { project, dashboard: id } = search;
  const query = useDashboards(project);
  const { data } = query;
  const chosen = data?.find((dashboard) => dashboard.id === id);
  const mayWrite = useAllowed(project, 'write');
  useTitle(id === undefined ? undefined : (chosen?.name ?? id));
  if (chosen) return <DashboardPage key={chosen.id} search={search} onSearch={onSearch} dashboard={chosen} />;
  return (
    <View
      title="Dashboards"
      actions={mayWrite && id === undefined ? <NewDashboard project={project} /> : undefined}
    >
      <QueryStatus queries={[query]} loading="Loading the dashboards…" />
      {data && id !== undefined ? (
        <Notice kind="error">
          This dashboard does not exist: it was deleted, or the link is incomplete.
        </Notice>
      ) : null}
      {data?.length === 0 && id === undefined ? (
        <Empty icon={LayoutDashboard} title={`${project} has no dashboards yet`}>
          A dashboard has the charts that you look at most, for everybody in the project. Keep charts of the
          overview and of scores on one, with the button beside each.
        </Empty>
      ) : null}
      {data && data.length > 0 && id === undefined ? (
        <ScrollTable label="Dashboards" columns={makeColumns(search)} rows={data} getKey={(one) => one.id} />
      ) : null}
    </View>
  );
};
