import { getAgent, getTool, type Usage, usageByModel } from '../../api/calls.ts';
import type { TreeLine, TreeNode } from './tree.ts';

/*
 * The parts of a trace: its agents, tools and models. A call is of the nearest agent at or above it, as the
 * service counts it, and of the tool and the models that it names itself.
 */

export type PartKind = 'agent' | 'tool' | 'model';

/** A part as the URL has it, `agent:planner`. `agent:` is what is outside of agents. */
export type PartKey = `${PartKind}:${string}`;

/** What is outside of agents. */
export const outside: PartKey = 'agent:';

/** A call with the parts that it is of. */
export interface Member {
  readonly node: TreeNode;
  readonly parent: Member | undefined;
  readonly agent: PartKey;
  readonly tool: PartKey | undefined;
  /** What it used of each model; undefined where it does not say. */
  readonly models: ReadonlyMap<PartKey, Usage | undefined>;
}

const modelsOf = (node: TreeNode): Member['models'] => {
  const used = [...usageByModel(node.call)];
  // A request that failed, or that runs, has no usage.
  if (used.length === 0 && node.kind === 'model')
    return new Map([[`model:${node.name}` as const, undefined]]);
  return new Map(used.map(([model, usage]) => [`model:${model}` as const, usage]));
};

/** The calls of a trace with their parts, in the order of its lines. @param all those of the whole tree */
export const toMembers = (all: readonly TreeLine[]): Member[] => {
  const above: Member[] = [];
  return all.map(({ node, depth }) => {
    above.length = depth;
    const parent = above.at(-1);
    const name = getAgent(node.call) ?? (node.kind === 'agent' ? node.name : undefined);
    const tool = node.kind === 'tool' ? (getTool(node.call) ?? node.name) : undefined;
    const member: Member = {
      node,
      parent,
      agent: name === undefined ? (parent?.agent ?? outside) : `agent:${name}`,
      tool: tool === undefined ? undefined : `tool:${tool}`,
      models: modelsOf(node),
    };
    above.push(member);
    return member;
  });
};

/** The calls that are of a part, by id. */
export const findMatching = (members: readonly Member[], part: string): ReadonlySet<string> => {
  const isOf = ({ agent, tool, models }: Member) =>
    agent === part || tool === part || models.has(part as PartKey);
  return new Set(members.filter(isOf).map(({ node }) => node.call.id));
};

/** Those calls, and all above them, which say where they are. */
export const withAbove = (members: readonly Member[], matching: ReadonlySet<string>): ReadonlySet<string> => {
  const kept = new Set<string>();
  for (const member of members) {
    if (!matching.has(member.node.call.id)) continue;
    for (let at: Member | undefined = member; at && !kept.has(at.node.call.id); at = at.parent)
      kept.add(at.node.call.id);
  }
  return kept;
};

/** The kind of a part, and its name; empty for what is outside of agents. */
export const splitPart = (part: string): readonly [kind: string, name: string] => {
  const at = part.indexOf(':');
  return [part.slice(0, at), part.slice(at + 1)];
};

/** A part in words: `agent planner`. */
export const partText = (part: string): string => {
  const [kind, name] = splitPart(part);
  return part === outside ? 'outside of agents' : `${kind} ${name}`;
};
