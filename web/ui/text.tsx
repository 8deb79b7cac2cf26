import { type ReactNode, Suspense, useState } from 'react';
import { countText } from '../data/format.ts';
import { Code } from './code.tsx';
import { Button } from './controls.tsx';
import { lazily } from './lazy.ts';

/** The kinds of images that are shown. SVG is left out: it is a document. */
const shown = /^data:image\/(png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=]+$/;

/** How much of a long text is looked at: a test of all of it would take as long as it is. */
const headLength = 200;

/** The URL of an image that is in the data itself; undefined for anything else. */
export const getImage = (text: string): string | undefined =>
  shown.test(text.slice(0, headLength)) ? text : undefined;

/** How many characters are shown at first, and are added at a time. More would freeze a page. */
const firstLength = 4000;
const stepLength = 100_000;

/** A text of any length, as text. Nothing in it is markup. */
export const LongText = ({ text }: { text: string }) => {
  const [length, setLength] = useState(firstLength);
  const rest = text.length - length;
  return (
    <>
      <div className="long-text" dir="auto">
        {text.slice(0, length)}
      </div>
      {rest > 0 ? (
        <Button kind="quiet" onClick={() => setLength((before) => before + stepLength)}>
          Show more: {countText(rest)} of {countText(text.length)} characters are hidden
        </Button>
      ) : null}
    </>
  );
};

/** Longer texts stand as they are: reading them as Markdown would take too long. */
const maxLength = 20_000;

/** What Markdown is made of: a text with none of it needs no reading. */
const signs = /[*_`#>|[\]~]|^\s*(?:[-+]|\d{1,9}[.)])\s/m;

interface MarkdownProps {
  readonly text: string;
  /** What becomes of the pieces of text in it; the same function for the same. @default - text */
  readonly showText?: ((text: string) => ReactNode) | undefined;
}

const MarkdownText = lazily(() => import('./markdown.ts'), 'MarkdownText');

/**
 * A text as Markdown, without anything in it becoming markup of the page. What reads it loads with
 * the first text that has Markdown; until then it stands there as text.
 */
export const Markdown = ({ text, showText }: MarkdownProps): ReactNode => {
  const plain = <LongText text={text} />;
  if (text.length > maxLength || (!showText && !signs.test(text))) return plain;
  return (
    <Suspense fallback={plain}>
      <MarkdownText text={text} code={Code} fallback={plain} showText={showText} />
    </Suspense>
  );
};
