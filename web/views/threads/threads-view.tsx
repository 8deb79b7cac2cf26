import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { MessagesSquare } from 'lucide-react';
import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { Request, Thread } from '../../api/contract.ts';
import { readRows } from '../../calls/data.ts';
import { AddDialog, AddToDataset } from '../../calls/datasets/add-dialog.tsx';
import { SourceMenu } from '../../calls/filters/source-menu.tsx';
import { TimeMenu } from '../../calls/filters/time-menu.tsx';
import { isPlainClick, PeekPlace, usePeekSteps } from '../../calls/list/peek.tsx';
import { toSources } from '../../calls/list/request.ts';
import type { TracePaneType } from '../../calls/trace/trace-state.ts';
import { costText, countedText, countText, durationText } from '../../data/format.ts';
import { toggled, typedText } from '../../data/values.ts';
import { useChange } from '../../navigation/change.ts';
import {
  ranges,
  type ThreadField,
  type ThreadGrouping,
  type ThreadsSearch,
  threadFields,
  threadGroupings,
} from '../../navigation/search.ts';
import { useKept } from '../../session/kept.ts';
import { useAllowed, useRead, useSession } from '../../session/session.tsx';
import {
  Button,
  Check,
  Empty as EmptyView,
  Failure,
  Moment,
  Notice,
  QueryStatus,
  RefreshButton,
  SearchForm,
  Skeleton,
  sortableBy,
  Table,
} from '../../ui/controls.tsx';
import { Choice } from '../../ui/fields.tsx';
import { Shortcuts, stepKeys, stepped, useKeys } from '../../ui/keys.tsx';
import { lazily } from '../../ui/lazy.ts';
import { HeadTools, View } from '../../ui/view.tsx';
import { type ThreadFacts, turnsRequest, useFacts, useThreadsWith } from './facts.ts';
import { groupThreads, type ThreadGroup } from './groups.ts';

/** The field and the direction of an order; the newest first for one that is not known. */
const parseOrder = (sort: string | undefined): { field: ThreadField; direction: 'asc' | 'desc' } => {
  const name = sort?.replace(/^-/, '');
  const field = threadFields.find((known) => known === name);
  if (!field) return { field: 'last_updated', direction: 'desc' };
  return { field, direction: sort?.startsWith('-') ? 'desc' : 'asc' };
};

/** How many threads are asked for at once. */
const pageSize = 100;

/** When threads began at the earliest, and were updated at the latest. */
const toBounds = ({ range, from, to }: ThreadsSearch, now: number) => ({
  after: range ? new Date(now - ranges[range] * 60_000).toISOString() : from,
  before: range ? undefined : to,
});

/**
 * The request of the list, without bounds to a page of it.
 *
 * @param now milliseconds since 1970, which the range ends at
 * @param found the threads that the search found; undefined without one
 */
const toRequest = (
  search: ThreadsSearch,
  now: number,
  found: readonly string[] | undefined,
): Request<'/threads/stream_query'> => {
  const { project, id, sort } = search;
  const { after, before } = toBounds(search, now);
  const ids = found ?? (id ? [id] : undefined);
  return {
    project_id: project,
    filter: {
      ...(after && { after_datetime: after }),
      ...(before && { before_datetime: before }),
      ...(ids && { thread_ids: [...ids] }),
      ...toSources(search.source),
    },
    sort_by: [parseOrder(sort)],
  };
};

/** The threads of a project, page by page. */
const useThreads = (search: ThreadsSearch) => {
  const { client, me } = useSession();
  const [now, setNow] = useState(() => Date.now());
  const { project, text } = search;
  const searched = useThreadsWith(project, text, toBounds(search, now));
  const request = toRequest(search, now, searched.data);
  const query = useInfiniteQuery({
    queryKey: ['threads', me.key_id, request],
    enabled: text === undefined || searched.data !== undefined,
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }): Promise<readonly Thread[]> => {
      const page = { ...request, limit: pageSize, offset: pageParam };
      return client.ask('/threads/stream_query', page, signal);
    },
    getNextPageParam: (last, pages) => (last.length < pageSize ? undefined : pages.length * pageSize),
  });
  const refresh = () => {
    if (search.range) setNow(Date.now());
    searched.refetch();
    query.refetch();
  };
  const all = useMemo(() => query.data?.pages.flat() ?? [], [query.data]);
  const facts = useFacts(project, all, search.by !== undefined);
  const isPart = ({ thread_id }: Thread) => facts.get(thread_id)?.within !== undefined;
  const listed = search.nested ? all : all.filter((thread) => !isPart(thread));
  // Groups stand once all are known: they would change places as facts come.
  const isGrouped = search.by !== undefined && facts.size >= all.length;
  const groups = search.by !== undefined && isGrouped ? groupThreads(listed, facts, search.by) : undefined;
  return {
    query,
    searched,
    threads: groups?.flatMap((group) => group.threads) ?? listed,
    groups,
    facts,
    hidden: all.length - listed.length,
    refresh,
  };
};

