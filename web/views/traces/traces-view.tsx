import { getRouteApi, Link, useRouter } from '@tanstack/react-router';
import { BellPlus, Braces, Columns3, Download, Ellipsis, Search } from 'lucide-react';
import { Suspense, useCallback, useEffect, useRef, useState } from 'react';
import { type CallRow, getCallName } from '../../api/calls.ts';
import { errorText } from '../../api/http.ts';
import { whenQuiet } from '../../api/quiet.ts';
import { Connect } from '../../calls/connect/connect.tsx';
import { FilterBar, unfiltered } from '../../calls/filters/filters.tsx';
import type { SearchMenuProps } from '../../calls/filters/sort-menu.tsx';
import type { CallList, ListState } from '../../calls/list/call-list.ts';
import { PeekPlace } from '../../calls/list/peek.tsx';
import { countRequest } from '../../calls/list/request.ts';
import { useDefaultView } from '../../calls/saved/saved.ts';
import { SavedMenu } from '../../calls/saved/saved-menu.tsx';
import { tagsColumn } from '../../calls/scores.ts';
import type { TracePaneType } from '../../calls/trace/trace-state.ts';
import { countedText, countText } from '../../data/format.ts';
import { useChange } from '../../navigation/change.ts';
import type { Changes, TracesSearch } from '../../navigation/search.ts';
import { keepColumns } from '../../session/device.ts';
import { useKept } from '../../session/kept.ts';
import { useRead, useWake } from '../../session/session.tsx';
import { Button, Check, Empty, Failure, IconButton, RefreshButton, Skeleton } from '../../ui/controls.tsx';
import { Shortcuts } from '../../ui/keys.tsx';
import { lazily } from '../../ui/lazy.ts';
import { Popup } from '../../ui/popups.tsx';
import { View } from '../../ui/view.tsx';
import { placeAfter, useCallList, useListKeys, useLive, usePeek, usePicked } from './hooks.ts';
import { TraceTable } from './table.tsx';

interface ListProgressProps {
  readonly state: ListState;
  readonly list: CallList;
  readonly live: boolean;
  /** Whether the page filters the rows itself, by their cost. */
  readonly filtered: boolean;
  /** Also finds what calls only repeat. @default - there is no search, or it does */
  readonly onRepeated: (() => void) | undefined;
}

/** How many rows a list has, as far as it was read. */
const rowsText = ({ complete, rows }: ListState, count: number | undefined): string => {
  if (complete) return countedText(rows.length, 'row');
  if (rows.length === 0) return '';
  return count === undefined
    ? `${countText(rows.length)}+ rows`
    : `${countText(rows.length)} of ${countedText(count, 'row')}`;
};

/** How many rows there are, and what is going on. */
const ListProgress = ({ state, list, live, filtered, onRepeated }: ListProgressProps) => {
  const [countedList, setCountedList] = useState<number>();
  // Counting reads the headers of all rows: only when somebody asks.
  const { data, error, isFetching } = useRead(
    ['count', list.number],
    ({ client, signal }) => client.ask('/calls/query_stats', countRequest(list.request), signal),
    { enabled: countedList === list.number },
  );
  const { complete, rows, phase, read } = state;
  // Costs and feedback are joined to rows, and not counted by.
  const isCounted =
    !complete &&
    rows.length > 0 &&
    !list.request.include_feedback &&
    !filtered &&
    // A search has a row for a trace, and a count is one of calls.
    !list.options.text;
  return (
    <div className="progress" role="status">
      {phase === 'failed' && rows.length === 0 ? null : (
        <span>{rowsText(state, isCounted ? data?.count : undefined)}</span>
      )}
      {filtered ? (
        <span className="muted" title="The cost of each row is looked up separately">
          of {countText(read)} checked
        </span>
      ) : null}
      {isCounted && error ? <span className="error-text">{errorText(error)}</span> : null}
      {isCounted && !data && !error ? (
        <Button kind="quiet" disabled={isFetching} onClick={() => setCountedList(list.number)}>
          {isFetching ? 'Counting…' : 'Count all'}
        </Button>
      ) : null}
      {phase === 'reading' || phase === 'stopped' ? (
        <>
          {phase === 'stopped' ? <span>stopped</span> : null}
          <Button kind="quiet" onClick={phase === 'reading' ? list.stop : list.more}>
            {phase === 'reading' ? 'Stop' : 'Go on'}
          </Button>
        </>
      ) : null}
      {live ? <span className="live">live</span> : null}
      {onRepeated ? (
        <Button kind="quiet" onClick={onRepeated} title="Also search system prompts and earlier messages">
          Include repeated text
        </Button>
      ) : null}
    </div>
  );
};

