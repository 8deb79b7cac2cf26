import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { type CallRow, nameOf, statusOf, timeOf } from '../../api/calls.ts';
import { costText, durationText, momentText, tokensText } from '../../data/format.ts';
import { LongText } from '../../ui/long-text.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { MessageCard } from '../trace/messages/message-card.tsx';
import type { TreeNode } from '../trace/tree.ts';
import { saidIn } from './said.ts';
import { Steps } from './steps.tsx';

interface TurnProps {
  readonly number: number;
  readonly call: CallRow;
  /** Its payload; undefined while it is on its way. */
  readonly payload: CallRow | undefined;
  /** What is below it; undefined while it is on its way. */
  readonly node: TreeNode | undefined;
  readonly plain: boolean;
}

/** What the turn took, with all below it. */
const Foot = ({ call, node }: Pick<TurnProps, 'call' | 'node'>) => {
  const ms = timeOf(call.ended_at) - timeOf(call.started_at);
  const usage = node?.totalUsage;
  const status = statusOf(call);
  return (
    <p className="facts turn-foot">
      {status === 'success' ? null : <StatusBadge status={status} />}
      <time dateTime={call.started_at}>{momentText(call.started_at)}</time>
      {Number.isNaN(ms) ? null : <span>{durationText(ms)}</span>}
      {usage && usage.total > 0 ? <span>{tokensText(usage.total)} tokens</span> : null}
      {usage?.cost === undefined ? null : <span>{costText(usage.cost)}</span>}
      <Link to="/trace" search={{ project: call.project_id, trace: call.trace_id, call: call.id }}>
        Trace
      </Link>
    </p>
  );
};

/** A turn: what was asked, what happened then, and what was answered. */
export const Turn = ({ number, call, payload, node, plain }: TurnProps) => {
  const said = useMemo(
    () => payload && saidIn({ inputs: payload.inputs ?? {}, output: payload.output ?? null }),
    [payload],
  );
  return (
    <article className="turn" aria-label={`Turn ${number}: ${nameOf(call)}`} tabIndex={-1}>
      {payload ? null : <p className="muted">Loading the turn…</p>}
      <div className="asked">
        {said?.asked.map((message, at) => (
          <MessageCard key={at} message={message} plain={plain} />
        ))}
      </div>
      {node ? <Steps turn={node} /> : null}
      <div className="answered">
        {said?.answered.map((message, at) => (
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
