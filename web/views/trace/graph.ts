import { Graph as Layout, layout } from '@dagrejs/dagre';
import { getTool, type Usage } from '../../api/calls.ts';
import { type Member, outside, type PartKey, splitPart } from '../../calls/trace/parts.ts';

/*
 * The parts of a trace as nodes, and who called whom as edges. Agents stand from left to right as they call each
 * other, with their tools and models after them.
 */

/** A part of a trace, with what its calls took. */
export interface GraphNode {
  readonly part: PartKey;
  readonly calls: number;
  readonly errors: number;
  /** Of its own calls, all units together; undefined without prices. */
  readonly cost: number | undefined;
}

/** How often a part called another, or handed over to it. */
export interface GraphEdge {
  readonly from: PartKey;
  readonly to: PartKey;
  readonly isHandOff: boolean;
  readonly count: number;
  /** What was called, with all below it; undefined without prices. */
  readonly cost: number | undefined;
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

const toCost = (usage: Usage | undefined): number | undefined =>
  usage?.cost && [...usage.cost.values()].reduce((sum, amount) => sum + amount, 0);

const plus = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined ? b : a + (b ?? 0);

/** Calls by which an agent gives control to another, by what frameworks call them. */
const handsOver = ({ node: { call, name } }: Member): boolean =>
  /^(?:execute_tool )?(?:hand[-_ ]?off|transfer_to_)/i.test(getTool(call) ?? name);

/** Where an agent begins to run: a call whose parent is another's, or nobody's. */
const isRun = ({ agent, parent }: Member): boolean => agent !== outside && agent !== parent?.agent;

const byStart = (a: Member, b: Member): number => a.node.start - b.node.start;

/** Who handed over to which run of an agent: the first one of another agent that begins after a hand-off. */
const findHandOffs = (members: readonly Member[]): ReadonlyMap<Member, PartKey> => {
  const found = new Map<Member, PartKey>();
  const runs = members.filter(isRun).sort(byStart);
  for (const handOff of members.filter(handsOver).sort(byStart)) {
    const { agent, node } = handOff;
    const next = runs.find((run) => !found.has(run) && run.node.start >= node.start && run.agent !== agent);
    if (next && agent !== outside) found.set(next, agent);
  }
  return found;
};

/**
 * The parts of a trace and who called whom. Agents call tools and models, and other agents where those begin
 * to run. Tools that hand over are edges, and no nodes.
 */
export const toGraph = (members: readonly Member[]): Graph => {
  const nodes = new Map<PartKey, GraphNode>();
  const edges = new Map<string, GraphEdge>();
  const add = (part: PartKey, isError: boolean, cost: number | undefined) => {
    const before = nodes.get(part) ?? { part, calls: 0, errors: 0, cost: undefined };
    nodes.set(part, {
      part,
      calls: before.calls + 1,
      errors: before.errors + Number(isError),
      cost: plus(before.cost, cost),
    });
  };
  const connect = (from: PartKey, to: PartKey, cost: number | undefined, isHandOff = false) => {
    const key = JSON.stringify([from, to, isHandOff]);
    const before = edges.get(key);
    const count = (before?.count ?? 0) + 1;
    edges.set(key, { from, to, isHandOff, count, cost: plus(before?.cost, cost) });
  };
  const given = findHandOffs(members);
  const givers = new Set(given.values());
  for (const member of members) {
    const { node, parent, agent, tool, models } = member;
    const below = toCost(node.totalUsage);
    add(agent, node.isError, toCost(node.usage));
    const giver = given.get(member);
    if (giver) connect(giver, agent, below, true);
    else if (isRun(member) && parent) connect(parent.agent, agent, below);
    if (tool && !(handsOver(member) && givers.has(agent))) {
      add(tool, node.isError, below);
      // A tool that stands for an agent is called by the one above.
      connect(isRun(member) && parent ? parent.agent : agent, tool, below);
    }
    for (const [model, usage] of models) {
      add(model, node.isError, toCost(usage));
      connect(agent, model, toCost(usage));
    }
  }
  // A script that does no more than start an agent would only take the room of a column.
  const started = [...edges.values()].filter(({ from }) => from === outside);
  const isTold = started.length > 1 || started.some(({ to }) => splitPart(to)[0] !== 'agent');
  return {
    nodes: [...nodes.values()].filter(({ part }) => part !== outside || isTold),
    edges: [...edges.values()].filter(({ from }) => from !== outside || isTold),
  };
};

/** How large a node is, in pixels. */
export const nodeSize = { width: 150, height: 44 } as const;

/** A node with its upper left corner. */
export interface PlacedNode extends GraphNode {
  readonly x: number;
  readonly y: number;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** An edge with the way it takes. */
export interface PlacedEdge extends GraphEdge {
  /** For the `d` of a path. */
  readonly path: string;
  /** Where its count stands. */
  readonly middle: Point;
  /** In pixels. */
  readonly width: number;
}

/** A graph in pixels. */
export interface PlacedGraph {
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
  readonly width: number;
  readonly height: number;
}

const widest = 9;
const thinnest = 1.25;

/** How wide an edge is: by its cost, or by its count where the trace has no prices. */
const edgeWidth = (edge: GraphEdge, edges: readonly GraphEdge[]): number => {
  const hasCosts = edges.some(({ cost = 0 }) => cost > 0);
  const amount = ({ cost = 0, count }: GraphEdge) => (hasCosts ? cost : count);
  const most = Math.max(...edges.map(amount));
  return thinnest + (widest - thinnest) * (most > 0 ? amount(edge) / most : 0);
};

/** Of more lines, dagre does not look for the order in which the fewest cross: that would take a second. */
const maxUntangled = 250;

const pointText = ({ x, y }: Point): string => `${x.toFixed(1)} ${y.toFixed(1)}`;

/** A curve along points, which it passes by and does not touch but at its ends. */
const toPath = (points: readonly Point[]): string => {
  const [first, second, ...rest] = points;
  const last = points.at(-1);
  if (!first || !second || !last) return '';
  const curves = [second, ...rest].slice(0, -1).map((point, at, all) => {
    const next = at === all.length - 1 ? last : (all[at + 1] ?? last);
    const isEnd = next === last;
    return `Q${pointText(point)} ${pointText(isEnd ? last : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 })}`;
  });
  return `M${pointText(first)}${curves.length > 0 ? curves.join('') : `L${pointText(last)}`}`;
};

/** The way of an edge. One to the next column leaves a node in the middle of its side, and meets the other there. */
const toWay = (points: readonly Point[], from: Point, to: Point): Pick<PlacedEdge, 'path' | 'middle'> => {
  const half = nodeSize.width / 2;
  const start = { x: from.x + half, y: from.y };
  const end = { x: to.x - half, y: to.y };
  const isNext = points.length === 3 && end.x > start.x;
  if (!isNext)
    return { path: toPath(points), middle: points[Math.floor(points.length / 2)] ?? { x: 0, y: 0 } };
  const x = (start.x + end.x) / 2;
  return {
    path: `M${pointText(start)}C${pointText({ x, y: start.y })} ${pointText({ x, y: end.y })} ${pointText(end)}`,
    middle: { x, y: (start.y + end.y) / 2 },
  };
};

/** Lays a graph out. An edge of a node to itself is above it. */
export const placeGraph = ({ nodes, edges }: Graph): PlacedGraph => {
  const graph = new Layout({ multigraph: true });
  graph.setGraph({
    rankdir: 'LR',
    nodesep: 14,
    edgesep: 10,
    ranksep: 28,
    marginx: 10,
    marginy: 16,
    // The default finds slightly shorter lines, and takes several times as long.
    ranker: 'tight-tree',
  });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { part } of nodes) graph.setNode(part, { ...nodeSize });
  for (const { from, to, isHandOff, count } of edges)
    graph.setEdge(
      from,
      to,
      // Agents that call each other decide on the order. Only a count of several is written.
      {
        width: count > 1 ? 20 : 0,
        height: count > 1 ? 14 : 0,
        labelpos: 'c',
        weight: splitPart(to)[0] === 'agent' ? 3 : 1,
      },
      String(isHandOff),
    );
  layout(graph, { disableOptimalOrderHeuristic: edges.length > maxUntangled });
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return {
    nodes: nodes.map((node) => {
      const { x, y } = graph.node(node.part) as Point;
      return { ...node, x: x - nodeSize.width / 2, y: y - nodeSize.height / 2 };
    }),
    edges: edges.map((edge) => {
      const { from: v, to: w, isHandOff } = edge;
      const { points } = graph.edge({ v, w, name: String(isHandOff) }) as { points: Point[] };
      const way = toWay(points, graph.node(v) as Point, graph.node(w) as Point);
      return { ...edge, ...way, width: edgeWidth(edge, edges) };
    }),
    width,
    height,
  };
};
