import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useRef, useState } from 'react';
import { IconButton } from './controls.tsx';
import { daysOfMonth, toDay } from './time.ts';

interface CalendarProps {
  /** The first and the last day of what is chosen, as `2026-10-01`; empty for none. */
  readonly from: string;
  readonly to: string;
  readonly onDay: (day: string) => void;
}

const steps: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  ArrowUp: -7,
  ArrowDown: 7,
};

const monthText = new Intl.DateTimeFormat('en-US', { month: 'long', year: 'numeric' });
const dayText = new Intl.DateTimeFormat('en-US', { dateStyle: 'long' });

/** A month with its days, of which a span is chosen. The arrow keys go from day to day. */
export const Calendar = ({ from, to, onDay }: CalendarProps) => {
  const [shown, setShown] = useState(() => (from ? new Date(`${from}T00:00`) : new Date()));
  const grid = useRef<HTMLDivElement>(null);
  const today = toDay(new Date());
  const turn = (by: number) => setShown(new Date(shown.getFullYear(), shown.getMonth() + by, 1));
  const move = (by: number) => {
    const next = new Date(shown.getFullYear(), shown.getMonth(), shown.getDate() + by);
    setShown(next);
    // It may be of a month that is not there yet.
    requestAnimationFrame(() =>
      grid.current?.querySelector<HTMLElement>(`[data-day="${toDay(next)}"]`)?.focus(),
    );
  };
  return (
    <div className="calendar">
      <div className="row-between">
        <IconButton icon={ChevronLeft} name="Previous month" onClick={() => turn(-1)} />
        <strong aria-live="polite">{monthText.format(shown)}</strong>
        <IconButton icon={ChevronRight} name="Next month" onClick={() => turn(1)} />
      </div>
      <div
        ref={grid}
        className="calendar-days"
        role="group"
        aria-label="Days"
        onKeyDown={(event) => {
          const by = steps[event.key];
          if (by === undefined) return;
          event.preventDefault();
          move(by);
        }}
      >
        {['Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa', 'Su'].map((name) => (
          <span key={name} className="calendar-head" aria-hidden="true">
            {name}
          </span>
        ))}
        {daysOfMonth(shown).map((date) => {
          const day = toDay(date);
          const isChosen = day === from || day === to;
          return (
            <button
              key={day}
              type="button"
              data-day={day}
              data-within={(from && to && day > from && day < to) || undefined}
              data-other={date.getMonth() !== shown.getMonth() || undefined}
              aria-label={dayText.format(date)}
              aria-pressed={isChosen}
              aria-current={day === today ? 'date' : undefined}
              tabIndex={day === toDay(shown) ? 0 : -1}
              onClick={() => {
                setShown(date);
                onDay(day);
              }}
            >
              {date.getDate()}
            </button>
          );
        })}
      </div>
    </div>
  );
};
