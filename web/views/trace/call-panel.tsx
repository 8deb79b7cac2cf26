import { Tabs } from '@base-ui/react/tabs';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { type CallRow, nameOf, statusOf, timeOf } from '../../api/calls.ts';
import { wordsOf } from '../../api/errors.ts';
import type { Call } from '../../api/types.ts';
import { bytesText, durationText, momentText } from '../../data/format.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { DataPanel } from './data-panel.tsx';
import { ErrorPanel } from './error-panel.tsx';
import { FeedbackPanel } from './feedback/feedback-panel.tsx';
import { Thumbs } from './feedback/thumbs.tsx';
import { useFeedback } from './feedback/use-feedback.ts';
import { conversationOf } from './messages/conversation.ts';
import { MessagesPanel } from './messages/messages-panel.tsx';
import { type Tab, tabs } from './search.ts';
import { UsagePanel } from './usage-panel.tsx';
import { useCall } from './use-trace.ts';

interface CallPanelProps {
  readonly call: CallRow;
  /** All calls of the trace, in order of their start. */
  readonly calls: readonly CallRow[];
  /** @default - the first that has something to show */
  readonly tab: Tab | undefined;
  readonly onTab: (tab: Tab) => void;
  /** Whether messages stand as they came, without Markdown. */
  readonly plain: boolean;
  readonly onPlain: (plain: boolean) => void;
}

const titles: Readonly<Record<Tab, string>> = {
  messages: 'Messages',
  data: 'Data',
  usage: 'Usage',
  feedback: 'Feedback',
  error: 'Error',
};

/** What headers say of the call; it is there before the payload is. */
const Head = ({ call, size }: { call: CallRow; size: number | undefined }) => {
  const ms = timeOf(call.ended_at) - timeOf(call.started_at);
  return (
    <header className="call-head">
      <div className="row-between">
        <h2 dir="auto" title={nameOf(call)}>
          {nameOf(call)}
        </h2>
        <span className="row-end">
          <Link to="/compare" search={{ project: call.project_id, left: call.id }} className="button quiet">
            Compare
          </Link>
          <CopyButton text={() => call.id}>Copy id</CopyButton>
        </span>
      </div>
      <p className="facts">
        <StatusBadge status={statusOf(call)} />
        <time dateTime={call.started_at}>{momentText(call.started_at)}</time>
        {Number.isNaN(ms) ? null : <span>{durationText(ms)}</span>}
        {size === undefined ? null : <span>{bytesText(size)}</span>}
        {call.svc_user_id ? <span dir="auto">{call.svc_user_id}</span> : null}
        {call.thread_id ? (
          <Link to="/thread" search={{ project: call.project_id, thread: call.thread_id }} dir="auto">
            thread {call.thread_id}
          </Link>
        ) : null}
      </p>
      {call.op_name === nameOf(call) ? null : (
        <p className="muted break" dir="auto">
          {call.op_name}
        </p>
      )}
    </header>
  );
};

/** The tabs that have something to show. Data is always there. */
const tabsOf = (call: Call, hasMessages: boolean): Tab[] =>
  tabs.filter((tab) => {
    if (tab === 'messages') return hasMessages;
    if (tab === 'error') return call.exception !== null;
    return true;
  });

const Panels = ({ call, tab, onTab, ...shared }: Omit<CallPanelProps, 'call'> & { call: Call }) => {
  const feedback = useFeedback(call);
  const conversation = useMemo(() => conversationOf(call), [call]);
  const shown = tabsOf(call, conversation !== undefined);
  const first = call.exception === null ? shown[0] : 'error';
  const active = tab && shown.includes(tab) ? tab : (first ?? 'data');
  return (
    <Tabs.Root value={active} onValueChange={(value) => onTab(value as Tab)} className="tabs">
      <div className="tab-bar">
        <Tabs.List className="tab-list" aria-label="Parts of the call">
          {shown.map((name) => (
            <Tabs.Tab key={name} value={name} className="tab">
              {titles[name]}
              {name === 'feedback' && feedback.records.length > 0 ? ` ${feedback.records.length}` : ''}
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
        {active === 'usage' ? <UsagePanel call={call} /> : null}
        {active === 'feedback' ? <FeedbackPanel state={feedback} /> : null}
        {active === 'error' ? <ErrorPanel exception={call.exception ?? ''} /> : null}
      </Tabs.Panel>
    </Tabs.Root>
  );
};

/** The selected call. */
export const CallPanel = (props: CallPanelProps) => {
  const { call } = props;
  const { data, error, isPending, refetch } = useCall(call.project_id, call);
  return (
    <>
      <Head call={call} size={data?.storage_size_bytes} />
      {error ? (
        <Notice kind="error" action={<Button onClick={() => refetch()}>Try again</Button>}>
          {wordsOf(error)}
        </Notice>
      ) : null}
      {isPending ? <p className="muted">Loading the call…</p> : null}
      {data === null ? <Notice kind="error">This call is not there any more: it was deleted.</Notice> : null}
      {data ? <Panels {...props} call={data} /> : null}
    </>
  );
};
