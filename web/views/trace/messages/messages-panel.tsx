import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { CallRow } from '../../../api/calls.ts';
import type { Call } from '../../../api/types.ts';
import { Button } from '../../../ui/button.tsx';
import type { Conversation } from './conversation.ts';
import { MessageCard } from './message-card.tsx';
import { useHistory } from './use-history.ts';

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
  const folded = unfolded ? 0 : shared;
  const fresh = sent.slice(folded);
  const shown = fresh.slice(-count);
  const hidden = fresh.length - shown.length;
  return (
    <div className="messages">
      <div className="messages-tools">
        {folded > 0 ? (
          <Button className="fold" onClick={() => setUnfolded(true)}>
            {folded === 1 ? '1 message' : `${folded} messages`} from an earlier call
          </Button>
        ) : null}
        <span className="spring" />
        <Link
          to="/playground"
          search={{ project: call.project_id, call: call.id }}
          className="button quiet link"
        >
          Open in the playground
        </Link>
        <label className="check">
          <input type="checkbox" checked={!plain} onChange={(event) => onPlain(!event.target.checked)} />
          <span>Markdown</span>
        </label>
      </div>
      {hidden > 0 ? (
        <Button className="fold" onClick={() => setCount((before) => before * 4)}>
          {hidden} earlier messages
        </Button>
      ) : null}
      {shown.map((message, at) => (
        <MessageCard key={folded + hidden + at} message={message} plain={plain} />
      ))}
      {received.length > 0 ? <h3 className="answer-head">Answer</h3> : null}
      {received.map((message, at) => (
        <MessageCard key={`received ${at}`} message={message} plain={plain} />
      ))}
    </div>
  );
};
