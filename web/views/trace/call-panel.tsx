import { Tabs } from '@base-ui/react/tabs';
import { Link, useNavigate } from '@tanstack/react-router';
import { Suspense, useMemo, useState } from 'react';
import {
  type ContentPart,
  type Conversation,
  type Message,
  parseConversation,
  toolParts,
} from '../../../api/shared/conversation.ts';
import {
  type CallRow,
  getAgent,
  getCallName,
  getDuration,
  getStatus,
  getWait,
  opText,
  sumUsage,
  usageByModel,
} from '../../api/calls.ts';
import type { Call } from '../../api/contract.ts';
import { getKind } from '../../api/kind.ts';
import { StatusBadge, Tokens, WaitBadge } from '../../calls/badges.tsx';
import { useCall } from '../../calls/data.ts';
import { AddDialog, AddToDataset } from '../../calls/datasets/add-dialog.tsx';
import { familyOf, spendingOf } from '../../calls/figures/spending.ts';
import { SpendingTable } from '../../calls/figures/spending-table.tsx';
import { parseExchange } from '../../calls/messages/exchange.ts';
import { MessagesPanel } from '../../calls/messages/messages.tsx';
import { getPrompt, versionText } from '../../calls/prompts/prompt.ts';
import { bytesText, costText, countedText, tookText } from '../../data/format.ts';
import { type Tab, tabs } from '../../navigation/search.ts';
import { Person, useAllowed, useSession } from '../../session/session.tsx';
import { Button, CopyButton, Moment, Notice, QueryStatus } from '../../ui/controls.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { lazily } from '../../ui/lazy.ts';
import { LongText } from '../../ui/text.tsx';
import { CommentsPanel } from './comments.tsx';
import { FeedbackPanel, Thumbs, useFeedback } from './feedback.tsx';

const ContextPanel = lazily(() => import('./context-view.tsx'), 'ContextPanel');

const parts = ['inputs', 'output', 'attributes', 'summary'] as const;

const isEmpty = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0);

/** The free-form parts of a call as trees. */
const DataPanel = ({ call }: { call: Call }) => {
  const { isShared = false } = useSession();
  const navigate = useNavigate();
  const filterBy = (path: string, value: string) =>
    navigate({
      to: '/traces',
      search: {
        project: call.project_id,
        all: true,
        source: 'all',
        where: [{ path, op: 'is', value }],
      },
    });
  return (
    <div className="stack">
      {parts.map((part) => (
        <section key={part}>
          <h3>{part}</h3>
          {isEmpty(call[part]) ? (
            <p className="muted">{call[part] === null ? 'none' : 'empty'}</p>
          ) : (
            <JsonTree
              value={call[part]}
              path={part}
              label={part}
              {...(!isShared && { onFilter: filterBy })}
            />
          )}
        </section>
      ))}
    </div>
  );
};

/** What the call failed with: its message first, then the rest, which mostly is a stack trace. */
const ErrorPanel = ({ exception }: { exception: string }) => {
  const end = exception.indexOf('\n');
  const message = end < 0 ? exception : exception.slice(0, end);
  const rest = end < 0 ? '' : exception.slice(end + 1);
  return (
    <div className="stack">
      <div className="row-end">
        <CopyButton text={() => exception}>Copy</CopyButton>
      </div>
      <div className="exception">
        <LongText text={message} />
      </div>
      {rest ? (
        <div className="code">
          <LongText text={rest} />
        </div>
      ) : null}
    </div>
  );
};

/** Tokens and costs of the call with all below it, by model and kind of token. */
const UsagePanel = ({ call, calls }: { call: Call; calls: readonly CallRow[] }) => {
  const family = useMemo(() => familyOf(calls, call.id), [calls, call.id]);
  const byModel = useMemo(() => spendingOf(family), [family]);
  if (byModel.size === 0)
    return <p className="muted">Neither this call nor a call below it reported usage.</p>;
  return (
    <div className="stack">
      <SpendingTable project={call.project_id} byModel={byModel} />
      {family.length > 1 ? (
        <p className="hint">With {countedText(family.length - 1, 'call')} below this one.</p>
      ) : null}
    </div>
  );
};

