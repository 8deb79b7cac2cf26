import { useMemo } from 'react';
import type { Kind } from '../../api/kind.ts';
import { KindIcon } from '../../calls/kind-icon.tsx';
import { outside, partText, splitPart } from '../../calls/trace/parts.ts';
import type { TraceState } from '../../calls/trace/trace-state.ts';
import { costText, countedText, countText } from '../../data/format.ts';
import { type GraphEdge, nodeSize, type PlacedEdge, type PlacedNode, placeGraph, toGraph } from './graph.ts';

/** What a node did, in a line. */
const factsText = ({ calls, errors, cost = 0 }: PlacedNode): string =>
  [
    countedText(calls, 'call'),
    ...(cost > 0 ? [costText(cost)] : []),
    ...(errors > 0 ? [countedText(errors, 'error')] : []),
  ].join(' · ');

/** What a node calls and hands over to, for screen readers and the pointer. */
const callsText = (edges: readonly GraphEdge[]): string =>
  edges
    .map(({ to, isHandOff, count, cost = 0 }) => {
      const verb = isHandOff ? 'hands over to' : 'calls';
      return `${verb} ${partText(to)} ${countText(count)}×${cost > 0 ? ` for ${costText(cost)}` : ''}`;
    })
    .join('; ');

interface NodeProps {
  readonly node: PlacedNode;
  readonly edges: readonly GraphEdge[];
  readonly chosen: boolean;
  readonly faded: boolean;
  readonly onClick: () => void;
}

const Node = ({ node, edges, chosen, faded, onClick }: NodeProps) => {
  const [named, name] = splitPart(node.part);
  const kind = node.part === outside ? 'other' : (named as Kind);
  const about = callsText(edges.filter(({ from }) => from === node.part));
  return (
    <button
      type="button"
      className={`graph-node ${node.errors > 0 ? 'failed' : ''} ${faded ? 'faded' : ''}`}
      data-kind={kind}
      aria-pressed={chosen}
      title={[partText(node.part), factsText(node), about].filter((text) => text !== '').join('\n')}
      style={{
        insetInlineStart: node.x,
        insetBlockStart: node.y,
        inlineSize: nodeSize.width,
        blockSize: nodeSize.height,
      }}
      onClick={onClick}
    >
      <KindIcon kind={kind} />
      <span className="cut graph-name" dir="auto">
        {name || partText(node.part)}
      </span>
      <span className="cut graph-facts">{factsText(node)}</span>
      {about === '' ? null : <span className="hidden">. It {about}</span>}
    </button>
  );
};

const Edge = ({ edge, faded }: { edge: PlacedEdge; faded: boolean }) => {
  const { x, y } = edge.middle;
  return (
    <g className={`graph-edge ${edge.isHandOff ? 'hand-off' : ''} ${faded ? 'faded' : ''}`}>
      <path d={edge.path} strokeWidth={edge.width} markerEnd="url(#graph-arrow)" />
      <text x={x} y={y}>
        {countText(edge.count)}×
      </text>
    </g>
  );
};

interface GraphViewProps {
  readonly state: TraceState;
  /** The part whose calls alone are shown. @default - none */
  readonly only: string | undefined;
  readonly onOnly: (part: string | undefined) => void;
}

/** The agents, tools and models of a trace, and who called whom. */
export const GraphView = ({ state: { members }, only, onOnly }: GraphViewProps) => {
  const { nodes, edges, width, height } = useMemo(() => placeGraph(toGraph(members)), [members]);
  const isNear = (part: string) =>
    part === only ||
    edges.some(({ from, to }) => (from === only && to === part) || (to === only && from === part));
  const isChosen = nodes.some(({ part }) => part === only);
  if (nodes.length === 0) return <p className="muted center">This trace names no agents, tools or models.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls by keyboard
    <div className="graph-scroll" role="region" aria-label="Graph" tabIndex={0}>
      <div className="graph" style={{ inlineSize: width, blockSize: height }}>
        <svg width={width} height={height} aria-hidden="true">
          <defs>
            <marker
              id="graph-arrow"
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="9"
              markerHeight="9"
              markerUnits="userSpaceOnUse"
              orient="auto"
            >
              <path d="M0 0L8 4L0 8z" />
            </marker>
          </defs>
          {edges.map((edge) => (
            <Edge
              key={JSON.stringify([edge.from, edge.to, edge.isHandOff])}
              edge={edge}
              faded={isChosen && edge.from !== only && edge.to !== only}
            />
          ))}
        </svg>
        {nodes.map((node) => (
          <Node
            key={node.part}
            node={node}
            edges={edges}
            chosen={node.part === only}
            faded={isChosen && !isNear(node.part)}
            onClick={() => onOnly(node.part === only ? undefined : node.part)}
          />
        ))}
      </div>
      <p className="graph-legend muted">
        A line is as wide as what it cost. Dashed lines are hand-offs. Choose a part to see its calls alone in
        the other views.
      </p>
    </div>
  );
};
