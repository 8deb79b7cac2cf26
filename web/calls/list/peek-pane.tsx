import { ArrowDown, ArrowUp, X } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { IconButton } from '../../ui/controls.tsx';

interface PeekProps {
  /** What it is, for screen readers: `Trace beside the list`. */
  readonly label: string;
  readonly title: ReactNode;
  /** What it shows, in a word: `trace`. */
  readonly what: string;
  /** What leads back to what it was opened from. @default - nothing does */
  readonly back?: ReactNode;
  /** What else leads on, such as to the whole view. */
  readonly tools: ReactNode;
  /** Goes to the next row, or to the one before. @default - the list has none */
  readonly onNext: (() => void) | undefined;
  readonly onPrevious: (() => void) | undefined;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/**
 * What is beside a list, below its head. It takes the focus only where it covers the list, so that the keys of
 * the list go on.
 */
export const Peek = (props: PeekProps) => {
  const { label, title, what, back, tools, onNext, onPrevious, onClose, children } = props;
  const pane = useRef<HTMLElement>(null);
  useEffect(() => {
    const element = pane.current;
    if (element && getComputedStyle(element).position === 'absolute') element.focus();
  }, []);
  return (
    <aside className="peek" aria-label={label} ref={pane} tabIndex={-1}>
      <header className="peek-head">
        {back}
        <h2 className="cut" dir="auto">
          {title}
        </h2>
        <IconButton icon={ArrowUp} name="Previous row" idle={!onPrevious} onClick={onPrevious} />
        <IconButton icon={ArrowDown} name="Next row" idle={!onNext} onClick={onNext} />
        {tools}
        <IconButton icon={X} name={`Close the ${what}`} onClick={onClose} />
      </header>
      {children}
    </aside>
  );
};
