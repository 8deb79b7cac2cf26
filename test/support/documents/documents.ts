import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../../..');

/** The repository's folder, absolute. */
export const repository = root;

/** Paths below the repository that match a pattern, sorted, without what is installed or made. */
export const filesLike = (...patterns: string[]): string[] =>
  globSync(patterns, {
    cwd: root,
    exclude: ['**/node_modules', 'cdk.out', '.git', '.local', 'coverage', 'dist'],
  }).toSorted();

/** A file's text, by its path below the repository. */
export const readText = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Every Markdown file, `README.md` and `test/otel/README.md`, say. */
export const documents = filesLike('**/*.md', '.github/**/*.md');

/** A line of a document, and whether it is code. */
interface Line {
  readonly number: number;
  readonly text: string;
  readonly code: boolean;
}

/** The lines of a document, from 1; those of fenced code, fences included, are code. */
export const toLines = (markdown: string): Line[] => {
  let fence: string | undefined;
  return markdown.split('\n').map((text, index) => {
    const [, mark] = /^\s*(```+)/.exec(text) ?? [];
    const code = fence !== undefined || mark !== undefined;
    if (fence === undefined) fence = mark;
    else if (mark !== undefined && mark.length >= fence.length) fence = undefined;
    return { number: index + 1, text, code };
  });
};

/** Anchors of a document's headings, as GitHub makes them. */
export const findAnchors = (markdown: string): Set<string> => {
  const anchors = new Set<string>();
  for (const { text, code } of toLines(markdown)) {
    const [, heading] = /^#+ (.+)$/.exec(text) ?? [];
    if (code || heading === undefined) continue;
    const anchor = heading
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-');
    let name = anchor;
    let count = 0;
    while (anchors.has(name)) name = `${anchor}-${++count}`;
    anchors.add(name);
  }
  return anchors;
};
