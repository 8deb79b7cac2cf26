import { getRouteApi, Link } from '@tanstack/react-router';
import { ArrowDown, ArrowUp, MessageSquare, Share2 } from 'lucide-react';
import { useState } from 'react';
import type { CallRow } from '../../api/calls.ts';
import type { CallList } from '../../calls/list/call-list.ts';
import { listState } from '../../calls/list/layout.ts';
import { countedText } from '../../data/format.ts';
import { changed, type TraceSearch, type TracesSearch } from '../../navigation/search.ts';
import { useTitle } from '../../navigation/title.ts';
import { useKeeper, useKept } from '../../session/kept.ts';
import { useAllowed, useWake } from '../../session/session.tsx';
import { Button, Failure, IconButton, Notice } from '../../ui/controls.tsx';
import { Shortcuts, useKeys } from '../../ui/keys.tsx';
import { lazily } from '../../ui/lazy.ts';
import { Modal } from '../../ui/popups.tsx';
import { View } from '../../ui/view.tsx';
import { useCommentCounts } from './comments.tsx';
import {
  HeadFacts,
  TraceBody,
  TraceTools,
  TraceTotals,
  treeShortcuts,
  useTracePanes,
} from './trace-body.tsx';

/** The list that a trace was opened from, as its reader left it, with the rows around the trace. */
const useNeighbours = (project: string, trace: string) => {
  const keeper = useKeeper();
  const [search] = useKept<TracesSearch>('kept list', project, { project });
  const list = keeper.get<CallList>(['calls', listState(search)]);
  const rows = list?.store.getState().rows ?? [];
  const isHere = (row: CallRow | undefined) => row?.trace_id === trace;
  const at = list && isHere(rows[list.active]) ? list.active : rows.findIndex(isHere);
  return {
    search,
    /** The place of the trace in its list, from 1; undefined if it is in none. */
    place: at < 0 ? undefined : at + 1,
    mayGo: (by: 1 | -1) =>
      at >= 0 && (by < 0 ? at > 0 : at < rows.length - 1 || !list?.store.getState().complete),
    /** The row before or after the trace, which the list then is at; undefined if there is none. */
    step: async (by: 1 | -1): Promise<CallRow | undefined> => {
      if (!list || at < 0) return undefined;
      if (at + by >= list.store.getState().rows.length) await list.more();
      const row = list.store.getState().rows[at + by];
      if (row) list.active = at + by;
      return row;
    },
  };
};

export { TracePane } from './trace-pane.tsx';

const route = getRouteApi('/trace');

const keys = [
  ...treeShortcuts,
  ['J', 'next trace of the list'],
  ['K', 'previous trace of the list'],
  ['Escape', 'back to the tree, or the list'],
  ['?', 'these keys'],
] as const;

const steps = [
  [-1, ArrowUp, 'Previous trace of the list', 'K'],
  [1, ArrowDown, 'Next trace of the list', 'J'],
] as const;

interface StepsProps {
  readonly neighbours: ReturnType<typeof useNeighbours>;
  readonly onStep: (by: 1 | -1) => void;
}

/** The way to the traces around this one, if it was opened from a list. */
const Steps = ({ neighbours, onStep }: StepsProps) =>
  neighbours.place === undefined
    ? null
    : steps.map(([by, icon, name, key]) => (
        <IconButton
          key={by}
          icon={icon}
          name={name}
          title={`${name} (${key})`}
          idle={!neighbours.mayGo(by)}
          onClick={() => onStep(by)}
        />
      ));

interface CommentsButtonProps {
  readonly counts: ReadonlyMap<string, number>;
  readonly calls: readonly CallRow[];
  readonly onOpen: (call: string) => void;
}

/** How many comments a trace has, which leads to the first call with some. */
const CommentsButton = ({ counts, calls, onOpen }: CommentsButtonProps) => {
  const first = calls.find(({ id }) => (counts.get(id) ?? 0) > 0);
  if (!first) return null;
  const sum = [...counts.values()].reduce((all, count) => all + count, 0);
  return (
    <Button kind="quiet" onClick={() => onOpen(first.id)}>
      <MessageSquare /> {countedText(sum, 'comment')}
    </Button>
  );
};

const ShareDialog = lazily(() => import('./share-dialog.tsx'), 'ShareDialog');

/** What stands there when a trace has no calls. */
const Gone = ({ project }: { project: string }) => (
  <main className="center">
    <Notice
      kind="error"
      action={
        <Link to="/traces" search={{ project }}>
          All traces
        </Link>
      }
    >
      This trace does not exist: it was deleted, or its calls were never reported.
    </Notice>
  </main>
);

/** A trace: its tree and timeline, and the selected call beside it. */
export const TraceView = () => {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [help, setHelp] = useState(false);
  useWake(search.project, ['/call/read']);
  const panes = useTracePanes(search, navigate);
  const { state } = panes;
  const { query, all, forest } = state;
  useTitle(forest[0]?.name);
  const mayWrite = useAllowed(search.project, 'write');
  const [sharing, setSharing] = useState(false);
  const counts = useCommentCounts(search.project, search.trace, query.data?.complete === true);
  const openComments = (call: string) =>
    panes.change((before) => ({ ...before, call, tab: 'comments' }), 'call');
  const neighbours = useNeighbours(search.project, search.trace);
  const leave = () => navigate({ to: '/traces', search: neighbours.search });
  const step = async (by: 1 | -1) => {
    const row = await neighbours.step(by);
    if (!row) return;
    const { trace_id: trace, id, parent_id } = row;
    const call = parent_id ? id : undefined;
    const changes = { trace, call, comment: undefined, window: undefined };
    navigate({ search: (before) => changed<TraceSearch>(before, changes), replace: true });
  };
  useKeys({
    ...panes.keys(leave),
    J: () => step(1),
    K: () => step(-1),
    '?': () => setHelp(true),
  });
  if (query.data && all.length === 0) return <Gone project={search.project} />;
  return (
    <View
      fixed
      className="trace"
      title={forest[0]?.name ?? 'Trace'}
      about={<HeadFacts state={state} onTotals={panes.toggleTotals} />}
      actions={
        <>
          <CommentsButton counts={counts} calls={state.calls} onOpen={openComments} />
          {mayWrite && all.length > 0 ? (
            <Button onClick={() => setSharing(true)}>
              <Share2 /> Share
            </Button>
          ) : null}
          <Steps neighbours={neighbours} onStep={step} />
        </>
      }
    >
      <Failure error={query.error} onRetry={query.refetch} />
      <TraceTools panes={panes} onHelp={() => setHelp(true)} />
      <TraceTotals panes={panes} />
      <TraceBody panes={panes} comments={counts} />
      <Modal title="Share this trace" open={sharing} onClose={() => setSharing(false)}>
        <ShareDialog project={search.project} trace={search.trace} calls={state.calls} />
      </Modal>
      <Shortcuts open={help} onClose={() => setHelp(false)} keys={keys} />
    </View>
  );
};
