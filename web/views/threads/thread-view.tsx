import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { FolderGit2, GitBranch, Maximize2 } from 'lucide-react';
import {
  type CSSProperties,
  createContext,
  type MouseEvent,
  type ReactNode,
  Suspense,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useState,
} from 'react';
import {
  type CallRow,
  getCallName,
  getDuration,
  getStatus,
  getWait,
  parseTime,
  sumUsage,
  usageByModel,
} from '../../api/calls.ts';
import type { Operation } from '../../api/contract.ts';
import type { Preview } from '../../api/kind.ts';
import { CallFigures, StatusBadge, Tokens, WaitBadge } from '../../calls/badges.tsx';
import { getInterval, isTurn, readRows, useInSight, withHeaderColumns } from '../../calls/data.ts';
import { spendingOf } from '../../calls/figures/spending.ts';
import { SpendingTable } from '../../calls/figures/spending-table.tsx';
import { isPlainClick } from '../../calls/list/peek.tsx';
import { Peek } from '../../calls/list/peek-pane.tsx';
import { parseExchange } from '../../calls/messages/exchange.ts';
import { MessageCard } from '../../calls/messages/messages.tsx';
import { isSilent, previewsOfTraces, shownPreview } from '../../calls/previews.ts';
import { About } from '../../calls/trace/about.tsx';
import { type TreeLine, type TreeNode, toLines, toTree } from '../../calls/trace/tree.ts';
import { costText, countedText, countText, durationText, tookText } from '../../data/format.ts';
import { toChunks } from '../../data/values.ts';
import { type Changes, changed, type ThreadSearch, type ThreadsSearch } from '../../navigation/search.ts';
import { useKept } from '../../session/kept.ts';
import { type Reading, useRead } from '../../session/session.tsx';
import { Button, Check, CopyButton, Moment, Notice, QueryStatus, Skeleton } from '../../ui/controls.tsx';
import { Shortcuts, stepKeys, stepped, useKeys } from '../../ui/keys.tsx';
import { lazily } from '../../ui/lazy.ts';
import { useSettled } from '../../ui/settled.ts';
import { LongText } from '../../ui/text.tsx';
import { View } from '../../ui/view.tsx';
import { isCodingSession, placeOf, resourcePath } from './groups.ts';

const SessionDetails = lazily(() => import('./session-details.tsx'), 'SessionDetails');

/** A thread may get steps while its reader is elsewhere: it is read again when they return. */
const staleTime = 0;

const byTime = [{ field: 'started_at', direction: 'asc' as const }];

const none: readonly CallRow[] = [];

/** The turns of a thread by their headers, in order of their start. */
const useTurns = (project: string, thread: string) =>
  useRead(
    ['thread', project, thread],
    (reading) =>
      readRows(reading, {
        project_id: project,
        filter: { thread_ids: [thread] },
        query: { $expr: isTurn },
        sort_by: byTime,
        columns: withHeaderColumns(),
      }),
    { staleTime, refetchInterval: ({ state: { data } }) => getInterval(data) },
  );

/** Whether a call waits for a person, or has waited. */
const hasWaited = ({ summary }: CallRow): boolean =>
  summary?.svc?.waiting === true || typeof summary?.svc?.waited_ms === 'number';

/**
 * The runs that went on with turns once a person had answered: roots of other traces that belong to
 * them. They are only looked for where a call has waited.
 */
const readResumes = async (
  reading: Reading,
  project: string,
  turns: readonly CallRow[],
  calls: readonly CallRow[],
): Promise<CallRow[]> => {
  const waiting = new Set(calls.filter(hasWaited).map(({ turn_id }) => turn_id));
  const waitingTurns = turns.filter(({ id }) => waiting.has(id));
  const threads = waitingTurns.flatMap(({ thread_id }) => thread_id ?? []);
  if (threads.length === 0) return [];
  const isOfTurn: Operation = {
    $in: [{ $getField: 'turn_id' }, waitingTurns.map(({ id }) => ({ $literal: id }))],
  };
  const isRoot: Operation = { $eq: [{ $getField: 'parent_id' }, { $literal: null }] };
  const rows = await readRows(reading, {
    project_id: project,
    filter: { thread_ids: [...new Set(threads)] },
    query: { $expr: { $and: [isRoot, isOfTurn, { $not: [isTurn] }] } },
    sort_by: byTime,
    columns: withHeaderColumns(),
  });
  return rows;
};