const durationCell = (ms: number | null) => (ms === null ? '' : durationText(ms));

const columns: readonly (readonly [ThreadField, string, (thread: Thread) => ReactNode])[] = [
  ['start_time', 'Began', ({ start_time }) => <Moment time={start_time} />],
  ['last_updated', 'Updated', ({ last_updated }) => <Moment time={last_updated} />],
  ['p50_turn_duration_ms', 'p50 of turns', ({ p50_turn_duration_ms: ms }) => durationCell(ms)],
  ['p99_turn_duration_ms', 'p99 of turns', ({ p99_turn_duration_ms: ms }) => durationCell(ms)],
];

interface ThreadTableProps {
  readonly project: string;
  readonly threads: readonly Thread[];
  /** How many threads are in the groups before. */
  readonly before: number;
  readonly facts: ReadonlyMap<string, ThreadFacts>;
  /** The row that the keyboard is at; -1 for none. */
  readonly active: number;
  readonly sort: string | undefined;
  readonly onSort: (sort: string) => void;
  /** The ids of those that are selected. */
  readonly picked: ReadonlySet<string>;
  readonly onPick: (thread: string) => void;
  /** Shows one beside the list. */
  readonly onPeek: (place: number) => void;
}

/** What a thread took in all, or at least. */
const atLeast = (threadFacts: ThreadFacts, text: string) => (threadFacts.whole ? text : `≥ ${text}`);

/** Threads with what was said first, what they took, and the statistics of their turns. */
const ThreadTable = (props: ThreadTableProps) => {
  const { project, threads, before, facts, active, sort, onSort, picked, onPick, onPeek } = props;
  const { field, direction } = parseOrder(sort);
  const sortable = sortableBy(`${direction === 'desc' ? '-' : ''}${field}`, onSort);
  const link = ({ thread_id: thread }: Thread, place: number) => {
    const { message = null, within } = facts.get(thread) ?? {};
    return (
      <>
        <Link
          to="/thread"
          search={{ project, thread }}
          className="thread-link"
          dir="auto"
          onClick={(event) => {
            // One by keyboard, which has no count, opens it.
            if (event.detail === 0 || !isPlainClick(event)) return;
            event.preventDefault();
            onPeek(before + place);
          }}
        >
          {message ?? thread}
        </Link>
        <span className="hint cut" dir="auto" title={thread}>
          {/* Its line is there before, so that rows keep their height. */}
          {[message === null ? undefined : thread, within && `within ${within}`]
            .filter(Boolean)
            .join(' · ') || '\u00a0'}
        </span>
      </>
    );
  };
  const cell = (read: (threadFacts: ThreadFacts) => ReactNode) => (thread: Thread) => {
    const threadFacts = facts.get(thread.thread_id);
    return threadFacts ? read(threadFacts) : null;
  };
  const errors = cell((threadFacts) =>
    threadFacts.errors > 0 ? (
      <span className="error-text">{atLeast(threadFacts, countText(threadFacts.errors))}</span>
    ) : null,
  );
  const cost = cell((threadFacts) =>
    threadFacts.usage?.cost === undefined ? null : atLeast(threadFacts, costText(threadFacts.usage.cost)),
  );
  const place = cell(({ repository, branch }) => (
    <>
      <span className="cut thread-user">{repository}</span>
      <span className="hint cut">{branch}</span>
    </>
  ));
  const user = cell(({ user: id, email }) =>
    id === undefined ? (
      email
    ) : (
      <Link
        to="/traces"
        search={{ project, where: [{ path: 'attributes.user.id', op: 'is', value: typedText(id) }] }}
        title={`What ${id} asked for`}
        className="thread-user cut"
      >
        {email ?? id}
      </Link>
    ),
  );
  const hasUsers = threads.some(({ thread_id }) => {
    const { user: id, email } = facts.get(thread_id) ?? {};
    return (id ?? email) !== undefined;
  });
  const hasPlaces = threads.some(({ thread_id }) => {
    const { repository, branch } = facts.get(thread_id) ?? {};
    return repository !== undefined || branch !== undefined;
  });
  const numeric = 'numeric' as const;
  return (
    <Table
      className={hasPlaces ? 'wide as-cards placed' : 'wide as-cards'}
      columns={[
        {
          title: 'Selected',
          className: 'select',
          cell: ({ thread_id }) => (
            <input
              type="checkbox"
              aria-label={`Select ${thread_id}`}
              checked={picked.has(thread_id)}
              onChange={() => onPick(thread_id)}
            />
          ),
        },
        { title: 'Thread', className: 'break', cell: link, ...sortable('thread_id') },
        ...(hasPlaces ? [{ title: 'Repository', cell: place }] : []),
        ...(hasUsers ? [{ title: 'User', cell: user }] : []),
        {
          title: 'Turns',
          className: numeric,
          cell: ({ turn_count }) => countText(turn_count),
          ...sortable('turn_count'),
        },
        { title: 'Errors', className: numeric, cell: errors },
        { title: 'Cost', className: numeric, cell: cost },
        ...columns.map(([column, title, read]) => ({
          title,
          className: numeric,
          cell: read,
          ...sortable(column),
        })),
      ]}
      rows={threads}
      getKey={({ thread_id }) => thread_id}
      active={active - before}
    />
  );
};

