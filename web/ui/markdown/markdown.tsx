import { lazy, Suspense } from 'react';
import { LongText } from '../long-text.tsx';

/** Longer texts stand as they are: reading them as Markdown would take too long. */
const maxLength = 20_000;

/** What Markdown is made of: a text with none of it needs no reading. */
const signs = /[*_`#>|[\]~]|^\s*(?:[-+]|\d{1,9}[.)])\s/m;

const Base = lazy(async () => ({ default: (await import('./markdown-base.tsx')).MarkdownBase }));

/**
 * A text as Markdown, without anything in it becoming markup of the page. What reads it loads with
 * the first text that has Markdown; until then it stands there as text.
 */
export const Markdown = ({ text }: { text: string }) => {
  const plain = <LongText text={text} />;
  if (text.length > maxLength || !signs.test(text)) return plain;
  return (
    <Suspense fallback={plain}>
      <Base text={text} />
    </Suspense>
  );
};
