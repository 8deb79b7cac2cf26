/** Keys have fewer segments than this; the rest of a longer one stays together. */
const maxSegments = 16;

interface Tree extends Map<string, Tree | { readonly leaf: unknown }> {}

const insert = (tree: Tree, segments: readonly string[], leaf: unknown): void => {
  let node = tree;
  for (const segment of segments.slice(0, -1)) {
    const next = node.get(segment);
    if (next instanceof Map) node = next;
    else {
      const child: Tree = new Map();
      // `a` beside `a.b`: the value of `a` moves below it.
      if (next !== undefined) child.set('value', next);
      node.set(segment, child);
      node = child;
    }
  }
  const last = segments.at(-1) ?? '';
  const there = node.get(last);
  if (there instanceof Map) there.set('value', { leaf });
  else node.set(last, { leaf });
};

const build = (node: Tree | { readonly leaf: unknown }): unknown => {
  if (!(node instanceof Map)) return node.leaf;
  const entries = [...node];
  if (entries.every(([key]) => /^\d+$/.test(key)))
    return entries.sort(([a], [b]) => Number(a) - Number(b)).map(([, child]) => build(child));
  return Object.fromEntries(entries.map(([key, child]) => [key, build(child)]));
};

/**
 * Nests flat keys at their dots. Objects whose keys are all numbers become lists, without gaps.
 *
 * @returns undefined for no keys
 */
export const unflatten = (entries: ReadonlyMap<string, unknown>): unknown => {
  if (entries.size === 0) return undefined;
  const tree: Tree = new Map();
  for (const [key, value] of entries) {
    const segments = key.split('.');
    const head = segments.slice(0, maxSegments - 1);
    const tail = segments.slice(maxSegments - 1);
    insert(tree, tail.length === 0 ? head : [...head, tail.join('.')], value);
  }
  return build(tree);
};
