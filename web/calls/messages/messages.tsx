import { Link } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import {
  type ContentPart,
  type Conversation,
  type Message,
  parseConversation,
  sharedWith,
  sharedWithTurn,
} from '../../../api/shared/conversation.ts';
import type { CallRow } from '../../api/calls.ts';
import type { Call } from '../../api/contract.ts';
import { countedText } from '../../data/format.ts';
import { useRead, useSession } from '../../session/session.tsx';
import { Button, Check } from '../../ui/controls.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { useIsSought } from '../../ui/sought.ts';
import { getImage, LongText, Markdown } from '../../ui/text.tsx';
import { readRows, useCall } from '../data.ts';
import { FileCard } from './file-card.tsx';
import { ToolData } from './tool-view.tsx';
import { messageText } from './transcript.ts';

/** Only images that are in the data are shown: any other would tell its host who reads what. */
const Image = ({ url }: { url: string }) => {
  const own = getImage(url);
  if (own) return <img className="image" src={own} alt="In the message" />;
  return (
    <p className="muted break" dir="auto">
      Image, not loaded: {url.slice(0, 300)}
    </p>
  );
};

/** How long a value is at most that stands in a line, without a tree. */
const lineLength = 120;

/** A small value as a line of JSON; undefined for one that needs a tree. */
const toLine = (value: unknown): string | undefined => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.values(value);
  if (members.length > 6 || members.some((member) => typeof member === 'object' && member !== null))
    return undefined;
  const length = members.reduce<number>((sum, member) => sum + String(member).length, 0);
  if (length > lineLength) return undefined;
  const line = JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ');
  return line.length > lineLength ? undefined : line;
};

const Data = ({ value, label }: { value: unknown; label: string }) => {
  if (typeof value === 'string') return <LongText text={value} />;
  const line = toLine(value);
  if (line === undefined) return <JsonTree value={value} path="" label={label} />;
  return (
    <code className="value" dir="auto">
      {line}
    </code>
  );
};

interface ShapedProps {
  readonly value: unknown;
  readonly label: string;
  readonly path?: string | undefined;
  readonly plain: boolean;
}

/** What a tool takes or gives, or as it came if that is wanted. */
const Shaped = ({ value, label, path, plain }: ShapedProps) =>
  plain ? (
    <Data value={value} label={label} />
  ) : (
    <ToolData value={value} path={path} toData={(rest) => <Data value={rest} label={label} />} />
  );

const PartView = ({ part, plain }: { part: ContentPart; plain: boolean }) => {
  switch (part.kind) {
    case 'text':
      return plain ? <LongText text={part.text} /> : <Markdown text={part.text} />;
    case 'thinking':
      if (part.text === '') return <p className="muted">Thinking (no text)</p>;
      return (
        <details className="thinking">
          <summary>Thinking</summary>
          <LongText text={part.text} />
        </details>
      );
    case 'image':
      return <Image url={part.url} />;
    case 'file':
      return <FileCard file={part.file} />;
    case 'call':
      return (
        <div className="tool">
          <p className="tool-head">
            <span className="tool-kind">calls</span> <code dir="auto">{part.name}</code>
            {part.id ? <span className="muted break"> {part.id}</span> : null}
          </p>
          <Shaped value={part.input} label={`Arguments of ${part.name}`} plain={plain} />
        </div>
      );
    case 'result':
      return (
        <div className="tool">
          <p className="tool-head">
            <span className="tool-kind">{part.name ? 'result of' : 'result'}</span>{' '}
            {part.name ? <code dir="auto">{part.name}</code> : null}
            {part.id ? <span className="muted break"> {part.id}</span> : null}
          </p>
          <Shaped value={part.output} path={part.path} label="Result" plain={plain} />
        </div>
      );
    case 'other':
      return <Shaped value={part.value} label="Part of the message" plain={plain} />;
  }
};

const roles = new Set(['system', 'developer', 'user', 'assistant', 'tool']);

interface MessageCardProps {
  readonly message: Message;
  /** Whether texts stand as they came, without Markdown. @default false */
  readonly plain?: boolean;
}

export const MessageCard = ({ message: { role, name, parts }, plain = false }: MessageCardProps) => (
  <article className={`message ${roles.has(role) ? role : 'other'}`}>
    <header className="message-head" dir="auto">
      {role}
      {name ? ` · ${name}` : ''}
    </header>
    {parts.length === 0 ? <p className="muted">empty</p> : null}
    {parts.map((part, at) => (
      <PartView key={at} part={part} plain={plain} />
    ))}
  </article>
);

/** How many earlier calls are read at most. */
const maxRead = 3;

/**
 * Earlier calls of the same operation, the likeliest to begin alike first: the last one below the
 * same parent, then the last ones anywhere. Agents below it have conversations of their own.
 */
const earlierCalls = (calls: readonly CallRow[], call: CallRow): CallRow[] => {
  const at = calls.findIndex(({ id }) => id === call.id);
  const last = calls
    .slice(0, Math.max(0, at))
    .filter(({ op_name }) => op_name === call.op_name)
    .reverse();
  const getParent = ({ parent_id = null }: CallRow) => parent_id;
  const beside = last.find((earlier) => getParent(earlier) === getParent(call));
  return [...new Set([...(beside ? [beside] : []), ...last])].slice(0, maxRead);
};

/**
 * The last calls of the same operation in the turn before: a conversation of many turns has a trace
 * for each, and each begins with all that was said.
 *
 * @param isEnabled whether they are to be read
 */
