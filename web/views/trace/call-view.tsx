import { getRouteApi, Navigate } from '@tanstack/react-router';
import { useCall } from '../../calls/data.ts';
import { Notice, QueryStatus } from '../../ui/controls.tsx';

const route = getRouteApi('/call');

/** Leads to a call in its trace, from links that know the call alone. */
export const CallView = () => {
  const { project, call } = route.useSearch();
  const query = useCall(project, call);
  const { data } = query;
  if (data) return <Navigate to="/trace" search={{ project, trace: data.trace_id, call: data.id }} replace />;
  return (
    <main className="center">
      <QueryStatus queries={[query]} loading="Looking for the call…" />
      {data === null ? (
        <Notice kind="error">This call does not exist. It was not reported yet, or was deleted.</Notice>
      ) : null}
    </main>
  );
};
