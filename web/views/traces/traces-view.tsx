import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { CallRow } from '../../api/calls.ts';
import { wordsOf } from '../../api/errors.ts';
import { changed } from '../../data/changed.ts';
import { useSession } from '../../session/session.tsx';
import { useKept } from '../../session/use-kept.ts';
import { useWake } from '../../session/use-wake.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Shortcuts } from '../../ui/shortcuts.tsx';
import { ColumnMenu } from './column-menu.tsx';
import { columnsOf } from './columns.tsx';
import { EmptyList } from './empty-list.tsx';
import { ExportMenu } from './export-menu.tsx';
import { type Change, FilterBar } from './filter-bar.tsx';
import { ListProgress } from './list-progress.tsx';
import { QueryDialog } from './query-dialog.tsx';
import type { TracesSearch } from './search.ts';
import { TraceTable } from './trace-table.tsx';
import { placeAfter } from './use-anchor.ts';
import { useCallList } from './use-call-list.ts';
import { useListKeys } from './use-list-keys.ts';
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

/** The list's state in the URL, and what changes it. */
const useListSearch = () => {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = useCallback(
    (changes: Change) =>
      navigate({
        search: (before) => changed<TracesSearch>(before, changes),
      }),
    [navigate],
  );
  return { search, change };
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
  const [, keepSearch] = useKept<TracesSearch>('kept list', search.project, search);
  useEffect(() => keepSearch(search), [keepSearch, search]);
  const { active, setActive, help, setHelp } = useListKeys(
    list,
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
    (before: readonly CallRow[], after: readonly CallRow[]) =>
      setActive((at) => {
        const place = placeAfter(at, before, after);
        return place < 0 ? at : place;
      }),
    [setActive],
  );
  useWake(search.project, ['POST /calls/usage', 'POST /call/read']);
  useEffect(() => {
    // The view that comes next: it opens at once, even if the network has gone.
    const timer = setTimeout(() => import('../trace/trace-view.tsx').catch(() => {}), 1000);
    return () => clearTimeout(timer);
  }, []);
  const filtered = list.options.costTest !== undefined;
  // The cost of a running trace is not known, so a filter by cost has nothing to tell new ones by.
  const mayLive = sort === '-started_at' && !filtered;
  const isLive = live && mayLive;
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
          <ListProgress
            state={state}
            list={list}
            live={isLive}
            filtered={filtered}
            onStop={list.stop}
            onMore={list.more}
          />
          <span className="spring" />
          {picks.picked.length > 0 ? (
            <Button kind="primary" disabled={picks.picked.length < 2} onClick={picks.compare}>
              {picks.picked.length < 2 ? 'Select another to compare' : 'Compare the two'}
            </Button>
          ) : null}
          <label
            className="check"
            title={mayLive ? undefined : 'Only with the newest first, and without a filter by cost'}
          >
            <input
              type="checkbox"
              checked={live}
              disabled={!mayLive}
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
          <ExportMenu list={list} onError={setExportError} />
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
        <EmptyList search={search} onClear={clear} />
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
          figures={state.figures}
          filtered={filtered}
          scroller={scroller}
          picked={picks.picked}
          onPick={picks.pick}
          onSort={(path) => change({ sort: toggledSort(sort, path) })}
          onEnd={state.phase === 'idle' ? list.more : nothing}
        />
      )}
      <QueryDialog
        request={list.request}
        filtered={filtered}
        open={showQuery}
        onClose={() => setShowQuery(false)}
      />
      <Shortcuts open={help} onClose={() => setHelp(false)} keys={keys} />
    </main>
  );
};

const nothing = (): void => {};
