import { Link } from '@tanstack/react-router';
import { type CSSProperties, useMemo } from 'react';
import { statusOf } from '../../api/calls.ts';
import { costText, countText, durationText, tokensText } from '../../data/format.ts';
import { linesOf, type TreeLine, type TreeNode } from '../trace/tree.ts';

/** With more steps than this, they are folded at first, and this many are listed. */
const openCount = 6;
const shownCount = 60;

const noneCollapsed: ReadonlySet<string> = new Set();

const Step = ({ line: { node, depth } }: { line: TreeLine }) => {
  const { call, name, start, end, usage } = node;
  const status = statusOf(call);
  return (
    <li className={`step ${status}`} style={{ '--depth': Math.min(8, depth) } as CSSProperties}>
      <Link
        to="/trace"
        search={{ project: call.project_id, trace: call.trace_id, call: call.id }}
        className="cut"
        dir="auto"
      >
        {name}
      </Link>
      {status === 'error' ? <span className="error-text">failed</span> : null}
      <span className="figures">
        {usage?.cost === undefined ? null : <span>{costText(usage.cost)}</span>}
        {usage && usage.total > 0 ? <span>{tokensText(usage.total)} tok</span> : null}
        <span>{status === 'running' ? 'running' : durationText(end - start)}</span>
      </span>
    </li>
  );
};

/** What happened between question and answer: models, tools and anything else below the turn. */
export const Steps = ({ turn }: { turn: TreeNode }) => {
  const lines = useMemo(() => linesOf(turn.children, noneCollapsed), [turn]);
  if (lines.length === 0) return null;
  const errors = lines.filter(({ node }) => node.isError).length;
  return (
    <details className="steps" open={lines.length <= openCount}>
      <summary>
        {countText(lines.length)} {lines.length === 1 ? 'step' : 'steps'}
        {errors > 0 ? (
          <span className="error-text">
            {' '}
            · {countText(errors)} {errors === 1 ? 'error' : 'errors'}
          </span>
        ) : null}
      </summary>
      <ol>
        {lines.slice(0, shownCount).map((line) => (
          <Step key={line.node.call.id} line={line} />
        ))}
      </ol>
      {lines.length > shownCount ? (
        <p className="muted">{countText(lines.length - shownCount)} more are in the trace.</p>
      ) : null}
    </details>
  );
};