/** What is below turns: the nodes of their trees, by the id of the turn. */
const findNodes = (
  calls: readonly CallRow[],
  turns: readonly CallRow[],
  readAt: number,
): Map<string, TreeNode> => {
  const turnIds = new Set(turns.map(({ id }) => id));
  const found = new Map<string, TreeNode>();
  const waiting = [...Map.groupBy(calls, ({ trace_id }) => trace_id).values()].flatMap((trace) =>
    toTree(trace, readAt),
  );
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (turnIds.has(node.call.id)) found.set(node.call.id, node);
    waiting.push(...node.children);
  }
  return found;
};

/** The steps, tokens and costs of some turns, from the headers of their traces. */
const useSteps = (project: string, turns: readonly CallRow[]) => {
  const traces = [...new Set(turns.map(({ trace_id }) => trace_id))];
  const query = useRead(
    ['steps', project, traces, turns.map(({ ended_at }) => ended_at)],
    async (reading) => {
      const read = (trace_ids: string[]) =>
        readRows(reading, {
          project_id: project,
          filter: { trace_ids },
          sort_by: byTime,
          columns: withHeaderColumns('summary.usage', 'attributes.kind'),
          include_costs: true,
        });
      const calls = await read(traces);
      const resumes = await readResumes(reading, project, turns, calls);
      const others = new Set(resumes.map(({ trace_id }) => trace_id).filter((id) => !traces.includes(id)));
      const more = others.size > 0 ? await read([...others]) : [];
      return { calls: [...calls, ...more], resumes, readAt: Date.now() };
    },
    { staleTime, placeholderData: keepPreviousData },
  );
  const { data } = query;
  const nodes = useMemo(
    () =>
      data ? findNodes(data.calls, [...turns, ...data.resumes], data.readAt) : new Map<string, TreeNode>(),
    [data, turns],
  );
  return { query, nodes, resumes: data?.resumes ?? none };
};

/** The payloads of some calls, by id: what was asked and answered. */
const usePayloads = (project: string, calls: readonly CallRow[]) => {
  const ids = calls.map(({ id }) => id);
  return useRead(
    ['payloads', project, ids, calls.map(({ ended_at }) => ended_at)],
    async (reading) => {
      const columns = ['inputs', 'output', 'exception'];
      const rows = await readRows(reading, { project_id: project, filter: { call_ids: ids }, columns });
      return new Map(rows.map((row) => [row.id, row]));
    },
    { placeholderData: keepPreviousData, enabled: ids.length > 0 },
  );
};

/** With more steps than this, they are folded at first, and this many are listed. */
const openCount = 6;
const shownCount = 60;

/** Of many steps, previews are read once somebody opens them. */
const previewColumn = ['preview'];

/** Opens a trace where the thread is shown. @default - links lead to its own view */
const OpenTrace = createContext<((trace: string, call: string) => void) | undefined>(undefined);

interface TraceLinkProps {
  readonly call: CallRow;
  readonly className?: string;
  readonly children: ReactNode;
}

/** Leads to a call in its trace. */
const TraceLink = ({ call, className, children }: TraceLinkProps) => {
  const open = useContext(OpenTrace);
  const { project_id: project, trace_id: trace, id } = call;
  const show = (event: MouseEvent) => {
    if (!open || !isPlainClick(event)) return;
    event.preventDefault();
    open(trace, id);
  };
  return (
    <Link to="/trace" search={{ project, trace, call: id }} className={className} dir="auto" onClick={show}>
      {children}
    </Link>
  );
};

