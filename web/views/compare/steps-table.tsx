import { useMemo } from 'react';
import { statusOf } from '../../api/calls.ts';
import { costText, countText, durationText, tokensText } from '../../data/format.ts';
import type { TreeLine, TreeNode } from '../trace/tree.ts';
import { pairsOf } from './steps.ts';

/** How many steps are shown. */
const shownCount = 200;

const Cell = ({ line, mark }: { line: TreeLine | undefined; mark: 'removed' | 'added' | 'same' }) => {
  if (!line) return <div className="side absent" />;
  const { node, depth } = line;
  const usage = node.totalUsage;
  return (
    <div
      className={`side step-side ${mark}`}
      style={{ paddingInlineStart: `${0.6 + Math.min(8, depth) * 0.9}rem` }}
    >
      <span className="cut" dir="auto">
        {mark === 'same' ? null : <span className="hidden">only here: </span>}
        {node.name}
      </span>
      {statusOf(node.call) === 'error' ? <span className="error-text">failed</span> : null}
      <span className="figures">
        {usage?.cost === undefined ? null : <span>{costText(usage.cost)}</span>}
        {usage && usage.total > 0 ? <span>{tokensText(usage.total)} tok</span> : null}
        <span>{durationText(node.end - node.start)}</span>
      </span>
    </div>
  );
};

interface StepsTableProps {
  readonly left: TreeNode | undefined;
  readonly right: TreeNode | undefined;
}

/** What is below two calls, step by step: those that only one of them has are marked. */
export const StepsTable = ({ left, right }: StepsTableProps) => {
  const pairs = useMemo(() => pairsOf(left, right), [left, right]);
  if (pairs.length === 0) return null;
  return (
    <section className="stack" aria-label="Steps">
      <h2>Steps</h2>
      <div className="diff">
        {pairs.slice(0, shownCount).map((pair) => (
          <div key={`${pair.left?.node.call.id} ${pair.right?.node.call.id}`} className="sides">
            <Cell line={pair.left} mark={pair.right ? 'same' : 'removed'} />
            <Cell line={pair.right} mark={pair.left ? 'same' : 'added'} />
          </div>
        ))}
      </div>
      {pairs.length > shownCount ? (
        <p className="muted">{countText(pairs.length - shownCount)} more steps are in the traces.</p>
      ) : null}
    </section>
  );
};
