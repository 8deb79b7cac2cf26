import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

/** The repository's folder, absolute. */
export const repository = root;

/** Paths below the repository that match a pattern, sorted, without what is installed or made. */
export const filesLike = (...patterns: string[]): string[] =>
  globSync(patterns, {
    cwd: root,
    exclude: ['**/node_modules', 'cdk.out', '.git', '.local', 'coverage', 'dist'],
  }).toSorted();

/** A file's text, by its path below the repository. */
export const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Every Markdown file, `README.md` and `test/otel/README.md`, say. */
export const documents = filesLike('**/*.md', '.github/**/*.md');

/** Every source file, without what generators of others wrote. */
export const sources = filesLike('**/*.{ts,tsx,mjs}').filter((file) => !file.startsWith('core/otel/proto/'));

/** A line of a document, and whether it is code. */
interface Line {
  readonly number: number;
  readonly text: string;
  readonly code: boolean;
}

/** The lines of a document, from 1; those of fenced code, fences included, are code. */
export const linesOf = (markdown: string): Line[] => {
  let fence: string | undefined;
  return markdown.split('\n').map((text, index) => {
    const [, mark] = /^\s*(```+)/.exec(text) ?? [];
    const code = fence !== undefined || mark !== undefined;
    if (fence === undefined) fence = mark;
    else if (mark !== undefined && mark.length >= fence.length) fence = undefined;
    return { number: index + 1, text, code };
  });
};

/** Whether a line is prose: no code, no row of a table, no comment. */
const isProse = ({ text, code }: Line): boolean => !code && !/^\s*(\||<!--)/.test(text);

/** The lines of prose of a document, headings among them. */
export const proseOf = (markdown: string): Line[] => linesOf(markdown).filter(isProse);

/** A paragraph, a heading or an item of a list, its lines joined. */
export interface Block {
  /** The number of its first line. */
  readonly line: number;
  readonly text: string;
}

/** Where a block of its own begins: at a heading or an item of a list. */
const begins = /^\s*(#+|[-*+]|\d+[.)])\s+/;

/** The blocks of a document's prose; tables and code part them. */
export const blocksOf = (markdown: string): Block[] => {
  const blocks: Block[] = [];
  let open = false;
  for (const line of linesOf(markdown)) {
    const last = blocks.at(-1);
    if (!isProse(line) || line.text.trim() === '') open = false;
    else if (last && open && !begins.test(line.text))
      blocks[blocks.length - 1] = { line: last.line, text: `${last.text} ${line.text.trim()}` };
    else {
      blocks.push({ line: line.number, text: line.text.replace(begins, '').trim() });
      open = !line.text.startsWith('#');
    }
  }
  return blocks;
};

/** Anchors of a document's headings, as GitHub makes them. */
export const anchorsOf = (markdown: string): Set<string> => {
  const anchors = new Set<string>();
  for (const { text, code } of linesOf(markdown)) {
    const [, heading] = /^#+ (.+)$/.exec(text) ?? [];
    if (code || heading === undefined) continue;
    const anchor = heading
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-');
    let [name, count] = [anchor, 0];
    while (anchors.has(name)) name = `${anchor}-${++count}`;
    anchors.add(name);
  }
  return anchors;
};
