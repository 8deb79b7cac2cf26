import { ChevronDown, Clock } from 'lucide-react';
import { useState } from 'react';
import { clockText, dayText } from '../../data/format.ts';
import { type Range, ranges, type TracesSearch } from '../../navigation/search.ts';
import { Button } from '../../ui/controls.tsx';
import { Form, Input } from '../../ui/fields.tsx';
import { Popup } from '../../ui/popups.tsx';

type Span = Pick<TracesSearch, 'range' | 'from' | 'to'>;

const texts: Readonly<Record<Range, string>> = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
};

/** A time as `datetime-local` has it, in the reader's own time; empty for none. */
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
  return (
    <Form className="stack" onSubmit={submit}>
      <Input label="From" type="datetime-local" value={from} onChange={setFrom} />
      <Input label="To" type="datetime-local" value={to} onChange={setTo} />
      <Button type="submit">Apply</Button>
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
          <Button key={range} kind="quiet" onClick={() => choose({ range })}>
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
