import { ChevronDown, Clock } from 'lucide-react';
import { Suspense, useState } from 'react';
import { clockText, dayText } from '../../data/format.ts';
import { type Range, ranges, type TracesSearch } from '../../navigation/search.ts';
import { Button } from '../../ui/controls.tsx';
import { Form, TimeInput } from '../../ui/fields.tsx';
import { lazily } from '../../ui/lazy.ts';
import { Popup } from '../../ui/popups.tsx';
import { toLocalTime } from '../../ui/time.ts';

const Calendar = lazily(() => import('../../ui/calendar.tsx'), 'Calendar');

type Span = Pick<TracesSearch, 'range' | 'from' | 'to'>;

const texts: Readonly<Record<Range, string>> = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
};

/** A time as a field has it, in the reader's own time: `2026-10-01T12:30`; empty for none. */
const localText = (time: string | undefined): string => {
  const date = new Date(time ?? '');
  if (Number.isNaN(date.getTime())) return '';
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString();
  return local.slice(0, date.getSeconds() === 0 ? 16 : 19);
};

/** A time of the reader as a moment that is the same for everybody. */
const toMoment = (local: string): string => new Date(local).toISOString();

const spanText = ({ range, from, to }: Span): string => {
  if (range) return texts[range];
  if (!from && !to) return 'All time';
  const [first, last] = [from, to].map((time) => (time ? `${dayText(time)} ${clockText(time)}` : '…'));
  return `${first} – ${last}`;
};

const Bounds = ({ span, onChange }: { span: Span; onChange: (span: Span) => void }) => {
  const [from, setFrom] = useState(localText(span.from));
  const [to, setTo] = useState(localText(span.to));
  const submit = () => {
    onChange({ ...(from && { from: toMoment(from) }), ...(to && { to: toMoment(to) }) });
  };
  // What is typed may be no time yet.
  const [fromDay = '', toDay = ''] = [from, to].map((time) => toLocalTime(time)?.slice(0, 10));
  /** The first day that is clicked begins, the second ends. The next one begins anew. */
  const choose = (day: string) => {
    const isEnd = from !== '' && to === '' && day >= fromDay;
    if (isEnd) return setTo(`${day}T23:59`);
    setFrom(`${day}T00:00`);
    setTo('');
  };
  return (
    <Form className="stack" onSubmit={submit}>
      <Suspense fallback={<div className="calendar" />}>
        <Calendar from={fromDay} to={toDay} onDay={choose} />
      </Suspense>
      <div className="time-fields">
        <TimeInput label="From" value={from} onChange={setFrom} />
        <TimeInput label="To" value={to} onChange={setTo} />
      </div>
      <Button type="submit" kind="primary">
        Apply
      </Button>
    </Form>
  );
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
          <Clock /> {spanText(span)} <ChevronDown />
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
      <Bounds span={span} onChange={choose} />
    </Popup>
  );
};
