/** A value of a tree as a line. */
export interface JsonLine {
  /** Its dotted path, which is also its identity. */
  readonly path: string;
  /** Its key in the object or list around it; empty for the whole. */
  readonly label: string;
  readonly value: unknown;
  readonly depth: number;
  /** The number of its members; undefined for what has none. */
  readonly size: number | undefined;
  readonly expanded: boolean;
}

/** Where a tree begins. */
export interface JsonRoot {
  readonly value: unknown;
  readonly path: string;
}

/** How many lines a search gives at most, and how many values it looks at. */
const maxFound = 1000;
const maxVisited = 500_000;

/** The members of an object or list; undefined for any other value. */
const getMembers = (value: unknown): readonly (readonly [string, unknown])[] | undefined =>
  typeof value === 'object' && value !== null ? Object.entries(value) : undefined;

const join = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

const getSize = (value: unknown): number | undefined => {
  if (typeof value !== 'object' || value === null) return undefined;
  return Array.isArray(value) ? value.length : Object.keys(value).length;
};

/** The lines of a tree whose members are only looked at where it is open. */
export const toLines = ({ value, path }: JsonRoot, expanded: ReadonlySet<string>): JsonLine[] => {
  const lines: JsonLine[] = [];
  const waiting: { path: string; label: string; value: unknown; depth: number }[] = [];
  const open = (value: unknown, at: string, depth: number) => {
    const members = getMembers(value) ?? [];
    for (let index = members.length - 1; index >= 0; index--) {
      const [key, member] = members[index] ?? ['', undefined];
      waiting.push({ path: join(at, key), label: key, value: member, depth });
    }
  };
  if (getMembers(value)) open(value, path, 0);
  else waiting.push({ path, label: '', value, depth: 0 });
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const size = getSize(next.value);
    const isOpen = size !== undefined && size > 0 && expanded.has(next.path);
    lines.push({ ...next, size, expanded: isOpen });
    if (isOpen) open(next.value, next.path, next.depth + 1);
  }
  return lines;
};

/** What a search found, and whether there may be more of it. */
interface Found {
  readonly lines: readonly JsonLine[];
  readonly cut: boolean;
}

/** The keys and values that contain a text, wherever they are. */
export const search = ({ value, path }: JsonRoot, sought: string): Found => {
  const lower = sought.toLowerCase();
  const lines: JsonLine[] = [];
  const waiting: { path: string; label: string; value: unknown }[] = [{ path, label: '', value }];
  let visited = 0;
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    visited++;
    if (visited > maxVisited || lines.length >= maxFound) return { lines, cut: true };
    const members = getMembers(next.value);
    const text = members ? '' : String(next.value);
    if (next.label.toLowerCase().includes(lower) || text.toLowerCase().includes(lower))
      lines.push({ ...next, label: next.path, depth: 0, size: getSize(next.value), expanded: false });
    for (const [key, member] of (members ?? []).toReversed())
      waiting.push({ path: join(next.path, key), label: key, value: member });
  }
  return { lines, cut: false };
};

/** How many lines are open at first: as much as fits, level by level. */
const openAtFirst = 60;

/** The paths that are open at first. */
export const firstOpen = (root: JsonRoot): ReadonlySet<string> => {
  const open = new Set<string>();
  let level = [root];
  let lines = getSize(root.value) ?? 1;
  while (level.length > 0 && lines <= openAtFirst) {
    const next: JsonRoot[] = [];
    for (const { value, path } of level) {
      for (const [key, member] of getMembers(value) ?? []) {
        const size = getSize(member) ?? 0;
        if (size === 0 || lines + size > openAtFirst) continue;
        lines += size;
        open.add(join(path, key));
        next.push({ value: member, path: join(path, key) });
      }
    }
    level = next;
  }
  return open;
};

/**
 * A value as JSON, indented if it is no text. Texts are copied as they are.
 *
 * @throws RangeError if it is nested too deeply to be written
 */
export const copyText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value, null, 2);
