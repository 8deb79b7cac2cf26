import { Link, Navigate } from '@tanstack/react-router';
import { ChevronRight } from 'lucide-react';
import { Connect } from '../calls/connect/connect.tsx';
import { dayText } from '../data/format.ts';
import { lastProject } from '../session/device.ts';
import { type Me, useSession, useWake } from '../session/session.tsx';
import { Notice, QueryStatus, Table } from '../ui/controls.tsx';
import { View } from '../ui/view.tsx';
import { useProjects } from './projects.ts';

/** The projects that grants name one by one: known even before anything was reported to them. */
const grantedProjects = ({ grants }: Me): string[] =>
  [...new Set(grants.map(({ resource }) => resource))].filter((resource) => !resource.includes('*'));

/** What a key may do, in a table. */
const Grants = () => {
  const { me } = useSession();
  const resources = [...new Set(me.grants.map(({ resource }) => resource))];
  const rolesOn = (on: string) => me.grants.flatMap(({ resource, role }) => (resource === on ? role : []));
  return (
    <Table
      columns={[
        { title: 'Projects', cell: (resource) => <code>{resource}</code> },
        { title: 'Roles', cell: (resource) => rolesOn(resource).join(', ') },
      ]}
      rows={resources}
      getKey={(resource) => resource}
    />
  );
};

/** The projects of the key, and what it may do. A single project is opened at once. */
export const HomeView = () => {
  const { me, issuer } = useSession();
  const query = useProjects();
  const { data } = query;
  const last = lastProject();
  const all = [...new Set([...(data ?? []), ...grantedProjects(me)])];
  const next = data && (all.find((name) => name === last) ?? all[0]);
  useWake(next, ['/calls/stream_query', '/calls/usage']);
  const ordered = [...all.filter((name) => name === last), ...all.filter((name) => name !== last)];
  if (data && all.length === 1 && all[0] !== undefined)
    return <Navigate to="/traces" search={{ project: all[0] }} state={{ enter: true }} replace />;
  return (
    <View title="Projects" narrow>
      <QueryStatus queries={[query]} loading="Loading projects…" />
      {data && all.length === 0 && me.grants.length > 0 ? (
        <>
          <Notice kind="info">Nothing has been reported yet. A project appears with its first call.</Notice>
          <Connect project={undefined} />
        </>
      ) : null}
      <ul className="projects">
        {ordered.map((project) => (
          <li key={project}>
            <Link to="/traces" search={{ project }} state={{ enter: true }} className="card project">
              <strong>{project}</strong>
              {project === last ? <span className="muted">opened last</span> : null}
              <ChevronRight />
            </Link>
          </li>
        ))}
      </ul>
      <h2 className="who">{issuer === undefined ? 'This key' : 'You'}</h2>
      <p>
        {issuer === undefined ? 'It belongs to' : 'You are'} <strong>{me.user}</strong>
        {me.expires_at ? ` and expires on ${dayText(me.expires_at)}` : ''}.
      </p>
      {me.grants.length === 0 ? (
        <Notice kind="info">
          You may not see any project yet. Ask somebody with the role admin to add {me.user} as a member.
        </Notice>
      ) : (
        <Grants />
      )}
    </View>
  );
};
