import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Link2 } from 'lucide-react';
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { countedText } from '../../data/format.ts';
import type { TraceSearch } from '../../navigation/search.ts';
import { SessionProvider } from '../../session/session.tsx';
import { readShared, type SharedTrace, sharedSession } from '../../session/shared.ts';
import { Moment, Notice, QueryStatus } from '../../ui/controls.tsx';
import { Shortcuts, useKeys } from '../../ui/keys.tsx';
import { View } from '../../ui/view.tsx';
import {
  HeadFacts,
  TraceBody,
  TraceTools,
  TraceTotals,
  treeShortcuts,
  useTracePanes,
} from './trace-body.tsx';

/** The token of the link, which comes after `#`. */
const useToken = (): string =>
  useSyncExternalStore(
    (listener) => {
      addEventListener('hashchange', listener);
      return () => removeEventListener('hashchange', listener);
    },
    () => location.hash.slice(1),
  );

/** Says what is shown, and until when. */
const Banner = ({ shared }: { shared: SharedTrace }) => (
  <p className="shared-banner" role="status">
    <Link2 />
    <span>
      Shared by a public link, read-only, until <Moment time={shared.expiresAt} />. Anyone with the link sees
      this trace, without feedback and comments.
      {shared.complete
        ? null
        : ` It is too large to be shown as a whole: these are its first ${countedText(shared.calls.length, 'call')}.`}
    </span>
  </p>
);

const keys = [...treeShortcuts, ['?', 'these keys']] as const;

interface ShownProps {
  readonly shared: SharedTrace;
  readonly search: TraceSearch;
}

const Shown = ({ shared, search }: ShownProps) => {
  const navigate = useNavigate();
  const [help, setHelp] = useState(false);
  const panes = useTracePanes(
    { ...search, project: shared.project, trace: shared.trace },
    // The token stays behind the `#`. What follows from it is no part of the URL.
    ({ search: change, ...step }) =>
      navigate({
        ...step,
        search: ((before: TraceSearch) => {
          const { project: _, trace: __, ...rest } = change(before);
          return rest;
        }) as never,
        hash: true,
      }),
  );
  const { state } = panes;
  const name = state.forest[0]?.name;
  useEffect(() => {
    if (name) document.title = `${name} · pennytrace`;
  }, [name]);
  useKeys({ ...panes.keys(() => {}), '?': () => setHelp(true) });
  return (
    <View
      fixed
      className="trace"
      title={name ?? 'Trace'}
      about={<HeadFacts state={state} onTotals={panes.toggleTotals} />}
    >
      <TraceTools panes={panes} onHelp={() => setHelp(true)} />
      <TraceTotals panes={panes} />
      <TraceBody panes={panes} />
      <Shortcuts open={help} onClose={() => setHelp(false)} keys={keys} />
    </View>
  );
};

/** A trace by a public link. */
export const SharedView = () => {
  const search = useSearch({ strict: false }) as TraceSearch;
  const token = useToken();
  const query = useQuery({
    queryKey: ['shared', token],
    queryFn: ({ signal }) => readShared(token, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { data } = query;
  const session = useMemo(() => data && sharedSession(data), [data]);
  if (!data || !session)
    return (
      <main className="shared-place stack">
        <h1>Shared trace</h1>
        {token === '' ? (
          <Notice kind="error">This link is incomplete: what comes after # is missing.</Notice>
        ) : (
          <QueryStatus queries={[query]} loading="Loading the trace…" />
        )}
      </main>
    );
  return (
    <SessionProvider session={session}>
      <Banner shared={data} />
      <Shown key={data.trace} shared={data} search={search} />
    </SessionProvider>
  );
};
