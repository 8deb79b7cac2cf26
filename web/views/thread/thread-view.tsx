import { getRouteApi, Link } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import { type CallRow, statusOf, sumUsage, timeOf, type Usage } from '../../api/calls.ts';
import { wordsOf } from '../../api/errors.ts';
import { costText, countText, durationText, momentText, tokensText } from '../../data/format.ts';
import { useKept } from '../../session/use-kept.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Shortcuts } from '../../ui/shortcuts.tsx';
import { useKeys } from '../../ui/use-keys.ts';
import type { ThreadsSearch } from '../threads/search.ts';
import { Turns } from './turns.tsx';
import { useTurns } from './use-thread.ts';

const route = getRouteApi('/thread');

/** How many turns are read together, and how many such pages are shown at first: the newest. */
const pageSize = 10;
const firstPages = 2;

const keys = [
  ['j ↓', 'next turn'],
  ['k ↑', 'previous turn'],
  ['Escape', 'back to the threads'],
  ['?', 'these keys'],
] as const;

const none: readonly CallRow[] = [];

/** The turns in pages that stay as they are when more turns come. */
const pagesOf = (turns: readonly CallRow[]): CallRow[][] => {
  const pages: CallRow[][] = [];
  for (let at = 0; at < turns.length; at += pageSize) pages.push(turns.slice(at, at + pageSize));
  return pages;
};

/** Goes from turn to turn by the keyboard. */
const moveFocus = (by: number): void => {
  const turns = [...document.querySelectorAll<HTMLElement>('.turn')];
  const at = turns.findIndex((turn) => turn.contains(document.activeElement));
  const next = turns[Math.max(0, Math.min(turns.length - 1, at < 0 ? 0 : at + by))];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: 'nearest' });
};

interface HeadProps {
  readonly thread: string;
  readonly turns: readonly CallRow[];
  readonly usage: Usage | undefined;
  /** Whether the usage is that of all turns. */
  readonly whole: boolean;
}

const Head = ({ thread, turns, usage, whole }: HeadProps) => {
  const errors = turns.filter((call) => statusOf(call) === 'error').length;
  const [first, last] = [turns[0], turns.at(-1)];
  const end = Math.max(...turns.map(({ ended_at, started_at }) => timeOf(ended_at ?? started_at)));
  return (
    <header className="thread-head">
      <div className="row-between">
        <h1 dir="auto" title={thread}>
          {thread}
        </h1>
        <CopyButton text={() => thread}>Copy id</CopyButton>
      </div>
      {first && last ? (
        <p className="facts">
          <span>
            {countText(turns.length)} {turns.length === 1 ? 'turn' : 'turns'}
          </span>
          <time dateTime={first.started_at}>{momentText(first.started_at)}</time>
          {end > timeOf(first.started_at) ? (
            <span>over {durationText(end - timeOf(first.started_at))}</span>
          ) : null}
          {usage && usage.total > 0 ? (
            <span>
              {tokensText(usage.total)} tokens{whole ? '' : ' in the turns below'}
            </span>
          ) : null}
          {usage?.cost === undefined ? null : <span>{costText(usage.cost)}</span>}
          {errors > 0 ? (
            <span className="error-text">
              {countText(errors)} {errors === 1 ? 'turn' : 'turns'} failed
            </span>
          ) : null}
        </p>
      ) : null}
    </header>
  );
};

/** A conversation, turn by turn. */
export const ThreadView = () => {
  const { project, thread, plain = false } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useTurns(project, thread);
  const turns = query.data ?? none;
  const pages = useMemo(() => pagesOf(turns), [turns]);
  const [shownPages, setShownPages] = useState(firstPages);
  const [usages, setUsages] = useState<ReadonlyMap<string, Usage | undefined>>(new Map());
  const [help, setHelp] = useState(false);
  const noteUsage = useCallback(
    (first: string, usage: Usage | undefined) => setUsages((before) => new Map(before).set(first, usage)),
    [],
  );
  const [list] = useKept<ThreadsSearch>('kept threads', project, { project });
  useKeys({
    j: () => moveFocus(1),
    ArrowDown: () => moveFocus(1),
    k: () => moveFocus(-1),
    ArrowUp: () => moveFocus(-1),
    Escape: () => navigate({ to: '/threads', search: list }),
    '?': () => setHelp(true),
  });
  const hidden = Math.max(0, pages.length - shownPages);
  return (
    <main className="overview chat">
      <Head
        thread={thread}
        turns={turns}
        usage={sumUsage([...usages.values()].flatMap((usage) => usage ?? []))}
        whole={hidden === 0}
      />
      <div className="row-between">
        <Link
          to="/traces"
          search={{ project, all: true, where: [{ path: 'thread_id', op: 'is', value: thread }] }}
        >
          All calls of this thread
        </Link>
        <label className="check">
          <input
            type="checkbox"
            checked={!plain}
            onChange={(event) =>
              navigate({
                search: { project, thread, ...(!event.target.checked && { plain: true }) },
                replace: true,
              })
            }
          />
          <span>Markdown</span>
        </label>
      </div>
      {query.error ? (
        <Notice kind="error" action={<Button onClick={() => query.refetch()}>Try again</Button>}>
          {wordsOf(query.error)}
        </Notice>
      ) : null}
      {query.isPending ? <p className="muted">Loading the conversation…</p> : null}
      {query.data && turns.length === 0 ? (
        <Notice
          kind="info"
          action={
            <Link to="/threads" search={{ project }}>
              All threads
            </Link>
          }
        >
          This thread has no turns: they were deleted, or none was reported.
        </Notice>
      ) : null}
      {hidden > 0 ? (
        <Button className="fold" onClick={() => setShownPages((shown) => shown + firstPages)}>
          {countText(hidden * pageSize)} earlier turns
        </Button>
      ) : null}
      {pages.slice(hidden).map((page, at) => (
        <Turns
          key={page[0]?.id}
          project={project}
          turns={page}
          before={(hidden + at) * pageSize}
          plain={plain}
          onUsage={noteUsage}
        />
      ))}
      <Shortcuts open={help} onClose={() => setHelp(false)} keys={keys} />
    </main>
  );
};
