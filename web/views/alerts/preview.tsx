import { useNavigate } from '@tanstack/react-router';
import { Chart } from '../../calls/figures/charts.tsx';
import { clockText, costText, countedText, dayText, momentText } from '../../data/format.ts';
import type { Line } from '../../ui/chart.tsx';
import { Table, type TableColumn } from '../../ui/controls.tsx';
import { type AlertValue, measuredCalls, type Preview, ruleText, toStretches, valueText } from './alert.ts';
import { StateBadge, Strip } from './strip.tsx';

/** What a preview was made of, and what it said. */
export interface Tried {
  readonly value: AlertValue;
  readonly preview: Preview;
}

/**
 * Whether an alert's price has to be known before it is saved. Windows up to an hour share what is read
 * for all alerts of the project, and cost next to nothing.
 */
export const isDear = ({ value, preview: { reads } }: Tried): boolean =>
  reads !== 'rollups' && value.window_minutes > 60;

/** What looks would have measured, and the thresholds. */
const toLines = ({ value, preview: { values = [] } }: Tried): Line[] => {
  const { alert, warn } = value;
  const constant = (label: string, threshold: number, color: Line['color']): Line => ({
    label,
    color,
    hasPoints: false,
    values: values.map(() => threshold),
  });
  return [
    { label: 'value', color: 2, hasPoints: false, values: values.map((point) => point.value) },
    ...(typeof warn === 'number' ? [constant('warning', warn, 5)] : []),
    constant('alert', alert, 'error'),
  ];
};

/** How many changes are listed. */
const shownChanges = 20;

const readsTexts: Readonly<Record<Preview['reads'], string>> = {
  rollups: 'Answered from rollups',
  calls: 'Each check reads the calls in its window',
  feedback: 'Each check reads the feedback in its window',
};

/** What an alert costs a month, and why. */
const priceText = ({ reads, estimated_usd_per_month: usd }: Preview): string =>
  `${readsTexts[reads]}: about ${costText(usd)} a month, or less if other alerts of the project read the same data.`;

type Change = Preview['changes'][number];

const makeColumns = (value: AlertValue): readonly TableColumn<Change>[] => [
  { title: 'When', cell: ({ at }) => momentText(at) },
  { title: 'State', cell: ({ state }) => <StateBadge state={state} /> },
  { title: 'Value', className: 'numeric', cell: (change) => valueText(value, change.value) },
  { title: 'Notified', cell: ({ told }) => (told ? 'yes' : 'no') },
];

interface PreviewProps {
  readonly project: string;
  readonly tried: Tried;
}

/** When an alert would have fired, on a chart with its thresholds, and what it costs. */
export const PreviewPane = ({ project, tried }: PreviewProps) => {
  const navigate = useNavigate();
  const { value, preview } = tried;
  const { changes, values = [], step_minutes: step } = preview;
  const start = Date.parse(preview.start);
  const end = Date.parse(preview.end);
  const fired = changes.filter(({ state, told }) => told && (state === 'alert' || state === 'warn')).length;
  const times = values.map(({ timestamp }) => Date.parse(timestamp));
  const pick = (index: number) => {
    const time = times[index];
    if (time === undefined) return;
    const from = time - value.window_minutes * 60_000;
    navigate({ to: '/traces', search: measuredCalls(project, value, [from, time]) });
  };
  const name = `${ruleText(value)}. It would have fired ${countedText(fired, 'time')}`;
  const hasValues = values.some((point) => point.value !== null);
  return (
    <section className="card stack" aria-label="Preview">
      <div className="row-between wrap">
        <h2>
          {fired === 0 ? 'It would not have fired' : `It would have fired ${countedText(fired, 'time')}`}
        </h2>
        <span className="muted">
          {dayText(preview.start)} – {dayText(preview.end)}, checked every {countedText(step, 'minute')}
        </span>
      </div>
      {hasValues ? (
        <Chart
          name={name}
          times={times}
          span={[start, end]}
          lines={toLines(tried)}
          bars={false}
          timeText={(time) => (end - start > 2 * 86_400_000 ? dayText(time) : clockText(time))}
          valueText={(figure) => valueText(value, figure)}
          pointText={(index) =>
            times[index] === undefined ? '' : momentText(new Date(times[index]).toISOString())
          }
          pickText="click to see its calls"
          onPick={pick}
        />
      ) : (
        <p className="muted">There is no data in this period.</p>
      )}
      <Strip label="It would have been" stretches={toStretches(changes, start, end)} />
      <p className={isDear(tried) ? 'price' : 'muted'}>{priceText(preview)}</p>
      {changes.length > 0 ? (
        <div className="scroll-x">
          <Table
            className="wide"
            columns={makeColumns(value)}
            rows={changes.slice(-shownChanges).toReversed()}
            getKey={(change) => change.at}
          />
        </div>
      ) : null}
    </section>
  );
};
