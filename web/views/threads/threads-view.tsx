import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { wordsOf } from '../../api/errors.ts';
import type { Thread } from '../../api/types.ts';
import { changed } from '../../data/changed.ts';
import { countText } from '../../data/format.ts';
import { useKept } from '../../session/use-kept.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Shortcuts } from '../../ui/shortcuts.tsx';
import { useKeys } from '../../ui/use-keys.ts';
import { TimeMenu } from '../traces/time-menu.tsx';
import type { ThreadsSearch } from './search.ts';
import { ThreadTable } from './thread-table.tsx';
import { useThreads } from './use-threads.ts';

const route = getRouteApi('/threads');

const keys = [
  ['j ↓', 'next thread'],
  ['k ↑', 'previous thread'],
  ['Enter', 'open the thread'],
  ['/', 'find a thread by its id'],
  ['r', 'read the list anew'],
  ['?', 'these keys'],
] as const;

type Change = { readonly [Field in keyof ThreadsSearch]?: ThreadsSearch[Field] | undefined };

const useChange = () => {
  const navigate = route.useNavigate();
  return (changes: Change) =>
    navigate({
      search: (before) => changed<ThreadsSearch>(before, changes),
    });
};

/** Keeps how far its reader had scrolled, and the list's state in the URL. */
const useKeptPlace = (search: ThreadsSearch, isThere: boolean): void => {
  const [, keepSearch] = useKept<ThreadsSearch>('kept threads', search.project, search);
  useEffect(() => keepSearch(search), [keepSearch, search]);
  const [scrollTop, keepScrollTop] = useKept('kept scroll of threads', JSON.stringify(search), 0);
  const before = useRef(scrollTop);
  before.current = scrollTop;
  useLayoutEffect(() => {
    const element = document.getElementById('view');
    if (!element || !isThere) return;
    element.scrollTop = before.current;
    return () => keepScrollTop(element.scrollTop);
  }, [isThere, keepScrollTop]);
};

/** The keyboard of the list: which thread it is at, and what its keys do. */
const useListKeys = (
  threads: readonly Thread[],
  search: ThreadsSearch,
  focusFind: () => void,
  refresh: () => void,
) => {
  const navigate = route.useNavigate();
  const { project } = search;
  const [kept, keepActive] = useKept('kept thread', JSON.stringify(search), '');
  const [activeId, setActiveId] = useState(kept);
  const active = threads.findIndex(({ thread_id }) => thread_id === activeId);
  const [help, setHelp] = useState(false);
  const move = (by: number) => {
    const next = threads[Math.max(0, Math.min(threads.length - 1, active < 0 ? 0 : active + by))];
    if (!next) return;
    setActiveId(next.thread_id);
    keepActive(next.thread_id);
  };
  const open = () => {
    const thread = threads[active];
    if (thread) navigate({ to: '/thread', search: { project, thread: thread.thread_id } });
  };
  useKeys({
    j: () => move(1),
    ArrowDown: () => move(1),
    k: () => move(-1),
    ArrowUp: () => move(-1),
    Enter: open,
    '/': focusFind,
    r: refresh,
    '?': () => setHelp(true),
  });
  const followed = useRef(activeId);
  useEffect(() => {
    if (activeId !== followed.current)
      document.querySelector('.threads tr.active')?.scrollIntoView({ block: 'nearest' });
    followed.current = activeId;
  }, [activeId]);
  return { active, help, setHelp };
};

const Empty = ({ search, onClear }: { search: ThreadsSearch; onClear: () => void }) => {
  const isFiltered = [search.range, search.from, search.to, search.id].some((part) => part !== undefined);
  return isFiltered ? (
    <Notice kind="info" action={<Button onClick={onClear}>Show all threads</Button>}>
      No thread matches.
    </Notice>
  ) : (
    <Notice kind="info">
      {search.project} has no threads yet. A call that is reported with a <code>thread_id</code>, and its own
      id as its <code>turn_id</code>, is a turn of one.
    </Notice>
  );
};

/** The conversations of a project, the one that was updated last first. */
export const ThreadsView = () => {
  const search = route.useSearch();
  const change = useChange();
  const { query, threads, refresh } = useThreads(search);
  const find = useRef<HTMLInputElement>(null);
  const [id, setId] = useState(search.id ?? '');
  useEffect(() => setId(search.id ?? ''), [search.id]);
  const focusFind = useMemo(() => () => find.current?.focus(), []);
  const { active, help, setHelp } = useListKeys(threads, search, focusFind, refresh);
  useKeptPlace(search, threads.length > 0);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change({ id: id.trim() || undefined });
  };
  return (
    <main className="overview threads">
      <div className="actions">
        <h1>Threads</h1>
        <TimeMenu span={search} onChange={({ range, from, to }) => change({ range, from, to })} />
        <form className="search" role="search" onSubmit={submit}>
          <input
            ref={find}
            type="search"
            aria-label="Find a thread by its id"
            placeholder="Find a thread by its id"
            value={id}
            onChange={(event) => setId(event.target.value)}
          />
        </form>
        <span className="muted" role="status">
          {query.isPending
            ? 'reading…'
            : `${countText(threads.length)}${query.hasNextPage ? '+' : ''} ${threads.length === 1 ? 'thread' : 'threads'}`}
        </span>
        <span className="spring" />
        <Button onClick={refresh}>Refresh</Button>
      </div>
      {query.error ? (
        <Notice kind="error" action={<Button onClick={() => query.refetch()}>Try again</Button>}>
          {wordsOf(query.error)}
        </Notice>
      ) : null}
      {query.data && threads.length === 0 ? (
        <Empty
          search={search}
          onClear={() => change({ range: undefined, from: undefined, to: undefined, id: undefined })}
        />
      ) : null}
      {threads.length > 0 ? (
        <ThreadTable
          project={search.project}
          threads={threads}
          active={active}
          sort={search.sort}
          onSort={(sort) => change({ sort })}
        />
      ) : null}
      {query.hasNextPage ? (
        <Button disabled={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
          {query.isFetchingNextPage ? 'Reading…' : 'More threads'}
        </Button>
      ) : null}
      <Shortcuts open={help} onClose={() => setHelp(false)} keys={keys} />
    </main>
  );
};