interface EmptyListProps {
  readonly search: TracesSearch;
  readonly onClear: () => void;
  readonly onShow: () => void;
}

/** A list without rows: what hides them all, or how to report the first. */
const EmptyList = ({ search, onClear, onShow }: EmptyListProps) =>
  Object.keys(unfiltered).some((filter) => filter in search) ? (
    <Empty
      icon={Search}
      title="Nothing matches these filters."
      action={<Button onClick={onClear}>Remove all filters</Button>}
    >
      Choose a longer time, fewer filters or other words.
    </Empty>
  ) : (
    <div className="first-minutes">
      <h2>{search.project} has no calls yet</h2>
      <Connect project={search.project} onShow={onShow} />
    </div>
  );

/** Begins an alert on the calls of the list. */
const TellMe = ({ search: { project, all, status, text, where, source } }: { search: TracesSearch }) => (
  <Link
    to="/alerts"
    search={{
      project,
      form: true as const,
      metric: 'call_count.sum' as const,
      ...(all && { all }),
      ...(status && { status }),
      ...(text && { text }),
      ...(where && { where }),
      ...(source && { source }),
    }}
    className="button plain"
    title="Alert on the count, latency or cost of these calls"
  >
    <BellPlus /> Create alert
  </Link>
);

const Selection = lazily(() => import('./selection.tsx'), 'Selection');
const ColumnForm = lazily(() => import('./toolbar.tsx'), 'ColumnForm');

/** The button of what changes the columns. */
const ColumnMenu = (props: SearchMenuProps) => {
  const [open, setOpen] = useState(false);
  return (
    <Popup
      label={
        <>
          <Columns3 /> Columns
        </>
      }
      name="Columns"
      align="end"
      open={open}
      onOpenChange={setOpen}
    >
      <Suspense fallback={<Skeleton label="Loading the columns…" />}>
        <ColumnForm {...props} />
      </Suspense>
    </Popup>
  );
};

const QueryDialog = lazily(() => import('./toolbar.tsx'), 'QueryDialog');
const ExportDialog = lazily(() => import('./export-dialog.tsx'), 'ExportDialog');

const route = getRouteApi('/traces');

const keys = [
  ['j ↓', 'next row'],
  ['k ↑', 'previous row'],
  ['Enter', 'open the row'],
  ['p', 'show the row beside the list'],
  ['Escape', 'close what is beside the list'],
  ['x', 'select the row'],
  ['X', 'select the rows up to this one'],
  ['c', 'compare the two selected rows'],
  ['/', 'search'],
  ['r', 'refresh the list'],
  ['?', 'these keys'],
] as const;

/** For how long nothing is read before the view that comes next is loaded, in ms. */
const preloadMs = 500;

const toggledSort = (sort: string, path: string): string => (sort === `-${path}` ? path : `-${path}`);

interface TracesViewProps {
  /** What shows a trace beside the list. */
  readonly Pane: TracePaneType;
}

