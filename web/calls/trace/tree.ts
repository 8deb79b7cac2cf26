import {
  type CallRow,
  getAgent,
  getCallName,
  getStatus,
  getWait,
  parseTime,
  sumUsage,
  type Usage,
  usageByModel,
} from '../../api/calls.ts';
import { getKind, type Kind } from '../../api/kind.ts';

/** A call in the tree of its trace. */
export interface TreeNode {
  readonly call: CallRow;
  readonly name: string;
  readonly kind: Kind;
  /** The first and the last model call of the call and all below it. */
  readonly firstModel: CallRow | undefined;
  readonly lastModel: CallRow | undefined;
  readonly children: readonly TreeNode[];
  /** When it started and ended, in ms since 1970; a running call ends when the trace was read. */
  readonly start: number;
  readonly end: number;
  /** The part of its time that no child covers, in ms. */
  readonly ownMs: number;
  /** How much of its time it, or calls below it, waited for a person, as far as they say, in ms. */
  readonly waitedMs: number;
  readonly usage: Usage | undefined;
  /** The usage of the call and all calls below it. */
  readonly totalUsage: Usage | undefined;
  readonly isError: boolean;
}

/** A node as a line of the view. */
export interface TreeLine {
  readonly node: TreeNode;
  /** From 0 for roots. */
  readonly depth: number;
  readonly expanded: boolean;
  /** The agent that it is of, where neither its name nor the call above says so. @default - none */
  readonly agent?: string;
}

/** The time of a span that no child covers. Children may overlap. */
const ownTime = (start: number, end: number, children: readonly TreeNode[]): number => {
  let covered = 0;
  let at = start;
  for (const child of children) {
    const from = Math.max(at, child.start);
    const to = Math.min(end, child.end);
    if (to <= from) continue;
    covered += to - from;
    at = to;
  }
  return Math.max(0, end - start - covered);
};

/** A wait that several calls tell of is one: those above a call that waited wait for it. */
const waitedTime = (call: CallRow, span: number, children: readonly TreeNode[]): number => {
  const own = getWait(call);
  const below = children.reduce((sum, { waitedMs }) => sum + waitedMs, 0);
  return Math.min(Math.max(0, span), Math.max(typeof own === 'number' ? own : 0, below));
};

const definedUsages = (usages: readonly (Usage | undefined)[]): Usage[] =>
  usages.filter((usage) => usage !== undefined);

const toNode = (call: CallRow, children: readonly TreeNode[], now: number): TreeNode => {
  const start = parseTime(call.started_at);
  const end = Number.isNaN(parseTime(call.ended_at)) ? now : parseTime(call.ended_at);
  const usage = sumUsage(usageByModel(call).values());
  const kind = getKind(call);
  const own = kind === 'model' ? call : undefined;
  const firstModel = own ?? children.find((child) => child.firstModel)?.firstModel;
  const lastModel = children.findLast((child) => child.lastModel)?.lastModel ?? own;
  return {
    call,
    name: getCallName(call),
    kind,
    firstModel,
    lastModel,
    children,
    start,
    end,
    ownMs: ownTime(start, end, children),
    waitedMs: waitedTime(call, end - start, children),
    usage,
    totalUsage: sumUsage(definedUsages([usage, ...children.map((child) => child.totalUsage)])),
    isError: getStatus(call) === 'error',
  };
};

/** The children of each call, by its id; null holds the roots and those whose parent is missing. */
const childrenById = (calls: readonly CallRow[]): Map<string | null, CallRow[]> => {
  const ids = new Set(calls.map(({ id }) => id));
  return Map.groupBy(calls, ({ id, parent_id = null }) =>
    parent_id !== null && parent_id !== id && ids.has(parent_id) ? parent_id : null,
  );
};

/**
 * The calls that lead to `null` first, children after their parents. What is left hangs in circles,
 * which clients can report: each circle is cut open at its first call.
 */
const topDown = (calls: readonly CallRow[], byParent: Map<string | null, CallRow[]>): CallRow[] => {
  const ordered: CallRow[] = [];
  const seen = new Set<string>();
  const visit = (from: readonly CallRow[]) => {
    const waiting = from.filter(({ id }) => !seen.has(id));
    for (const { id } of waiting) seen.add(id);
    while (waiting.length > 0) {
      const call = waiting.pop();
      if (!call) return;
      ordered.push(call);
      for (const child of byParent.get(call.id) ?? []) {
        if (seen.has(child.id)) continue;
        seen.add(child.id);
        waiting.push(child);
      }
    }
  };
  visit(byParent.get(null) ?? []);
  for (const call of calls) {
    if (seen.has(call.id)) continue;
    byParent.set(null, [...(byParent.get(null) ?? []), call]);
    byParent.set(
      call.parent_id ?? null,
      (byParent.get(call.parent_id ?? null) ?? []).filter((c) => c !== call),
    );
    visit([call]);
  }
  return ordered;
};

/**
 * Makes the forest of a trace, roots and siblings by their start. It does without recursion: calls
 * may be nested as deeply as clients like.
 *
 * @param calls in order of their start
 * @param now ms since 1970, where running calls end for now
 */
export const toTree = (calls: readonly CallRow[], now: number): TreeNode[] => {
  const byParent = childrenById(calls);
  const nodes = new Map<string, TreeNode>();
  const childNodes = (id: string | null): TreeNode[] =>
    (byParent.get(id) ?? []).flatMap((child) => nodes.get(child.id) ?? []);
  const ordered = topDown(calls, byParent);
  for (const call of ordered.reverse()) nodes.set(call.id, toNode(call, childNodes(call.id), now));
  return childNodes(null);
};

const none: ReadonlySet<string> = new Set();

/** The lines of a forest, without what is below collapsed nodes, and without calls that are hidden with all below. */
export const toLines = (
  forest: readonly TreeNode[],
  collapsed: ReadonlySet<string> = none,
  hidden: ReadonlySet<string> = none,
): TreeLine[] => {
  const lines: TreeLine[] = [];
  const placed = (nodes: readonly TreeNode[], depth: number, within: string | undefined) =>
    nodes.toReversed().map((node) => ({ node, depth, within }));
  const waiting = placed(forest, 0, undefined);
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { node, depth, within } = next;
    if (hidden.has(node.call.id)) continue;
    const expanded = !collapsed.has(node.call.id);
    const agent = getAgent(node.call);
    const isNew = agent !== undefined && agent !== within && agent !== node.name;
    lines.push({ node, depth, expanded, ...(isNew && { agent }) });
    if (expanded) waiting.push(...placed(node.children, depth + 1, agent ?? within));
  }
  return lines;
};

/** All nodes of a forest that have children. */
export const findParents = (forest: readonly TreeNode[]): string[] =>
  toLines(forest).flatMap(({ node }) => (node.children.length > 0 ? [node.call.id] : []));

/** The parents above a call, whose lines must be open for it to be seen. */
export const findAncestors = (calls: readonly CallRow[], id: string): string[] => {
  const byId = new Map(calls.map((call) => [call.id, call]));
  const found = new Set<string>();
  let parent = byId.get(id)?.parent_id ?? null;
  while (parent !== null && !found.has(parent)) {
    found.add(parent);
    parent = byId.get(parent)?.parent_id ?? null;
  }
  return [...found];
};

/** Whether a line is what somebody looks for in the tree: by name, operation, agent, model or id. */
export const matches = ({ node }: TreeLine, sought: string): boolean => {
  const { call, name } = node;
  const texts = [name, call.op_name, getAgent(call) ?? '', call.id, ...usageByModel(call).keys()];
  return texts.some((text) => text.toLowerCase().includes(sought));
};
