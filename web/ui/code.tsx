import { type ReactNode, Suspense, useState } from 'react';
import { countText } from '../data/format.ts';
import { Button } from './controls.tsx';
import { lazily } from './lazy.ts';
import { useIsSought } from './sought.ts';

const Highlighted = lazily(() => import('./highlight.ts'), 'Highlighted');

/** How many lines of a long text are shown at first, and from how many on it is long. */
const firstLines = 12;
const longLines = 15;

/** How many lines are added at a time, and how long one may be: more would freeze a page. */
const stepLines = 1000;
const longestLine = 5000;

/** Longer code is not colored: that would take too long. */
const maxColored = 100_000;

interface CodeProps {
  readonly text: string;
  /** @default - no colors */
  readonly language?: string | undefined;
  /** The number of the first line. @default 1 */
  readonly firstLine?: number | undefined;
  /** What stands in place of the numbers, such as `$`. @default - the numbers */
  readonly sign?: string;
}

/** Code with the numbers of its lines, in the colors of its language. A long one shows its beginning. */
export const Code = ({ text, language, firstLine = 1, sign }: CodeProps) => {
  const lines = text.replace(/\n$/, '').split('\n');
  const [count, setCount] = useState(firstLines);
  const isSought = useIsSought();
  const needed = Math.max(count, Math.min(lines.findLastIndex(isSought) + 1, count + stepLines));
  const shown = lines.length > longLines ? lines.slice(0, needed) : lines;
  const rest = lines.length - shown.length;
  const toRow = (content: ReactNode, at: number) => (
    <span key={at} className="code-line" data-at={sign === undefined ? firstLine + at : at === 0 ? sign : ''}>
      <code>{content}</code>
    </span>
  );
  const clipped = shown.map((line) =>
    line.length > longestLine
      ? `${line.slice(0, longestLine)}… ${countText(line.length - longestLine)} more characters`
      : line,
  );
  const body = clipped.join('\n');
  const plain = clipped.map(toRow);
  return (
    <div className="code-block">
      <pre dir="ltr">
        {language === undefined || body.length > maxColored ? (
          plain
        ) : (
          <Suspense fallback={plain}>
            <Highlighted text={body} language={language} toRow={toRow} fallback={plain} />
          </Suspense>
        )}
      </pre>
      {rest > 0 ? (
        <Button kind="quiet" className="fold" onClick={() => setCount(needed + stepLines)}>
          {countText(rest)} more lines
        </Button>
      ) : null}
    </div>
  );
};
