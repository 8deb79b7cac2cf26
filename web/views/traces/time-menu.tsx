import { type FormEvent, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Popup } from '../../ui/popup.tsx';
import { type Range, ranges, type TracesSearch } from './search.ts';

type Span = Pick<TracesSearch, 'range' | 'from' | 'to'>;

const texts: Readonly<Record<Range, string>> = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
};

const spanText = ({ range, from, to }: Span): string => {
  if (range) return texts[range];
  if (!from && !to) return 'All time';
  return `${from?.replace('T', ' ') ?? '…'} – ${to?.replace('T', ' ') ?? '…'}`;
};

const Bounds = ({ span, onChange }: { span: Span; onChange: (span: Span) => void }) => {
  const [from, setFrom] = useState(span.from ?? '');
  const [to, setTo] = useState(span.to ?? '');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onChange({ ...(from && { from }), ...(to && { to }) });
  };
  return (
    <form className="stack" onSubmit={submit}>
      <label className="field">
        <span>From</span>
        <input type="datetime-local" value={from} onChange={(event) => setFrom(event.target.value)} />
      </label>
      <label className="field">
        <span>To</span>
        <input type="datetime-local" value={to} onChange={(event) => setTo(event.target.value)} />
      </label>
      <Button type="submit">Show these</Button>
    </form>
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
    <Popup label={<>{spanText(span)} ▾</>} name="Time" align="start" open={open} onOpenChange={setOpen}>
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
