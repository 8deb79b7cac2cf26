/** How deep a value is written out, and how many characters in all: the rest is cut. */
const maxDepth = 60;
const maxLength = 400_000;

type Members = readonly (readonly [string, unknown])[];

/** The members of an object by name, or of a list; undefined for any other value. */
const membersOf = (value: unknown): Members | undefined => {
  if (Array.isArray(value)) return value.map((member: unknown, at) => [String(at), member]);
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
};

/** A text that would look like another value, or like none. In quotes it does not. */
const ambiguous = /^(|".*"|null|undefined|true|false|\[\]|\{\}|-?\d+(\.\d+)?(e[+-]?\d+)?)$/i;

const textLine = (text: string): string => (ambiguous.test(text) ? JSON.stringify(text) : text);

/** A value that takes one line; undefined for one that has members to write, or lines. */
const lineOf = (value: unknown, members: Members | undefined, depth: number): string | undefined => {
  if (typeof value === 'string') return value.includes('\n') ? undefined : textLine(value);
  if (!members) return String(value);
  if (members.length === 0) return Array.isArray(value) ? '[]' : '{}';
  return depth >= maxDepth ? '…' : undefined;
};

/**
 * A value as lines that can be compared: a key a line, texts with their own lines, keys in order of
 * the alphabet. `4711` is a number and `"4711"` a text; other texts have no quotes.
 */
export const valueText = (value: unknown): string => {
  const lines: string[] = [];
  let length = 0;
  const add = (depth: number, text: string) => {
    length += text.length;
    lines.push('  '.repeat(depth) + text);
  };
  const write = (key: string, of: unknown, depth: number): void => {
    if (length > maxLength) return;
    const members = membersOf(of);
    const line = lineOf(of, members, depth);
    if (line !== undefined) {
      add(depth, key === '' ? line : `${key} ${line}`);
      return;
    }
    if (key !== '') add(depth, key);
    const below = key === '' ? depth : depth + 1;
    if (typeof of === 'string') for (const text of of.split('\n')) add(below, text);
    for (const [name, member] of members ?? []) write(`${name}:`, member, below);
  };
  write('', value, 0);
  if (length > maxLength) lines.push('… the rest is too long to compare');
  return lines.join('\n');
};
