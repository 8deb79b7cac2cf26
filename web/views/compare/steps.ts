import { diffArrays } from 'diff';
import { linesOf, type TreeLine, type TreeNode } from '../trace/tree.ts';

/** A step of each trace beside the other; undefined where one has none. */
export interface StepPair {
  readonly left: TreeLine | undefined;
  readonly right: TreeLine | undefined;
}

const noneCollapsed: ReadonlySet<string> = new Set();

/** Traces with more steps are compared up to here. */
const maxSteps = 2000;

/** The node of a call in a forest, however deep it is. */
export const nodeIn = (forest: readonly TreeNode[], id: string): TreeNode | undefined => {
  const waiting = [...forest];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (node.call.id === id) return node;
    waiting.push(...node.children);
  }
  return undefined;
};

const stepsBelow = (node: TreeNode | undefined): TreeLine[] =>
  node ? linesOf(node.children, noneCollapsed).slice(0, maxSteps) : [];

const isSame = (one: TreeLine, other: TreeLine): boolean =>
  one.node.name === other.node.name && one.depth === other.depth;

/** Puts the steps below two calls beside each other, by their names and depths. */
export const pairsOf = (left: TreeNode | undefined, right: TreeNode | undefined): StepPair[] => {
  const [ours, theirs] = [stepsBelow(left), stepsBelow(right)];
  let [atLeft, atRight] = [0, 0];
  return diffArrays(ours, theirs, { comparator: isSame }).flatMap(({ added, removed, value }) =>
    value.map(() => ({
      left: added ? undefined : ours[atLeft++],
      right: removed ? undefined : theirs[atRight++],
    })),
  );
};