const groupingTexts: Readonly<Record<ThreadGrouping, string>> = {
  repository: 'Repository',
  branch: 'Branch',
  user: 'User',
};

/** What the threads of a group have in common, and what they took together. */
const GroupHead = ({ group, by }: { group: ThreadGroup; by: ThreadGrouping }) => {
  const { name, threads, usage, errors, whole } = group;
  const least = whole ? '' : '≥ ';
  return (
    <div className="thread-group-head">
      <h2 dir="auto">{name ?? <span className="muted">No {groupingTexts[by].toLowerCase()}</span>}</h2>
      <span className="facts">
        <span>{countedText(threads.length, 'thread')}</span>
        {usage?.cost === undefined ? null : (
          <span>
            {least}
            {costText(usage.cost)}
          </span>
        )}
        {errors > 0 ? (
          <span className="error-text">
            {least}
            {countedText(errors, 'error')}
          </span>
        ) : null}
      </span>
    </div>
  );
};

const route = getRouteApi('/threads');

const ThreadPane = lazily(() => import('./thread-view.tsx'), 'ThreadPane');

const keys = [
  ['j ↓', 'next thread'],
  ['k ↑', 'previous thread'],
  ['Enter', 'open the thread'],
  ['p', 'show the thread beside the list'],
  ['Escape', 'back from a trace to its thread, and close what is beside the list'],
  ['x', 'select the thread'],
  ['/', 'search'],
  ['r', 'refresh the list'],
  ['?', 'these keys'],
] as const;

/** The list without what is beside it: what is remembered of it does not depend on that. */
const listOf = ({ peek: _, trace: _trace, call: _call, ...list }: ThreadsSearch): ThreadsSearch => list;

/** Keeps how far its reader had scrolled, and the list's state in the URL. */
const useKeptPlace = (
  search: ThreadsSearch,
  scroller: RefObject<HTMLDivElement | null>,
  isThere: boolean,
): void => {
  const [, keepSearch] = useKept<ThreadsSearch>('kept threads', search.project, search);
  useEffect(() => keepSearch(search), [keepSearch, search]);
  const [scrollTop, keepScrollTop] = useKept('kept scroll of threads', JSON.stringify(listOf(search)), 0);
  const before = useRef(scrollTop);
  before.current = scrollTop;
  useLayoutEffect(() => {
    const { current: element } = scroller;
    if (!element || !isThere) return;
    element.scrollTop = before.current;
    return () => keepScrollTop(element.scrollTop);
  }, [isThere, keepScrollTop, scroller]);
};

/** What is beside the list: a thread, or a trace that was opened from it. */
const usePeek = (search: ThreadsSearch, scroller: RefObject<HTMLDivElement | null>) => {
  const { peek, trace } = search;
  const steps = usePeekSteps<ThreadsSearch>('/threads', peek !== undefined, ThreadPane, () => {
    const { current: element } = scroller;
    const link = element?.querySelector<HTMLElement>('tr.active .thread-link');
    (link ?? element)?.focus({ preventScroll: true });
  });
  const noTrace = { trace: undefined, call: undefined };
  return {
    isOpen: peek !== undefined,
    show: (thread: string) => steps.show({ peek: thread, ...noTrace }),
    close: () => steps.close({ peek: undefined, ...noTrace }),
    showTrace: (opened: string, call: string) => steps.change({ trace: opened, call }),
    select: (call: string) => steps.change({ call }),
    /** Goes back to the thread, if a trace is in its place. */
    back: trace === undefined ? undefined : () => steps.change(noTrace),
  };
};

