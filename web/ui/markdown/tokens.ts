import MarkdownIt, { type Token } from 'markdown-it';

export type { Token };

/** The schemes that a link may have. Whatever else looks like a link stays the text it is. */
const schemes = /^(?:https?:\/\/|mailto:)/i;

/** More would be too many elements for one message. */
const maxTokens = 4000;

const parser = new MarkdownIt({ html: false, linkify: false, breaks: true });
parser.set({ maxNesting: 20 });
parser.validateLink = (url) => schemes.test(url);

const countOf = (tokens: readonly Token[]): number =>
  tokens.reduce((sum, { children }) => sum + 1 + (children?.length ?? 0), 0);

/** Reads a text as Markdown (CommonMark and tables); undefined if it has too many parts to show. */
export const tokensOf = (text: string): readonly Token[] | undefined => {
  const tokens = parser.parse(text, {});
  return countOf(tokens) > maxTokens ? undefined : tokens;
};
