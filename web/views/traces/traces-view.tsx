import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { wordsOf } from '../../api/errors.ts';
import type { CallsQueryReq } from '../../api/types.ts';
import { countText } from '../../data/format.ts';
import { useSession } from '../../session/session.tsx';
import { useWake } from '../../session/use-wake.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Shortcuts } from '../../ui/shortcuts.tsx';
import { useKeys } from '../../ui/use-keys.ts';
import type { ListState } from './call-list.ts';
import { ColumnMenu } from './column-menu.tsx';
import { columnsOf } from './columns.tsx';
import { CountButton } from './count-button.tsx';
import { ExportMenu } from './export-menu.tsx';
import { type Change, FilterBar } from './filter-bar.tsx';
import { QueryDialog } from './query-dialog.tsx';
import type { TracesSearch } from './search.ts';
import { TraceTable } from './trace-table.tsx';
import { useCallList } from './use-call-list.ts';
import { useLive } from './use-live.ts';
import { usePicked } from './use-picked.ts';

const route = getRouteApi('/traces');

const keys = [
  ['j ↓', 'next row'],
  ['k ↑', 'previous row'],
  ['Enter', 'open the row'],
  ['x', 'select the row'],
  ['c', 'compare the two that are selected'],
  ['/', 'search'],
  ['r', 'read the list anew'],
  ['?', 'these keys'],
] as const;

const isFiltered = ({ range, from, to, status, text, where, feedback }: TracesSearch): boolean =>
  [range, from, to, status, text, where, feedback].some((part) => part !== undefined);

/** How many rows there are, and what is going on. */
interface ProgressProps {
  readonly state: ListState;
  readonly request: CallsQueryReq;
  readonly live: boolean;
  readonly onStop: () => void;
}

const Progress = ({ state, request, live, onStop }: ProgressProps) => (
  <div className="progress" role="status">
    <span>
      {countText(state.rows.length)}
      {state.complete ? '' : '+'} {state.rows.length === 1 ? 'row' : 'rows'}
    </span>
    {/* Costs and feedback are joined to rows, and not counted by. */}
    {state.complete || state.rows.length === 0 || request.include_feedback ? null : (
      <CountButton key={JSON.stringify(request)} request={request} />
    )}
    {state.phase === 'reading' ? (
      <>
        <span className="muted">reading…</span>
        <Button kind="quiet" onClick={onStop}>
          Stop
        </Button>
      </>
    ) : null}
    {state.phase === 'stopped' ? <span className="muted">stopped</span> : null}
    {live ? <span className="live">live</span> : null}
  </div>
);

const Empty = ({ search, onClear }: { search: TracesSearch; onClear: () => void }) =>
  isFiltered(search) ? (
    <Notice kind="info" action={<Button onClick={onClear}>Remove all filters</Button>}>
      Nothing matches these filters.
    </Notice>
  ) : (
    <Notice kind="info">
      {search.project} has no calls yet. Report one to <code>POST /call/start</code>, and it appears here.
    </Notice>
  );

/** The list's state in the URL, and what changes it. */
const useListSearch = () => {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = useCallback(
    (changes: Change) =>
      navigate({
        search: (before) =>
          Object.fromEntries(
            Object.entries({ ...before, ...changes }).filter(([, value]) => value !== undefined),
          ) as unknown as TracesSearch,
      }),
    [navigate],
  );
  return { search, change };
};

/** The keyboard of the list: which row it is at, and what its keys do. */
const useListKeys = (
  rows: ListState['rows'],
  project: string,
  focusSearch: () => void,
  refresh: () => void,
  { pick, compare }: ReturnType<typeof usePicked>,
) => {
  const navigate = route.useNavigate();
  const [active, setActive] = useState(-1);
  const [help, setHelp] = useState(false);
  const actions = useMemo(() => {
    const move = (by: number) =>
      setActive((at) => Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + by)));
    const open = () => {
      const row = rows[active];
      if (!row) return;
      const call = row.parent_id ? { call: row.id } : {};
      navigate({ to: '/trace', search: { project, trace: row.trace_id, ...call } });
    };
    return {
      j: () => move(1),
      ArrowDown: () => move(1),
      k: () => move(-1),
      ArrowUp: () => move(-1),
      Enter: open,
      x: () => {
        const row = rows[active];
        if (row) pick(row.id);
      },
      c: compare,
      '/': focusSearch,
      r: refresh,
      '?': () => setHelp(true),
    };
  }, [rows, active, navigate, project, focusSearch, refresh, pick, compare]);
  useKeys(actions);
  return { active, setActive, help, setHelp };
};

