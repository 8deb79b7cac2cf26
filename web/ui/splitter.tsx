import { type KeyboardEvent, type PointerEvent, useRef } from 'react';

interface SplitterProps {
  /** What it divides, for screen readers. */
  readonly label: string;
  /** The share of the first pane, in percent. */
  readonly share: number;
  readonly onShare: (share: number) => void;
}

/** Each pane keeps so much, in percent; and what a key moves. */
const least = 20;
const step = 2;

const within = (share: number): number => Math.round(Math.min(100 - least, Math.max(least, share)) * 10) / 10;

/** Divides two panes that stand beside each other: by pointer, or by the arrow keys. */
export const Splitter = ({ label, share, onShare }: SplitterProps) => {
  const dragging = useRef(false);
  const follow = ({ currentTarget, clientX }: PointerEvent<HTMLElement>) => {
    const place = currentTarget.parentElement?.getBoundingClientRect();
    if (!dragging.current || !place) return;
    const fromStart =
      getComputedStyle(currentTarget).direction === 'rtl' ? place.right - clientX : clientX - place.left;
    onShare(within((100 * fromStart) / place.width));
  };
  const press = (event: KeyboardEvent) => {
    const to = { ArrowLeft: share - step, ArrowRight: share + step, Home: least, End: 100 - least }[
      event.key
    ];
    if (to === undefined) return;
    event.preventDefault();
    onShare(within(to));
  };
  return (
    <div
      role="separator"
      tabIndex={0}
      className="splitter"
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={share}
      aria-valuemin={least}
      aria-valuemax={100 - least}
      onKeyDown={press}
      onPointerDown={(event) => {
        dragging.current = true;
        event.currentTarget.setPointerCapture(event.pointerId);
        event.preventDefault();
      }}
      onPointerMove={follow}
      onLostPointerCapture={() => {
        dragging.current = false;
      }}
    />
  );
};