interface CallPanelProps {
  readonly call: CallRow;
  /** All calls of the trace, in order of their start. */
  readonly calls: readonly CallRow[];
  /** @default - the first that has something to show */
  readonly tab: Tab | undefined;
  readonly onTab: (tab: Tab) => void;
  /** The comment that a link leads to. @default - none */
  readonly comment?: string | undefined;
  /** Whether messages stand as they came, without Markdown. */
  readonly plain: boolean;
  readonly onPlain: (plain: boolean) => void;
  /** Whether its name is to be seen, and not above it already. @default true */
  readonly isNamed?: boolean;
}

const titles: Readonly<Record<Tab, string>> = {
  messages: 'Messages',
  data: 'Data',
  usage: 'Usage',
  context: 'Context',
  comments: 'Comments',
  feedback: 'Feedback',
  error: 'Error',
};

/**
 * What a tool took and gave, or what a root, an agent or a workflow was asked and answered, if anything of it is
 * more than data; undefined for anything else.
 */
const getTexts = (call: Call): Conversation | undefined => {
  if (getKind(call) === 'tool') {
    const { took, gave } = toolParts(getCallName(call), call);
    const toMessages = (parts: readonly ContentPart[]) => (parts.length > 0 ? [{ role: 'tool', parts }] : []);
    return { raw: [], sent: toMessages(took), received: toMessages(gave) };
  }
  if (call.parent_id && !['agent', 'workflow'].includes(getKind(call))) return undefined;
  const { asked, answered } = parseExchange(call);
  const isText = ({ parts }: Message) => parts.some(({ kind }) => kind !== 'other');
  return [...asked, ...answered].some(isText) ? { raw: [], sent: asked, received: answered } : undefined;
};

/** What leads from a call to other views. */
const HeadLinks = ({ call }: { call: CallRow }) => (
  <>
    {opText(call.op_name) === 'Evaluation.evaluate' ? (
      <Link to="/evaluation" search={{ project: call.project_id, runs: [call.id] }} className="button quiet">
        Rows and scores
      </Link>
    ) : null}
    <Link to="/compare" search={{ project: call.project_id, left: call.id }} className="button quiet">
      Compare
    </Link>
  </>
);

interface HeadProps {
  readonly call: CallRow;
  readonly size: number | undefined;
  readonly isNamed: boolean;
}

/** What headers say of the call; it is there before the payload is. */
const Head = ({ call, size, isNamed }: HeadProps) => {
  const ms = getDuration(call);
  const status = getStatus(call);
  const wait = getWait(call);
  const agent = getAgent(call);
  const prompt = getPrompt(call);
  const byModel = usageByModel(call);
  const models = [...byModel.keys()].join(', ');
  const usage = sumUsage(byModel.values());
  const { isShared = false } = useSession();
  const mayWrite = useAllowed(call.project_id, 'write');
  const [adding, setAdding] = useState(false);
  return (
    <header className="call-head">
      <div className="row-between">
        <h2 dir="auto" title={getCallName(call)} className={isNamed ? undefined : 'hidden'}>
          {getCallName(call)}
        </h2>
        <span className="row-end">
          {isShared ? null : <HeadLinks call={call} />}
          {mayWrite ? (
            <Button kind="quiet" onClick={() => setAdding(true)}>
              Add to dataset
            </Button>
          ) : null}
          <CopyButton text={() => call.id}>Copy id</CopyButton>
        </span>
      </div>
      <p className="facts">
        {wait === true && status === 'success' ? null : <StatusBadge status={status} />}
        {wait === true ? <WaitBadge call={call} /> : null}
        <Moment time={call.started_at} />
        {Number.isNaN(ms) ? null : <span>{tookText(ms, wait === true ? 0 : wait)}</span>}
        {agent === undefined || agent === getCallName(call) ? null : <span dir="auto">agent {agent}</span>}
        {prompt && !isShared ? (
          <Link
            to="/prompts"
            search={{
              project: call.project_id,
              prompt: prompt.name,
              ...(prompt.version !== undefined && { version: prompt.version }),
            }}
            dir="auto"
          >
            prompt {prompt.name} {prompt.version === undefined ? '' : versionText(prompt.version)}
          </Link>
        ) : null}
        {usage && models !== getCallName(call) ? <span dir="auto">{models}</span> : null}
        {usage && usage.total > 0 ? <Tokens of={usage} /> : null}
        {usage?.cost === undefined ? null : <span>{costText(usage.cost)}</span>}
        {size === undefined ? null : <span>{bytesText(size)}</span>}
        {call.svc_user_id ? <Person user={call.svc_user_id} /> : null}
        {call.thread_id && !isShared ? (
          <Link to="/thread" search={{ project: call.project_id, thread: call.thread_id }} dir="auto">
            thread {call.thread_id}
          </Link>
        ) : null}
      </p>
      {call.op_name === getCallName(call) ? null : (
        <p className="muted break" dir="auto">
          {call.op_name}
        </p>
      )}
      <AddDialog open={adding} onClose={() => setAdding(false)} wide={false}>
        <AddToDataset project={call.project_id} calls={[call.id]} />
      </AddDialog>
    </header>
  );
};

