import { ChevronDown, Clock } from 'lucide-react';
import { Suspense, useState } from 'react';
import { clockText, dayText } from '../../data/format.ts';
import { type Range, ranges, type TracesSearch } from '../../navigation/search.ts';
import { Button } from '../../ui/controls.tsx';
import { lazily } from '../../ui/lazy.ts';
import { Popup } from '../../ui/popups.tsx';

const TimeBounds = lazily(() => import('./time-bounds.tsx'), 'TimeBounds');

export type Span = Pick<TracesSearch, 'range' | 'from' | 'to'>;

const texts: Readonly<Record<Range, string>> = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
};

const spanText = ({ range, from, to }: Span): string => {
  if (range) return texts[range];
  if (!from && !to) return 'All time';
  const [first, last] = [from, to].map((time) => (time ? `${dayText(time)} ${clockText(time)}` : '…'));
  return `${first} – ${last}`;
};

/** Chooses the time that calls started in. */
export const TimeMenu = ({ span, onChange }: { span: Span; onChange: (span: Span) => void }) => {
  const [open, setOpen] = useState(false);
  const choose = (next: Span) => {
    setOpen(false);
    onChange(next);
  };
  return (
    <Popup
      label={
        <>
          <Clock /> <span className="cut">{spanText(span)}</span> <ChevronDown />
        </>
      }
      name="Time"
      align="start"
      open={open}
      onOpenChange={setOpen}
    >
      <div className="choices">
        {(Object.keys(ranges) as Range[]).map((range) => (
          <Button
            key={range}
            kind="quiet"
            aria-pressed={span.range === range}
            onClick={() => choose({ range })}
          >
            {texts[range]}
          </Button>
        ))}
        <Button kind="quiet" onClick={() => choose({})}>
          All time
        </Button>
      </div>
      <Suspense fallback={<div className="calendar" />}>
        <TimeBounds span={span} onChange={choose} />
      </Suspense>
    </Popup>
  );
};