/** The traces of a project, or all of its calls: newest first, unless sorted otherwise. */
export const TracesView = ({ Pane }: TracesViewProps) => {
  const router = useRouter();
  const search = route.useSearch();
  const change = useChange<TracesSearch>(route.useNavigate());
  const { list, state, refresh, failure } = useCallList(search);
  useDefaultView(search);
  const scroller = useRef<HTMLDivElement>(null);
  const searchBox = useRef<HTMLInputElement>(null);
  const [showQuery, setShowQuery] = useState(false);
  const [showMore, setShowMore] = useState(false);
  const [showExport, setShowExport] = useState(false);
  const picks = usePicked(search);
  const [, keepSearch] = useKept<TracesSearch>('kept list', search.project, search);
  useEffect(() => keepSearch(search), [keepSearch, search]);
  const peek = usePeek(search, Pane, scroller);
  const { active, setActive, goTo, help, setHelp } = useListKeys({
    list,
    rows: state.rows,
    focusSearch: () => searchBox.current?.focus(),
    refresh,
    picks,
    peek,
  });
  const onPeek = (place: number) => {
    const row = state.rows[place];
    if (!row) return;
    setActive(() => place);
    peek.show(row);
  };
  // What became of rows is said when none is selected any more.
  const hasPicked = useRef(false);
  hasPicked.current ||= picks.picked.length > 0;
  const onDeleted = (ids: readonly string[]) => {
    const isPeeked = state.rows.some(({ id, trace_id }) => trace_id === search.peek && ids.includes(id));
    if (isPeeked) peek.close();
    list.remove(ids);
  };
  const onTagged = () => {
    const { columns = [] } = search;
    if (!columns.includes(tagsColumn)) changeColumns({ columns: [...columns, tagsColumn] });
  };
  const { sort = '-started_at', live = false } = search;
  const changeColumns = useCallback(
    (next: Changes<TracesSearch>) => {
      const { project, columns, layout } = search;
      keepColumns(project, { columns, layout, ...next });
      change(next);
    },
    [search, change],
  );
  const onLayout = useCallback((layout: readonly string[]) => changeColumns({ layout }), [changeColumns]);
  const keepPlace = useCallback(
    (before: readonly CallRow[], after: readonly CallRow[]) =>
      setActive((at) => {
        const place = placeAfter(at, before, after);
        return place < 0 ? at : place;
      }),
    [setActive],
  );
  useWake(search.project, ['/calls/usage']);
  // The view that comes next needs it, and the rows come first.
  useWake(state.rows.length > 0 ? search.project : undefined, ['/call/read']);
  useEffect(() => {
    // The view that comes next: it opens at once, even if the network has gone.
    return whenQuiet(preloadMs, () => {
      router.loadRouteChunk(router.routesByPath['/trace']);
      Pane.preload?.();
    });
  }, [router, Pane]);
  const filtered = list.options.costTest !== undefined;
  // The cost of a running trace is not known, so a filter by cost has nothing to tell new ones by.
  const mayLive = sort === '-started_at' && !filtered;
  const isLive = live && mayLive;
  useLive(isLive, list, keepPlace);
  const isEmpty = state.complete && state.rows.length === 0;
  const activeRow = state.rows[active];
  const peekedRow = activeRow?.trace_id === search.peek ? activeRow : undefined;
  return (
    <View
      title={search.all ? 'All calls' : 'Traces'}
      fixed
      className="traces"
      about={
        <ListProgress
          state={state}
          list={list}
          live={isLive}
          filtered={filtered}
          onRepeated={search.text && !search.repeated ? () => change({ repeated: true }) : undefined}
        />
      }
      actions={
        <div className={showMore ? 'actions open' : 'actions'}>
          <div className="folded">
            <Check
              label="Live"
              isSwitch
              title={mayLive ? undefined : 'Only when sorted by newest, and without a filter on cost'}
              checked={live}
              disabled={!mayLive}
              onChange={(checked) => change({ live: checked || undefined })}
            />
            <SavedMenu view="traces" search={search} />
            <TellMe search={search} />
            <IconButton icon={Braces} name="Query" onClick={() => setShowQuery(true)} />
            <IconButton icon={Download} name="Export" onClick={() => setShowExport(true)} />
            <RefreshButton onClick={refresh} />
          </div>
        </div>
      }
      toolbar={
        <FilterBar
          search={search}
          searchBox={searchBox}
          onChange={change}
          more={
            <IconButton
              className="phone"
              icon={Ellipsis}
              name="More"
              aria-expanded={showMore}
              onClick={() => setShowMore(!showMore)}
            />
          }
          end={<ColumnMenu search={search} onChange={changeColumns} />}
        />
      }
    >
      {state.phase === 'failed' ? <Failure error={state.error} onRetry={list.more} /> : null}
      <Failure error={failure} onRetry={refresh} />
      <PeekPlace
        label="Trace beside the list"
        pane={
          search.peek === undefined ? undefined : (
            <Pane
              project={search.project}
              trace={search.peek}
              call={search.call}
              find={search.text}
              name={peekedRow && getCallName(peekedRow)}
              onCall={peek.select}
              onPrevious={active > 0 ? () => goTo(active - 1) : undefined}
              onNext={active < state.rows.length - 1 ? () => goTo(active + 1) : undefined}
              onClose={peek.close}
            />
          )
        }
      >
        {isEmpty ? (
          <div className="list-empty">
            <EmptyList search={search} onClear={() => change(unfiltered)} onShow={refresh} />
          </div>
        ) : (
          <TraceTable
            key={list.number}
            list={list}
            state={state}
            search={search}
            active={active}
            sort={sort}
            onSort={(path) => change({ sort: toggledSort(sort, path) })}
            onLayout={onLayout}
            scroller={scroller}
            picks={picks}
            onPeek={onPeek}
          />
        )}
        <Suspense>
          {hasPicked.current ? (
            <Selection
              project={search.project}
              rows={state.rows}
              picks={picks}
              onDeleted={onDeleted}
              onTagged={onTagged}
            />
          ) : null}
        </Suspense>
      </PeekPlace>
      <Suspense>
        {showQuery ? (
          <QueryDialog request={list.request} filtered={filtered} open onClose={() => setShowQuery(false)} />
        ) : null}
        {showExport ? <ExportDialog list={list} open onClose={() => setShowExport(false)} /> : null}
      </Suspense>
      <Shortcuts open={help} onClose={() => setHelp(false)} keys={keys} />
    </View>
  );
};