/** The tabs that have something to show. Data is always there, and a public link shows no feedback. */
const getTabs = (call: Call, hasMessages: boolean, isShared: boolean): Tab[] =>
  tabs.filter((tab) => {
    if (tab === 'messages') return hasMessages;
    if (tab === 'context') return getKind(call) === 'model';
    if (tab === 'comments' || tab === 'feedback') return !isShared;
    if (tab === 'error') return call.exception !== null;
    return true;
  });

const Panels = ({ call, tab, onTab, ...shared }: Omit<CallPanelProps, 'call'> & { call: Call }) => {
  const feedback = useFeedback(call);
  const conversation = useMemo(() => parseConversation(call) ?? getTexts(call), [call]);
  const { isShared = false } = useSession();
  const shown = getTabs(call, conversation !== undefined, isShared);
  const first = call.exception === null ? shown[0] : 'error';
  const active = tab && shown.includes(tab) ? tab : (first ?? 'data');
  return (
    <Tabs.Root value={active} onValueChange={(value) => onTab(value as Tab)} className="tabs">
      <div className="tab-bar">
        <Tabs.List className="tab-list" aria-label="Parts of the call">
          {shown.map((name) => (
            <Tabs.Tab key={name} value={name} className="tab">
              {titles[name]}
              {name === 'feedback' && feedback.opinions.length > 0 ? ` ${feedback.opinions.length}` : ''}
              {name === 'comments' && feedback.comments > 0 ? ` ${feedback.comments}` : ''}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {feedback.mayGive ? <Thumbs state={feedback} /> : null}
      </div>
      {feedback.error ? <Notice kind="error">The feedback was not changed. {feedback.error}</Notice> : null}
      <Tabs.Panel value={active} className="tab-panel">
        {active === 'messages' && conversation ? (
          <MessagesPanel call={call} conversation={conversation} {...shared} />
        ) : null}
        {active === 'data' ? <DataPanel call={call} /> : null}
        {active === 'usage' ? <UsagePanel call={call} calls={shared.calls} /> : null}
        {active === 'context' ? (
          <Suspense fallback={null}>
            <ContextPanel call={call} />
          </Suspense>
        ) : null}
        {active === 'comments' ? <CommentsPanel call={call} linked={shared.comment} /> : null}
        {active === 'feedback' ? <FeedbackPanel state={feedback} /> : null}
        {active === 'error' ? <ErrorPanel exception={call.exception ?? ''} /> : null}
      </Tabs.Panel>
    </Tabs.Root>
  );
};

/** The selected call. */
export const CallPanel = (props: CallPanelProps) => {
  const { call, isNamed = true } = props;
  const query = useCall(call.project_id, call.id, call.ended_at);
  const { data } = query;
  return (
    <>
      <Head call={call} size={data?.storage_size_bytes} isNamed={isNamed} />
      <QueryStatus queries={[query]} loading="Loading the call…" />
      {data === null ? <Notice kind="error">This call was deleted.</Notice> : null}
      {data ? <Panels {...props} call={data} /> : null}
    </>
  );
};