const toggledSort = (sort: string, path: string): string => (sort === `-${path}` ? path : `-${path}`);

/** The traces of a project, or all of its calls: newest first, unless sorted otherwise. */
export const TracesView = () => {
  const { search, change } = useListSearch();
  const { list, state, refresh, failure } = useCallList(search);
  const scroller = useRef<HTMLDivElement>(null);
  const searchBox = useRef<HTMLInputElement>(null);
  const [showQuery, setShowQuery] = useState(false);
  const [exportError, setExportError] = useState<string>();
  const focusSearch = useCallback(() => searchBox.current?.focus(), []);
  const picks = usePicked(search.project);
  const { active, setActive, help, setHelp } = useListKeys(
    state.rows,
    search.project,
    focusSearch,
    refresh,
    picks,
  );
  const { all = false, columns: paths = [], sort = '-started_at', live = false } = search;
  const service = useSession().me.service.name;
  const columns = useMemo(() => columnsOf(search, service), [search, service]);
  const keepPlace = useCallback(
    (added: number) => setActive((at) => (at < 0 ? at : at + added)),
    [setActive],
  );
  useWake(search.project, ['POST /calls/usage', 'POST /call/read']);
  useEffect(() => {
    // The view that comes next: it opens at once, even if the network has gone.
    const timer = setTimeout(() => import('../trace/trace-view.tsx').catch(() => {}), 1000);
    return () => clearTimeout(timer);
  }, []);
  const isLive = live && sort === '-started_at';
  useLive(isLive, list, keepPlace);
  const clear = () =>
    change({
      range: undefined,
      from: undefined,
      to: undefined,
      status: undefined,
      text: undefined,
      where: undefined,
      feedback: undefined,
    });
  const isEmpty = state.complete && state.rows.length === 0;
  return (
    <main className="traces">
      <h1 className="hidden">Traces of {search.project}</h1>
      <div className="toolbar">
        <FilterBar search={search} searchBox={searchBox} onChange={change} />
        <div className="actions">
          <Progress state={state} request={list.request} live={isLive} onStop={list.stop} />
          <span className="spring" />
          {picks.picked.length > 0 ? (
            <Button kind="primary" disabled={picks.picked.length < 2} onClick={picks.compare}>
              {picks.picked.length < 2 ? 'Select another to compare' : 'Compare the two'}
            </Button>
          ) : null}
          <label className="check">
            <input
              type="checkbox"
              checked={live}
              disabled={sort !== '-started_at'}
              onChange={(event) => change({ live: event.target.checked || undefined })}
            />
            <span>Live</span>
          </label>
          <Button onClick={refresh}>Refresh</Button>
          <Button onClick={() => setShowQuery(true)}>Query</Button>
          <ColumnMenu
            columns={paths}
            onChange={(next) => change({ columns: next.length > 0 ? next : undefined })}
          />
          <ExportMenu request={list.request} onError={setExportError} />
        </div>
      </div>
      {state.phase === 'failed' ? (
        <Notice kind="error" action={<Button onClick={list.more}>Try again</Button>}>
          {wordsOf(state.error)}
        </Notice>
      ) : null}
      {failure ? (
        <Notice kind="error" action={<Button onClick={refresh}>Try again</Button>}>
          {wordsOf(failure)}
        </Notice>
      ) : null}
      {exportError ? <Notice kind="error">{exportError}</Notice> : null}
      {isEmpty ? (
        <Empty search={search} onClear={clear} />
      ) : (
        <TraceTable
          key={list.number}
          list={list}
          project={search.project}
          columns={columns}
          rows={state.rows}
          active={active}
          sort={sort}
          complete={state.complete}
          settled={state.phase !== 'reading'}
          all={all}
          scroller={scroller}
          picked={picks.picked}
          onPick={picks.pick}
          onSort={(path) => change({ sort: toggledSort(sort, path) })}
          onEnd={state.phase === 'idle' ? list.more : nothing}
        />
      )}
      <QueryDialog request={list.request} open={showQuery} onClose={() => setShowQuery(false)} />
      <Shortcuts open={help} onClose={() => setHelp(false)} keys={keys} />
    </main>
  );
};

const nothing = (): void => {};