const useTurnBefore = (call: Call, calls: readonly CallRow[], isEnabled: boolean): readonly CallRow[] => {
  const thread = call.thread_id ?? calls.find(({ thread_id }) => thread_id)?.thread_id;
  const { project_id, op_name } = call;
  const began = calls[0]?.started_at ?? call.started_at;
  const { data = [] } = useRead(
    ['turn before', project_id, thread, began, op_name],
    async (reading) => {
      const newestFirst = [{ field: 'started_at', direction: 'desc' as const }];
      const [before] = await readRows(reading, {
        project_id,
        filter: { thread_ids: [thread ?? ''] },
        query: { $expr: { $lt: [{ $getField: 'started_at' }, { $literal: began }] } },
        sort_by: newestFirst,
        columns: ['parent_id'],
        limit: 1,
      });
      if (!before) return [];
      return readRows(reading, {
        project_id,
        filter: { trace_ids: [before.trace_id], op_names: [op_name] },
        sort_by: newestFirst,
        columns: ['ended_at'],
        limit: 2,
      });
    },
    { enabled: isEnabled && Boolean(thread) },
  );
  return data;
};

/** How many first messages an earlier call had sent already; undefined until it is read. */
const useShared = (
  project: string,
  earlier: CallRow | undefined,
  count: (earlier: Conversation) => number,
): number | undefined => {
  const { data } = useCall(project, earlier?.id, earlier?.ended_at);
  return useMemo(() => {
    if (data === undefined) return undefined;
    const conversation = data && parseConversation(data);
    return conversation ? count(conversation) : 0;
  }, [data, count]);
};

/**
 * How many of a conversation's first messages an earlier call had sent already. Of the earlier
 * calls it reads one, and the next only if they have nothing in common: first those of the trace,
 * then those of the turn before.
 */
const useHistory = (call: Call, calls: readonly CallRow[], conversation: Conversation): number => {
  const { raw } = conversation;
  const ofCall = useCallback((earlier: Conversation) => sharedWith(raw, earlier.raw), [raw]);
  const ofTurn = useCallback(
    (earlier: Conversation) => sharedWithTurn(conversation, earlier),
    [conversation],
  );
  const isRequest = raw.length > 0;
  const earlier = useMemo(() => (isRequest ? earlierCalls(calls, call) : []), [calls, call, isRequest]);
  const [first, second, third] = earlier;
  const { project_id } = call;
  const ofFirst = useShared(project_id, first, ofCall);
  const ofSecond = useShared(project_id, ofFirst === 0 ? second : undefined, ofCall);
  const ofThird = useShared(project_id, ofSecond === 0 ? third : undefined, ofCall);
  const isNew = isRequest && earlier.every((_, at) => [ofFirst, ofSecond, ofThird][at] === 0);
  const [last, before] = useTurnBefore(call, calls, isNew);
  const ofLast = useShared(project_id, last, ofTurn);
  const ofBefore = useShared(project_id, ofLast === 0 ? before : undefined, ofTurn);
  return ofFirst || ofSecond || ofThird || ofLast || ofBefore || 0;
};

/** How many messages are in the document at once, at first. */
const firstCount = 50;

interface MessagesPanelProps {
  readonly call: Call;
  readonly calls: readonly CallRow[];
  readonly conversation: Conversation;
  /** Whether texts stand as they came, without Markdown. */
  readonly plain: boolean;
  readonly onPlain: (plain: boolean) => void;
}

/**
 * The call as a conversation. What an earlier call had sent already is folded away, so that one
 * sees what is new.
 */
export const MessagesPanel = ({ call, calls, conversation, plain, onPlain }: MessagesPanelProps) => {
  const shared = useHistory(call, calls, conversation);
  const [unfolded, setUnfolded] = useState(false);
  const [count, setCount] = useState(firstCount);
  const { sent, received } = conversation;
  const isSought = useIsSought();
  const { isShared = false } = useSession();
  const folded =
    unfolded || sent.slice(0, shared).some((message) => isSought(messageText(message))) ? 0 : shared;
  const fresh = sent.slice(folded);
  const shown = fresh.slice(-count);
  const hidden = fresh.length - shown.length;
  return (
    <div className="messages">
      <div className="messages-tools">
        {folded > 0 ? (
          <Button className="fold" onClick={() => setUnfolded(true)}>
            {countedText(folded, 'message')} from an earlier call
          </Button>
        ) : null}
        <span className="spring" />
        {conversation.raw.length > 0 && !isShared ? (
          <Link
            to="/playground"
            search={{ project: call.project_id, call: call.id }}
            className="button quiet link"
          >
            Open in the playground
          </Link>
        ) : null}
        <Check label="Markdown" checked={!plain} onChange={(checked) => onPlain(!checked)} />
      </div>
      {hidden > 0 ? (
        <Button className="fold" onClick={() => setCount((before) => before * 4)}>
          {hidden} earlier messages
        </Button>
      ) : null}
      {shown.map((message, at) => (
        <MessageCard key={folded + hidden + at} message={message} plain={plain} />
      ))}
      {received.length > 0 ? (
        <h3 className="answer-head">{received[0]?.role === 'tool' ? 'Result' : 'Answer'}</h3>
      ) : null}
      {received.map((message, at) => (
        <MessageCard key={`received ${at}`} message={message} plain={plain} />
      ))}
    </div>
  );
};
