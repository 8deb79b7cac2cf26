import { type Block, blocksOf } from './documents.ts';

/** A line of a comment: its number in the file, and its text without the marks of the comment. */
interface CommentLine {
  readonly number: number;
  readonly text: string;
}

/** How a comment begins that has its lines to itself. */
const opening = /^\s*\{?(\/\/|\/\*\*?)\s?/;

/**
 * The comments of a source file, each as its lines. Neighbouring lines of `//` are one comment. A
 * comment behind code is none here.
 */
const commentsOf = (source: string): CommentLine[][] => {
  const comments: CommentLine[][] = [];
  let open: 'block' | 'lines' | undefined;
  for (const [index, line] of source.split('\n').entries()) {
    const inBlock = open === 'block';
    const [begun, mark] = inBlock ? ['', '/*'] : (opening.exec(line) ?? []);
    if (mark === undefined || begun === undefined) {
      open = undefined;
      continue;
    }
    const kind = mark === '//' ? 'lines' : 'block';
    if (kind === 'block' ? !inBlock : open !== 'lines') comments.push([]);
    const rest = line.slice(begun.length);
    const closes = kind === 'block' && rest.includes('*/');
    const text = closes ? rest.replace(/\s*\*\/.*$/, '') : rest;
    comments.at(-1)?.push({ number: index + 1, text: inBlock ? text.replace(/^\s*\* ?/, '') : text });
    open = closes ? undefined : kind;
  }
  return comments;
};

/** A row of a table made of spaces, which is no sentence. */
const isRow = (text: string): boolean => /\S {2,}\S/.test(text);

/** The paragraphs of a source file's comments; a tag such as `@default` begins one of its own. */
export const commentBlocksOf = (source: string): Block[] =>
  commentsOf(source).flatMap((lines) => {
    const first = lines[0]?.number ?? 1;
    const prose = lines.map(({ text }) => (isRow(text) ? '' : text.replace(/^@\w+\s*/, '- ')));
    return blocksOf(prose.join('\n')).flatMap(({ line, text }) =>
      text.split(/ (?=@\w)/).map((each) => ({ line: first + line - 1, text: each })),
    );
  });
