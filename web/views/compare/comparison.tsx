import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { nameOf } from '../../api/calls.ts';
import type { Call } from '../../api/types.ts';
import { momentText } from '../../data/format.ts';
import { SideBySide } from '../../ui/diff/side-by-side.tsx';
import { valueText } from '../../ui/diff/value-text.ts';
import { type TreeNode, treeOf } from '../trace/tree.ts';
import { useTrace } from '../trace/use-trace.ts';
import { factsOf } from './facts.ts';
import { nodeIn } from './steps.ts';
import { StepsTable } from './steps-table.tsx';

const parts = ['inputs', 'output', 'attributes'] as const;

const Heading = ({ call, side }: { call: Call; side: string }) => (
  <div className="side-head">
    <span className="muted">{side}</span>
    <Link to="/trace" search={{ project: call.project_id, trace: call.trace_id, call: call.id }} dir="auto">
      {nameOf(call)}
    </Link>
    <time className="muted" dateTime={call.started_at}>
      {momentText(call.started_at)}
    </time>
  </div>
);

interface FactsProps {
  readonly left: Call;
  readonly right: Call;
  readonly nodes: readonly [left: TreeNode | undefined, right: TreeNode | undefined];
}

const Facts = ({ left, right, nodes }: FactsProps) => (
  <div className="scroll-x card flush">
    <table className="plain-table wide facts-table">
      <thead>
        <tr>
          <th>
            <span className="hidden">Fact</span>
          </th>
          <th>
            <Heading call={left} side="left" />
          </th>
          <th>
            <Heading call={right} side="right" />
          </th>
        </tr>
      </thead>
      <tbody>
        {factsOf({ call: left, node: nodes[0] }, { call: right, node: nodes[1] }).map((fact) => (
          <tr key={fact.title} className={fact.left === fact.right ? '' : 'differs'}>
            <th scope="row">{fact.title}</th>
            <td dir="auto">{fact.left}</td>
            <td dir="auto">{fact.right}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

/** The tree below a call, from the headers of its trace. */
const useNode = (call: Call) => {
  const { data } = useTrace(call.project_id, call.trace_id);
  return useMemo(() => data && nodeIn(treeOf(data.calls, data.readAt), call.id), [data, call.id]);
};

/** Two calls with all that differs between them: facts, steps, and data. */
export const Comparison = ({ left, right }: { left: Call; right: Call }) => {
  const texts = useMemo(
    () => parts.map((part) => [part, valueText(left[part]), valueText(right[part])] as const),
    [left, right],
  );
  const [leftNode, rightNode] = [useNode(left), useNode(right)];
  return (
    <>
      <Facts left={left} right={right} nodes={[leftNode, rightNode]} />
      {texts.map(([part, one, other]) => (
        <section key={part} className="stack" aria-label={part}>
          <h2>{part}</h2>
          <SideBySide left={one} right={other} label={`Differences of ${part}`} />
        </section>
      ))}
      {leftNode && rightNode ? <StepsTable left={leftNode} right={rightNode} /> : null}
    </>
  );
};