interface StepProps {
  readonly line: TreeLine;
  /** What it was about; undefined until that is read. */
  readonly preview: Preview | undefined;
}

const Step = ({ line: { node, depth }, preview }: StepProps) => {
  const { call, name, start, end, usage } = node;
  const status = getStatus(call);
  return (
    <li className={`step ${status}`} style={{ '--depth': Math.min(8, depth) } as CSSProperties}>
      <TraceLink call={call} className="cut">
        {name}
      </TraceLink>
      {status === 'error' ? <span className="error-text">failed</span> : null}
      <WaitBadge call={call} />
      {preview ? <About {...shownPreview(preview, call)} /> : null}
      <CallFigures usage={usage} duration={status === 'running' ? 'running' : durationText(end - start)} />
    </li>
  );
};

interface StepsProps {
  readonly project: string;
  readonly lines: readonly TreeLine[];
  readonly previews: TurnProps['previews'];
}

/** What happened between question and answer: models, tools and anything else below the turn. */
const Steps = ({ project, lines, previews }: StepsProps) => {
  const isShort = lines.length <= openCount;
  const [isOpen, setOpen] = useState(isShort);
  const shown = useMemo(() => lines.slice(0, shownCount), [lines]);
  const batches = useMemo(
    () => (isOpen && !isShort ? [shown.map(({ node }) => node.call)] : []),
    [isOpen, isShort, shown],
  );
  const own = useInSight(project, batches, previewColumn);
  if (lines.length === 0) return null;
  const errors = lines.filter(({ node }) => node.isError).length;
  return (
    <details className="steps" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {countedText(lines.length, 'step')}
        {errors > 0 ? <span className="error-text"> · {countedText(errors, 'error')}</span> : null}
      </summary>
      <ol>
        {shown.map((line) => {
          const { id } = line.node.call;
          return (
            <Step key={id} line={line} preview={(previews.get(id) ?? own.get(id))?.preview ?? undefined} />
          );
        })}
      </ol>
      {lines.length > shownCount ? (
        <p className="muted">{countText(lines.length - shownCount)} more are in the trace.</p>
      ) : null}
    </details>
  );
};

interface TurnProps {
  readonly project: string;
  readonly number: number;
  readonly call: CallRow;
  /** Its payload; undefined while it is on its way. */
  readonly payload: CallRow | undefined;
  /** What is below it; undefined while it is on its way. */
  readonly node: TreeNode | undefined;
  /** The payloads of model calls that are needed to tell what was said, by id. */
  readonly below: ReadonlyMap<string, CallRow> | undefined;
  /** What is below it, in lines. */
  readonly lines: readonly TreeLine[];
  /** What steps were about, of those that are in sight at first, by id. */
  readonly previews: ReadonlyMap<string, CallRow>;
  /** The runs that went on with it once a person had answered, in order. */
  readonly resumes: readonly ResumedRun[];
  readonly plain: boolean;
}

/** A run that went on with a turn. */
interface ResumedRun {
  readonly call: CallRow;
  /** Its payload, which has what the person said; undefined while it is on its way. */
  readonly payload: CallRow | undefined;
  readonly lines: readonly TreeLine[];
}

/** What the turn took, with all below it. */
const Foot = ({ call, node }: Pick<TurnProps, 'call' | 'node'>) => {
  const ms = getDuration(call);
  const usage = node?.totalUsage;
  const status = getStatus(call);
  return (
    <p className="facts turn-foot">
      {status === 'success' ? null : <StatusBadge status={status} />}
      {getWait(call) === true ? <WaitBadge call={call} /> : null}
      <Moment time={call.started_at} />
      {Number.isNaN(ms) ? null : <span>{tookText(ms, node?.waitedMs)}</span>}
      {usage && usage.total > 0 ? <Tokens of={usage} /> : null}
      {usage?.cost === undefined ? null : <span>{costText(usage.cost)}</span>}
      <TraceLink call={call}>Trace</TraceLink>
    </p>
  );
};

const exchangeIn = (row: CallRow) => parseExchange({ inputs: row.inputs ?? {}, output: row.output ?? null });

