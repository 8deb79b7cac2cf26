import { useState } from 'react';
import { countText } from '../data/format.ts';
import { Button } from './button.tsx';

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
        <Button kind="quiet" onClick={() => setLength((shown) => shown + stepLength)}>
          Show more: {countText(rest)} of {countText(text.length)} characters are hidden
        </Button>
      ) : null}
    </>
  );
};
