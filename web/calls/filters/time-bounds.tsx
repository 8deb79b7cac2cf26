import { useState } from 'react';
import { Calendar } from '../../ui/calendar.tsx';
import { Button } from '../../ui/controls.tsx';
import { Form, TimeInput } from '../../ui/fields.tsx';
import { lastDayBefore, nextDay, toLocalTime } from '../../ui/time.ts';
import type { Span } from './time-menu.tsx';

/** A time as a field has it, in the reader's own time: `2026-10-01T12:30`; empty for none. */
const localText = (time: string | undefined): string => {
  const date = new Date(time ?? '');
  if (Number.isNaN(date.getTime())) return '';
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString();
  return local.slice(0, date.getSeconds() === 0 ? 16 : 19);
};

/** A time of the reader as a moment that is the same for everybody. */
const toMoment = (local: string): string => new Date(local).toISOString();

/** Chooses a span by its bounds, typed or from a calendar. */
export const TimeBounds = ({ span, onChange }: { span: Span; onChange: (span: Span) => void }) => {
  const [from, setFrom] = useState(localText(span.from));
  const [to, setTo] = useState(localText(span.to));
  const submit = () => {
    onChange({ ...(from && { from: toMoment(from) }), ...(to && { to: toMoment(to) }) });
  };
  // What is typed may be no time yet.
  const fromDay = toLocalTime(from)?.slice(0, 10) ?? '';
  const end = toLocalTime(to);
  // The end is not part of the span: midnight ends the day before.
  const toDay = end ? lastDayBefore(end) : '';
  const [isBegun, setBegun] = useState(from !== '' && to === '');
  /** The first day that is clicked is the span, a later one ends it. The next one begins anew. */
  const choose = (day: string) => {
    const isEnd = isBegun && from !== '' && day >= fromDay;
    if (!isEnd) setFrom(`${day}T00:00`);
    setTo(`${nextDay(day)}T00:00`);
    setBegun(!isEnd);
  };
  return (
    <Form className="stack" onSubmit={submit}>
      <Calendar from={fromDay} to={toDay} onDay={choose} />
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
