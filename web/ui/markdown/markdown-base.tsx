import { useMemo } from 'react';
import { LongText } from '../long-text.tsx';
import { elementsOf } from './elements.ts';
import { tokensOf } from './tokens.ts';

/** A text as Markdown, with the library behind it. */
export const MarkdownBase = ({ text }: { text: string }) => {
  const elements = useMemo(() => {
    const tokens = tokensOf(text);
    return tokens && elementsOf(tokens);
  }, [text]);
  return elements ? <div className="markdown">{elements}</div> : <LongText text={text} />;
};