/** The first and the last model call of a turn; undefined for none. */
const getModels = (turn: TreeNode | undefined): readonly [first: CallRow, last: CallRow] | undefined =>
  turn?.firstModel && turn.lastModel ? [turn.firstModel, turn.lastModel] : undefined;

/** A turn that says nothing itself has its question and answer in its model calls. */
const saysNothing = (row: CallRow | undefined): boolean => {
  if (!row) return false;
  const { asked, answered } = exchangeIn(row);
  return asked.length === 0 || (answered.length === 0 && !row.exception);
};

/** What was asked and answered in a turn, by its own payload or by those of its model calls. */
const useExchange = ({ payload, node, below }: Pick<TurnProps, 'payload' | 'node' | 'below'>) =>
  useMemo(() => {
    if (!payload) return undefined;
    const own = exchangeIn(payload);
    const [first, last] = getModels(node)?.map(({ id }) => below?.get(id)) ?? [];
    return {
      asked: own.asked.length > 0 || !first ? own.asked : exchangeIn(first).asked,
      answered:
        own.answered.length > 0 || !last || payload.exception ? own.answered : exchangeIn(last).answered,
    };
  }, [payload, node, below]);

interface ResumedProps {
  readonly project: string;
  readonly resume: ResumedRun;
  readonly previews: TurnProps['previews'];
  readonly plain: boolean;
}

/** What a person said while a turn waited for them, and what happened then. */
const Resumed = ({ project, resume: { payload, lines }, previews, plain }: ResumedProps) => (
  <>
    <div className="asked">
      {(payload ? exchangeIn(payload).asked : []).map((message, at) => (
        <MessageCard key={at} message={message} plain={plain} />
      ))}
    </div>
    <Steps project={project} lines={lines} previews={previews} />
  </>
);

/** A turn: what was asked, what happened then, and what was answered. */
const Turn = ({
  project,
  number,
  call,
  payload,
  node,
  below,
  lines,
  previews,
  resumes,
  plain,
}: TurnProps) => {
  const exchange = useExchange({ payload, node, below });
  return (
    <article className="turn" aria-label={`Turn ${number}: ${getCallName(call)}`} tabIndex={-1}>
      <div className="asked">
        {exchange?.asked.map((message, at) => (
          <MessageCard key={at} message={message} plain={plain} />
        ))}
      </div>
      <Steps project={project} lines={lines} previews={previews} />
      {resumes.map((resume) => (
        <Resumed key={resume.call.id} project={project} resume={resume} previews={previews} plain={plain} />
      ))}
      <div className="answered">
        {exchange?.answered.map((message, at) => (
          <MessageCard key={at} message={message} plain={plain} />
        ))}
        {typeof payload?.exception === 'string' ? (
          <div className="exception">
            <LongText text={payload.exception.split('\n', 1)[0] ?? ''} />
          </div>
        ) : null}
      </div>
      <Foot call={call} node={node} />
    </article>
  );
};

interface TurnsProps {
  readonly project: string;
  readonly turns: readonly CallRow[];
  /** The place of a turn in its thread, from 1 on. */
  readonly getNumber: (turn: CallRow) => number;
  readonly plain: boolean;
  /** Is told what these turns used, once it is known. */
  readonly onCalls: (first: string, calls: readonly CallRow[]) => void;
}

const noLines: readonly TreeLine[] = [];

/** The calls of nodes and of all nodes below them. */
const callsOf = (nodes: readonly TreeNode[]): CallRow[] => {
  const all = [...nodes];
  for (const { children } of all) all.push(...children);
  return all.map(({ call }) => call);
};

