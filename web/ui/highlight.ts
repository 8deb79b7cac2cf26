import { common, createLowlight } from 'lowlight';
import { createElement, type ReactNode, useMemo } from 'react';

const lowlight = createLowlight(common);

/** A piece of a line, and what it is in the language: `hljs-string`. */
export interface CodePiece {
  readonly text: string;
  readonly kind: string | undefined;
}

type Nodes = ReturnType<typeof lowlight.highlight>['children'];

/**
 * Reads code in a language.
 *
 * @returns the pieces of each line; undefined for a language that it does not know
 */
export const highlightLines = (text: string, language: string): CodePiece[][] | undefined => {
  if (!lowlight.registered(language)) return undefined;
  const lines: CodePiece[][] = [[]];
  const walk = (nodes: Nodes, kind: string | undefined): void => {
    for (const node of nodes) {
      if (node.type === 'element') {
        const names = node.properties.className;
        walk(node.children, Array.isArray(names) ? names.join(' ') : kind);
      }
      if (node.type !== 'text') continue;
      for (const [at, piece] of node.value.split('\n').entries()) {
        if (at > 0) lines.push([]);
        if (piece !== '') lines.at(-1)?.push({ text: piece, kind });
      }
    }
  };
  walk(lowlight.highlight(language, text).children, undefined);
  return lines;
};

interface HighlightedProps {
  readonly text: string;
  readonly language: string;
  /** Puts a line into its row. */
  readonly toRow: (content: ReactNode, at: number) => ReactNode;
  /** Stands there for a language that is not known. */
  readonly fallback: ReactNode;
}

/** Lines of code in the colors of its language, with the library behind it. */
export const Highlighted = ({ text, language, toRow, fallback }: HighlightedProps): ReactNode => {
  const lines = useMemo(() => highlightLines(text, language), [text, language]);
  if (!lines) return fallback;
  return lines.map((line, row) =>
    toRow(
      line.map(({ text: piece, kind }, at) =>
        kind === undefined ? piece : createElement('span', { key: at, className: kind }, piece),
      ),
      row,
    ),
  );
};