interface ListKeysOptions {
  readonly threads: readonly Thread[];
  readonly search: ThreadsSearch;
  readonly peek: ReturnType<typeof usePeek>;
  readonly focusFind: () => void;
  readonly refresh: () => void;
  readonly pick: (thread: string) => void;
}

/** The keyboard of the list: which thread it is at, and what its keys do. */
const useListKeys = ({ threads, search, peek, focusFind, refresh, pick }: ListKeysOptions) => {
  const navigate = route.useNavigate();
  const { project } = search;
  const [kept, keepActive] = useKept('kept thread', JSON.stringify(listOf(search)), '');
  const [moved, setMoved] = useState(kept);
  // A link and a step back say which one is open.
  const activeId = search.peek ?? moved;
  const active = threads.findIndex(({ thread_id }) => thread_id === activeId);
  const [help, setHelp] = useState(false);
  const goTo = (place: number, shows = peek.isOpen) => {
    const next = threads[place];
    if (!next) return;
    setMoved(next.thread_id);
    keepActive(next.thread_id);
    if (shows) peek.show(next.thread_id);
  };
  const open = () => {
    const thread = threads[active];
    if (thread) navigate({ to: '/thread', search: { project, thread: thread.thread_id } });
  };
  const close = () => {
    setMoved(activeId);
    keepActive(activeId);
    peek.close();
  };
  useKeys({
    ...stepKeys((by) => goTo(stepped(active, by, threads.length))),
    Enter: open,
    p: () => (peek.isOpen ? close() : goTo(active, true)),
    ...(peek.isOpen && { Escape: peek.back ?? close }),
    x: () => active >= 0 && pick(activeId),
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
  return { active, goTo, close, help, setHelp };
};

const Empty = ({ search, onClear }: { search: ThreadsSearch; onClear: () => void }) => {
  const { range, from, to, id, text, source } = search;
  const isFiltered = [range, from, to, id, text, source].some((part) => part !== undefined);
  return isFiltered ? (
    <Notice kind="info" action={<Button onClick={onClear}>Show all threads</Button>}>
      No thread matches.
    </Notice>
  ) : (
    <EmptyView icon={MessagesSquare} title={`${search.project} has no threads yet`}>
      A thread is a conversation, turn by turn, with what each took. A call that is reported with a{' '}
      <code>thread_id</code>, and its own id as its <code>turn_id</code>, is a turn of one.
    </EmptyView>
  );
};

/** The turns of some threads as rows of a dataset, thread by thread. */
const TurnsToDataset = ({ project, threads }: { project: string; threads: readonly string[] }) => {
  const query = useRead(['turns for rows', project, threads], async (reading) => {
    const turns = await readRows(reading, turnsRequest(project, threads));
    return turns.map(({ id }) => id);
  });
  const { data } = query;
  return (
    <>
      <QueryStatus queries={[query]} loading="Loading the turns…" />
      {data && data.length === 0 ? <p className="muted">These threads have no turns.</p> : null}
      {data && data.length > 0 ? <AddToDataset project={project} calls={data} /> : null}
    </>
  );
};

/** Adds the turns of the selected threads to a dataset. */
const AddTurns = ({ project, threads }: { project: string; threads: readonly string[] }) => {
  const mayWrite = useAllowed(project, 'write');
  const [adding, setAdding] = useState(false);
  if (threads.length === 0 || !mayWrite) return null;
  return (
    <>
      <Button onClick={() => setAdding(true)}>
        Add the turns of {countedText(threads.length, 'thread')} to dataset
      </Button>
      <AddDialog open={adding} onClose={() => setAdding(false)}>
        <TurnsToDataset project={project} threads={threads} />
      </AddDialog>
    </>
  );
};

interface ThreadsViewProps {
  /** What shows a trace beside the list. */
  readonly Pane: TracePaneType;
}

/** The conversations of a project, the one that was updated last first. */
export const ThreadsView = ({ Pane }: ThreadsViewProps) => {
  const search = route.useSearch();
  const change = useChange<ThreadsSearch>(route.useNavigate());
  const { query, searched, threads, groups, facts, hidden, refresh } = useThreads(search);
  const find = useRef<HTMLInputElement>(null);
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const pick = (thread: string) => setPicked((before) => toggled(before, thread));
  const scroller = useRef<HTMLDivElement>(null);
  const peek = usePeek(search, scroller);
  const { active, goTo, close, help, setHelp } = useListKeys({
    threads,
    search,
    peek,
    focusFind: () => find.current?.focus(),
    refresh,
    pick,
  });
  useKeptPlace(search, scroller, threads.length > 0);
  const { project, peek: peeked, trace } = search;
  const ways = {
    onPrevious: active > 0 ? () => goTo(active - 1) : undefined,
    onNext: active >= 0 && active < threads.length - 1 ? () => goTo(active + 1) : undefined,
    onClose: close,
  };
  const name = facts.get(peeked ?? '')?.message ?? undefined;
  const pane =
    peeked === undefined ? undefined : trace === undefined ? (
      <ThreadPane project={project} thread={peeked} name={name} onTrace={peek.showTrace} {...ways} />
    ) : (
      <Pane
        project={project}
        trace={trace}
        call={search.call}
        find={undefined}
        name={name}
        onCall={peek.select}
        onBack={peek.back}
        {...ways}
      />
    );
  const table = {
    project,
    facts,
    active,
    sort: search.sort,
    onSort: (sort: string) => change({ sort }),
    picked,
    onPick: pick,
    onPeek: (place: number) => goTo(place, true),
  };
  return (
    <View
      title="Threads"
      fixed
      className="threads"
      about={
        <span role="status">
          {searched.isLoading
            ? 'searching…'
            : query.isPending
              ? ''
              : query.hasNextPage
                ? `${countText(threads.length)}+ threads`
                : countedText(threads.length, 'thread')}
        </span>
      }
      actions={
        <>
          <AddTurns project={search.project} threads={[...picked]} />
          <RefreshButton onClick={refresh} />
        </>
      }
      toolbar={
        <>
          <SearchForm
            label="Search messages or ids"
            text={search.text ?? search.id}
            box={find}
            onSearch={(text) => change({ text, id: undefined })}
          />
          <SourceMenu source={search.source} onChange={(source) => change({ source })} />
          <Choice
            className="compared"
            label="Group by"
            value={search.by ?? 'nothing'}
            options={[
              ['nothing', 'Nothing'],
              ...threadGroupings.map((by) => [by, groupingTexts[by]] as const),
            ]}
            onChange={(by) => change({ by: by === 'nothing' ? undefined : by })}
          />
          {hidden > 0 || search.nested ? (
            <Check
              label={hidden > 0 ? `Nested (${countText(hidden)})` : 'Nested'}
              title="Threads whose turns are calls within another thread's traces"
              checked={search.nested === true}
              onChange={(checked) => change({ nested: checked || undefined })}
            />
          ) : null}
        </>
      }
    >
      <HeadTools>
        <TimeMenu span={search} onChange={({ range, from, to }) => change({ range, from, to })} />
      </HeadTools>
      <Failure error={query.error ?? searched.error} onRetry={refresh} />
      <PeekPlace pane={pane} label="Thread beside the list">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
        <section className="threads-scroll" aria-label="List of threads" tabIndex={0} ref={scroller}>
          {query.isPending || searched.isLoading ? <Skeleton label="Loading threads…" rows={12} /> : null}
          {query.data && threads.length === 0 ? (
            <Empty
              search={search}
              onClear={() =>
                change({
                  range: undefined,
                  from: undefined,
                  to: undefined,
                  id: undefined,
                  text: undefined,
                  source: undefined,
                })
              }
            />
          ) : null}
          {threads.length > 0 && search.by !== undefined && !groups ? (
            <Skeleton label="Reading what they are about…" rows={12} />
          ) : null}
          {threads.length > 0 && search.by === undefined ? (
            <ThreadTable {...table} threads={threads} before={0} />
          ) : null}
          {groups?.map((group, at) => (
            <section key={group.name ?? ''} className="thread-group" aria-label={group.name ?? 'Others'}>
              <GroupHead group={group} by={search.by ?? 'repository'} />
              <ThreadTable
                {...table}
                threads={group.threads}
                before={groups.slice(0, at).reduce((sum, { threads: own }) => sum + own.length, 0)}
              />
            </section>
          ))}
          {query.hasNextPage ? (
            <Button disabled={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
              {query.isFetchingNextPage ? 'Reading…' : 'More threads'}
            </Button>
          ) : null}
        </section>
      </PeekPlace>
      <Shortcuts open={help} onClose={() => setHelp(false)} keys={keys} />
    </View>
  );
};