/** Some turns that are read together: their headers by traces, and their payloads. */
const Turns = ({ project, turns, getNumber, plain, onCalls }: TurnsProps) => {
  const { query, nodes, resumes } = useSteps(project, turns);
  const payloads = usePayloads(project, turns);
  const resumePayloads = usePayloads(project, resumes);
  const models = turns.flatMap(({ id }) =>
    saysNothing(payloads.data?.get(id)) ? (getModels(nodes.get(id)) ?? []) : [],
  );
  const below = usePayloads(project, models);
  const lines = useMemo(
    () => new Map([...nodes].map(([id, { children }]) => [id, toLines(children)])),
    [nodes],
  );
  const short = useMemo(() => {
    const all = [...lines.values()].filter(({ length }) => length <= openCount).flat();
    return [all.map(({ node }) => node.call)];
  }, [lines]);
  const previews = useInSight(project, short, previewColumn);
  const first = turns[0]?.id ?? '';
  useEffect(() => {
    if (nodes.size > 0) onCalls(first, callsOf([...nodes.values()]));
  }, [nodes, first, onCalls]);
  // All at once: turns that grow one after the other push each other around.
  if (query.isLoading || payloads.isLoading)
    return <Skeleton label="Loading the turns…" rows={turns.length} className="turn-skeletons" />;
  return (
    <>
      <QueryStatus queries={[payloads, query, resumePayloads]} />
      {turns.map((call) => (
        <Turn
          key={call.id}
          project={project}
          number={getNumber(call)}
          call={call}
          payload={payloads.data?.get(call.id)}
          node={nodes.get(call.id)}
          below={below.data}
          lines={lines.get(call.id) ?? noLines}
          previews={previews}
          resumes={resumes
            .filter(({ turn_id }) => turn_id === call.id)
            .map((resume) => ({
              call: resume,
              payload: resumePayloads.data?.get(resume.id),
              lines: lines.get(resume.id) ?? noLines,
            }))}
          plain={plain}
        />
      ))}
    </>
  );
};

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

/** Goes from turn to turn by the keyboard. */
const moveFocus = (by: number): void => {
  const turns = [...document.querySelectorAll<HTMLElement>('.turn')];
  const at = turns.findIndex((turn) => turn.contains(document.activeElement));
  const next = turns[stepped(at, by, turns.length)];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: 'nearest' });
};

interface HeadProps {
  readonly turns: readonly CallRow[];
  readonly project: string;
  /** The turns and the calls below them, as far as they are read. */
  readonly calls: readonly CallRow[];
  /** Whether they are those of all turns. */
  readonly whole: boolean;
  /** Whether only turns that failed are shown. */
  readonly failed: boolean;
  readonly onFailed: (failed: boolean) => void;
}

const hasFailed = (call: CallRow): boolean => getStatus(call) === 'error';

/** Where a coding agent worked, as its first turn tells; nothing for other threads. */
const Place = ({ project, turns }: Pick<HeadProps, 'project' | 'turns'>) => {
  const [first] = turns;
  const { data } = useRead(
    ['place', project, first?.id],
    async (reading) => {
      const ids = first ? [first.id] : [];
      const request = { project_id: project, filter: { call_ids: ids }, columns: [resourcePath] };
      const [row] = await readRows(reading, request);
      return placeOf(row);
    },
    { enabled: first !== undefined && isCodingSession(turns) },
  );
  return [
    ['Repository', FolderGit2, data?.repository] as const,
    ['Branch', GitBranch, data?.branch] as const,
  ].map(([title, Icon, name]) =>
    name === undefined ? null : (
      <span key={title} className="with-icon" title={title}>
        <Icon aria-hidden="true" /> <span className="hidden">{title} </span>
        <bdi>{name}</bdi>
      </span>
    ),
  );
};

