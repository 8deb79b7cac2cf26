import MarkdownIt, { type Token } from 'markdown-it';
import { createElement, Fragment, type FunctionComponent, type ReactNode, useMemo } from 'react';

/** The schemes that a link may have. Whatever else looks like a link stays the text it is. */
const schemes = /^(?:https?:\/\/|mailto:)/i;

/** More would be too many elements for one message. */
const maxTokens = 4000;

const parser = new MarkdownIt({ html: false, linkify: false, breaks: true });
parser.set({ maxNesting: 20 });
parser.validateLink = (url) => schemes.test(url);

const countTokens = (tokens: readonly Token[]): number =>
  tokens.reduce((sum, { children }) => sum + 1 + (children?.length ?? 0), 0);

/** Reads a text as Markdown (CommonMark and tables); undefined if it has too many parts to show. */
export const parseMarkdown = (text: string): readonly Token[] | undefined => {
  const tokens = parser.parse(text, {});
  return countTokens(tokens) > maxTokens ? undefined : tokens;
};

/** The elements that Markdown may become. Headings are no headings of the page. */
const elements: Readonly<Record<string, string>> = {
  p: 'p',
  h1: 'p',
  h2: 'p',
  h3: 'p',
  h4: 'p',
  h5: 'p',
  h6: 'p',
  ul: 'ul',
  ol: 'ol',
  li: 'li',
  blockquote: 'blockquote',
  strong: 'strong',
  em: 'em',
  s: 's',
  a: 'a',
  table: 'table',
  thead: 'thead',
  tbody: 'tbody',
  tr: 'tr',
  th: 'th',
  td: 'td',
};

/** An element that is open, with what came into it so far. */
interface Frame {
  readonly token: Token | undefined;
  readonly children: ReactNode[];
}

const getProps = (token: Token): object => {
  const { tag } = token;
  if (/^h\d$/.test(tag)) return { className: `heading ${tag}`, dir: 'auto' };
  if (tag === 'a') {
    const href = token.attrGet('href') ?? '';
    return { href, title: href, target: '_blank', rel: 'noopener noreferrer' };
  }
  if (tag === 'ol') return { start: Number(token.attrGet('start') ?? 1) };
  const align = /text-align:(left|right|center)/.exec(String(token.attrGet('style') ?? ''))?.[1];
  if (tag === 'th' || tag === 'td') return { ...(align && { style: { textAlign: align } }), dir: 'auto' };
  return tag === 'p' || tag === 'li' ? { dir: 'auto' } : {};
};

const closed = ({ token, children }: Frame, key: number): ReactNode => {
  const tag = token && elements[token.tag];
  // A list without gaps has no paragraphs around its items.
  if (!token || !tag || token.hidden) return createElement('span', { key, className: 'bare' }, ...children);
  const element = createElement(tag, { key, ...getProps(token) }, ...children);
  if (tag !== 'table') return element;
  // It scrolls, so the keyboard must reach it.
  const scroller = { key, className: 'scroll-x', role: 'region', 'aria-label': 'Table', tabIndex: 0 };
  return createElement('div', scroller, element);
};

/** The language that a block of code says it is in; undefined for none. */
const languageIn = (info: string): string | undefined => /^\s*([\w+#-]+)/.exec(info)?.[1]?.toLowerCase();

/** What shows a block of code. */
type CodeBlock = FunctionComponent<{ readonly text: string; readonly language: string | undefined }>;

const leaf = (token: Token, key: number, code: CodeBlock, showText: ShowText): ReactNode => {
  switch (token.type) {
    case 'softbreak':
    case 'hardbreak':
      return createElement('br', { key });
    case 'hr':
      return createElement('hr', { key });
    case 'code_inline':
      return createElement('code', { key }, token.content);
    case 'fence':
    case 'code_block':
      return createElement(code, { key, text: token.content, language: languageIn(token.info) });
    case 'image':
      // An image that is loaded would tell its host who reads what.
      return createElement(
        'span',
        { key, className: 'muted break' },
        `Image, not loaded: ${token.content} ${String(token.attrGet('src') ?? '').slice(0, 300)}`,
      );
    case 'text':
      return createElement(Fragment, { key }, showText(token.content));
    default:
      return token.content;
  }
};

/** What becomes of a piece of text within Markdown. @default - the text as it is */
type ShowText = (text: string) => ReactNode;

/** Puts the elements together that tokens of Markdown stand for. */
export const toElements = (
  tokens: readonly Token[],
  code: CodeBlock,
  showText: ShowText = (text) => text,
): ReactNode[] => {
  const root: Frame = { token: undefined, children: [] };
  const open: Frame[] = [root];
  let key = 0;
  const add = (node: ReactNode) => open.at(-1)?.children.push(node);
  const walk = (list: readonly Token[]) => {
    for (const token of list) {
      key++;
      if (token.type === 'inline') walk(token.children ?? []);
      else if (token.nesting === 1) open.push({ token, children: [] });
      else if (token.nesting === -1) {
        const frame = open.pop();
        if (frame) add(closed(frame, key));
      } else add(leaf(token, key, code, showText));
    }
  };
  walk(tokens);
  return root.children;
};

interface MarkdownTextProps {
  readonly text: string;
  readonly code: CodeBlock;
  readonly fallback: ReactNode;
  readonly showText?: ShowText | undefined;
}

/**
 * A text as Markdown, with the library behind it.
 *
 * @param code shows a block of code
 * @param fallback stands there if the text has too many parts
 */
export const MarkdownText = ({ text, code, fallback, showText }: MarkdownTextProps): ReactNode => {
  const elements = useMemo(() => {
    const tokens = parseMarkdown(text);
    return tokens && toElements(tokens, code, showText);
  }, [text, code, showText]);
  return elements ? createElement('div', { className: 'markdown' }, elements) : fallback;
};
