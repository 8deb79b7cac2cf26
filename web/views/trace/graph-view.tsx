import { CircleAlert } from 'lucide-react';
import { useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { Kind } from '../../api/kind.ts';
import { KindIcon } from '../../calls/kind-icon.tsx';
import { outside, partText, splitPart } from '../../calls/trace/parts.ts';
import type { TraceState } from '../../calls/trace/trace-state.ts';
import { costText, countedText, countText } from '../../data/format.ts';
import { type GraphEdge, nodeSize, type PlacedEdge, type PlacedNode, placeGraph, toGraph } from './graph.ts';

/** What a node did, in a line. */
const factsText = ({ calls, cost = 0 }: PlacedNode): string =>
  [countedText(calls, 'call'), ...(cost > 0 ? [costText(cost)] : [])].join(' · ');

const errorsText = ({ errors }: PlacedNode): string => (errors > 0 ? countedText(errors, 'error') : '');

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
      className={`graph-node ${faded ? 'faded' : ''}`}
      data-kind={kind}
      aria-pressed={chosen}
      title={[partText(node.part), factsText(node), errorsText(node), about]
        .filter((text) => text !== '')
        .join('\n')}
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
      {node.errors > 0 ? (
        <span className="error-text graph-errors" aria-hidden="true">
          <CircleAlert /> {countText(node.errors)}
        </span>
      ) : null}
      <span className="cut graph-facts">{factsText(node)}</span>
      {node.errors > 0 ? <span className="hidden"> · {errorsText(node)}</span> : null}
      {about === '' ? null : <span className="hidden">. It {about}</span>}
    </button>
  );
};

const Edge = ({ edge, faded }: { edge: PlacedEdge; faded: boolean }) => {
  const { x, y } = edge.middle;
  return (
    <g className={`graph-edge ${edge.isHandOff ? 'hand-off' : ''} ${faded ? 'faded' : ''}`}>
      <path d={edge.path} strokeWidth={edge.width} markerEnd="url(#graph-arrow)" />
      {edge.count > 1 ? (
        <text x={x} y={y}>
          {countText(edge.count)}×
        </text>
      ) : null}
    </g>
  );
};

/** A graph is drawn as small as this, so that it fits; a wider one is scrolled. */
const leastScale = 0.8;

/** How large a graph of a width is drawn where it has its place. */
const useScale = (width: number) => {
  const place = useRef<HTMLDivElement>(null);
  const [scale, setScale] = useState(1);
  useLayoutEffect(() => {
    const { current: host } = place;
    if (!host) return;
    const rescale = () => setScale(Math.min(1, Math.max(leastScale, host.clientWidth / (width || 1))));
    rescale();
    const sizes = new ResizeObserver(rescale);
    sizes.observe(host);
    return () => sizes.disconnect();
  }, [width]);
  return { place, scale };
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
  const { place, scale } = useScale(width);
  const isNear = (part: string) =>
    part === only ||
    edges.some(({ from, to }) => (from === only && to === part) || (to === only && from === part));
  const isChosen = nodes.some(({ part }) => part === only);
  if (nodes.length === 0) return <p className="muted center">This trace names no agents, tools or models.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls by keyboard
    <div ref={place} className="graph-scroll" role="region" aria-label="Graph" tabIndex={0}>
      <div className="graph" style={{ inlineSize: width, blockSize: height, zoom: scale }}>
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