const Facts = ({ project, turns, calls, whole, failed, onFailed }: HeadProps) => {
  const usage = useMemo(() => sumUsage(calls.flatMap((call) => [...usageByModel(call).values()])), [calls]);
  const byModel = useMemo(() => spendingOf(calls), [calls]);
  const errors = turns.filter(hasFailed).length;
  const callErrors = calls.filter(hasFailed).length;
  const isCoding = useMemo(() => isCodingSession(calls), [calls]);
  const [isOpen, setOpen] = useState(false);
  const first = turns[0];
  const last = turns.at(-1);
  const end = Math.max(...turns.map(({ ended_at, started_at }) => parseTime(ended_at ?? started_at)));
  return (
    <>
      {first && last ? (
        <p className="facts">
          <span>{countedText(turns.length, 'turn')}</span>
          <Place project={project} turns={turns} />
          <Moment time={first.started_at} />
          {end > parseTime(first.started_at) ? (
            <span>over {durationText(end - parseTime(first.started_at))}</span>
          ) : null}
          {usage && usage.total > 0 ? (
            <span>
              <Tokens of={usage} />
              {whole ? '' : ' in the turns below'}
            </span>
          ) : null}
          {usage?.cost === undefined ? null : <span>{costText(usage.cost)}</span>}
          {callErrors > 0 ? (
            <span className="error-text">
              {countedText(callErrors, 'error')}
              {whole ? '' : ' in the turns below'}
            </span>
          ) : null}
          {errors > 0 || failed ? (
            <Button
              className="error-text"
              aria-pressed={failed}
              title={failed ? 'Show all turns' : 'Show only these'}
              onClick={() => onFailed(!failed)}
            >
              {countedText(errors, 'turn')} failed
            </Button>
          ) : null}
        </p>
      ) : (
        <Skeleton label="" rows={1} />
      )}
      {/* Its line is there before, so that the turns stay where they are. */}
      <details
        className={byModel.size > 0 || isCoding ? '' : 'reserved'}
        onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      >
        <summary>{isCoding ? 'What it did, and where the money went' : 'Where the money went'}</summary>
        <SpendingTable project={project} byModel={byModel} />
        {isOpen && isCoding ? (
          <Suspense fallback={<Skeleton label="Loading what it did…" />}>
            <SessionDetails project={project} calls={calls} />
          </Suspense>
        ) : null}
      </details>
    </>
  );
};

interface ConversationProps {
  readonly project: string;
  readonly thread: string;
  readonly plain: boolean;
  /** Whether only turns that failed are shown. */
  readonly failed: boolean;
  readonly onFailed: (failed: boolean) => void;
}

/** What a thread took, and its turns, the newest first read. */
const Conversation = ({ project, thread, plain, failed, onFailed }: ConversationProps) => {
  const query = useTurns(project, thread);
  const turns = query.data ?? none;
  const shown = useMemo(() => (failed ? turns.filter(hasFailed) : turns), [failed, turns]);
  // Pages stay as they are when more turns come.
  const pages = useMemo(() => toChunks(shown, pageSize), [shown]);
  const [shownPages, setShownPages] = useState(firstPages);
  const [callsByPage, setCallsByPage] = useState<ReadonlyMap<string, readonly CallRow[]>>(new Map());
  const calls = useMemo(() => [...callsByPage.values()].flat(), [callsByPage]);
  const noteCalls = useCallback(
    (first: string, found: readonly CallRow[]) =>
      setCallsByPage((before) => new Map(before).set(first, found)),
    [],
  );
  const hidden = Math.max(0, pages.length - shownPages);
  return (
    <>
      {query.data && turns.length === 0 ? null : (
        <Facts
          project={project}
          turns={turns}
          calls={calls}
          whole={hidden === 0 && !failed}
          failed={failed}
          onFailed={onFailed}
        />
      )}
      <QueryStatus queries={[query]} loading="Loading the conversation…" />
      {query.data && turns.length === 0 ? (
        <Notice
          kind="info"
          action={
            <Link to="/threads" search={{ project }}>
              All threads
            </Link>
          }
        >
          This thread has no turns. They were deleted, or none was reported.
        </Notice>
      ) : null}
      {hidden > 0 ? (
        <Button className="fold" onClick={() => setShownPages((shown) => shown + firstPages)}>
          {countText(hidden * pageSize)} earlier turns
        </Button>
      ) : null}
      {pages.slice(hidden).map((page) => (
        <Turns
          key={page[0]?.id}
          project={project}
          turns={page}
          getNumber={(turn) => turns.indexOf(turn) + 1}
          plain={plain}
          onCalls={noteCalls}
        />
      ))}
    </>
  );
};

interface ThreadPaneProps {
  readonly project: string;
  readonly thread: string;
  /** What was said first, until which it is called by its id. */
  readonly name: string | undefined;
  /** Shows a trace of it in its place. */
  readonly onTrace: (trace: string, call: string) => void;
  readonly onNext: (() => void) | undefined;
  readonly onPrevious: (() => void) | undefined;
  readonly onClose: () => void;
}

/** A row that is passed by in less than this many ms is not read. */
const passingMs = 120;

/** A thread beside the list that it is in. */
export const ThreadPane = (props: ThreadPaneProps) => {
  const { project, thread, name, onTrace, ...ways } = props;
  const [failed, setFailed] = useState<string>();
  const settled = useSettled(thread, passingMs);
  return (
    <Peek
      label="Thread beside the list"
      title={name ?? thread}
      what="thread"
      tools={
        <Link
          to="/thread"
          search={{ project, thread }}
          className="button quiet icon"
          aria-label="Open the thread"
          title="Open the thread (Enter)"
        >
          <Maximize2 />
        </Link>
      }
      {...ways}
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
      <section className="peek-body peek-chat chat" aria-label="Conversation" tabIndex={0} key={thread}>
        {settled === thread ? (
          <OpenTrace value={onTrace}>
            <Conversation
              project={project}
              thread={thread}
              plain={false}
              failed={failed === thread}
              onFailed={(next) => setFailed(next ? thread : undefined)}
            />
          </OpenTrace>
        ) : null}
      </section>
    </Peek>
  );
};

/** What was said first in a thread; undefined until that is known, and if nothing is. */
const useFirstWords = (project: string, thread: string): string | undefined => {
  const [first] = useTurns(project, thread).data ?? none;
  const { data } = useRead(
    ['first words', project, first?.id],
    async (reading) => {
      if (!first) return null;
      const request = { project_id: project, filter: { call_ids: [first.id] }, columns: previewColumn };
      const [row] = await readRows(reading, request);
      const own = row?.preview;
      if (row && own && !isSilent(row)) return shownPreview(own, row).input;
      const found = await previewsOfTraces(reading.client, project, [first.trace_id], reading.signal);
      const below = found.get(first.trace_id);
      return below ? shownPreview(below, first).input : null;
    },
    { enabled: first !== undefined },
  );
  return data ?? undefined;
};

/** A conversation, turn by turn. */
export const ThreadView = () => {
  const search = route.useSearch();
  const { project, thread, plain = false, failed = false } = search;
  const navigate = route.useNavigate();
  const change = (changes: Changes<ThreadSearch>) =>
    navigate({ search: changed<ThreadSearch>(search, changes), replace: true });
  const [help, setHelp] = useState(false);
  const words = useFirstWords(project, thread);
  const [list] = useKept<ThreadsSearch>('kept threads', project, { project });
  useKeys({
    ...stepKeys(moveFocus),
    Escape: () => navigate({ to: '/threads', search: list }),
    '?': () => setHelp(true),
  });
  return (
    <View
      title={words ?? 'Thread'}
      about={<code className="cut">{thread}</code>}
      className="chat"
      actions={
        <>
          <CopyButton text={() => thread}>Copy id</CopyButton>
          <Link
            to="/traces"
            search={{
              project,
              all: true,
              source: 'all',
              where: [{ path: 'thread_id', op: 'is', value: thread }],
            }}
            className="button plain"
          >
            All calls of this thread
          </Link>
          <Check
            label="Markdown"
            checked={!plain}
            onChange={(checked) => change({ plain: checked ? undefined : true })}
          />
        </>
      }
    >
      <Conversation
        project={project}
        thread={thread}
        plain={plain}
        failed={failed}
        onFailed={(next) => change({ failed: next || undefined })}
      />
      <Shortcuts open={help} onClose={() => setHelp(false)} keys={keys} />
    </View>
  );
};
