import { useVirtualizer } from '@tanstack/react-virtual';
import { type CSSProperties, useCallback, useEffect, useRef, useState } from 'react';
import { useCostText } from '../../calls/prices.ts';
import { countText } from '../../data/format.ts';
import { Shortcuts, stepKeys, stepped, useKeys } from '../../ui/keys.tsx';
import type { Run } from './data.ts';
import { type Cell, differenceIn, type Measure, type Placed } from './join.ts';
import { toLetter } from './means-table.tsx';
import { RowDetails } from './row-details.tsx';
import { getText, signedText } from './words.ts';

/** The height of a row that is not open, in pixels, as the styles have it. */
const rowHeight = 61;

/** How many measures a cell shows; all of them are in the open row. */
const maxShown = 4;

interface MeasuredProps {
  readonly placed: Placed;
  readonly run: number;
  readonly cell: Cell;
  readonly measure: Measure;
  readonly text: (value: number) => string;
}

/** A measure of a row, with how it changed. */
const Measured = ({ placed, run, cell, measure, text }: MeasuredProps) => {
  const value = measure.read(cell);
  if (value === undefined) return null;
  const difference = run === 0 ? undefined : differenceIn(placed.row, run, measure);
  const changed = difference !== undefined && Math.abs(difference) > 1e-9;
  const tone = changed ? (difference < 0 === measure.less ? 'better' : 'worse') : '';
  return (
    <span className={measure.kind === 'score' ? tone : ''}>
      {measure.kind === 'score' ? `${measure.title} ` : ''}
      {text(value)}
      {changed && measure.kind === 'score' ? (
        <>
          <span className="hidden"> {tone}</span> ({signedText(difference, text)})
        </>
      ) : null}
    </span>
  );
};

interface RowCellProps {
  readonly placed: Placed;
  readonly run: number;
  readonly alone: boolean;
  readonly measures: readonly Measure[];
  readonly costText: (cost: number) => string;
}

const RowCell = ({ placed, run, alone, measures, costText }: RowCellProps) => {
  const cell = placed.row.cells[run];
  const name = alone ? null : (
    <span className="run-letter of-row">
      {toLetter(run)}
      <span className="hidden">: </span>
    </span>
  );
  if (!cell)
    return (
      <span className="muted">
        {name}
        not in this evaluation
      </span>
    );
  const scores = measures.filter(({ kind }) => kind === 'score').slice(0, maxShown);
  const others = measures.filter(({ kind }) => kind !== 'score');
  return (
    <span className="run-cell">
      <span className="two-lines" dir="auto">
        {name}
        {cell.failed ? <span className="error-text">failed </span> : null}
        {cell.trials[0]?.output || <span className="muted">no output</span>}
      </span>
      <span className="cut measured">
        {[...scores, ...others].map((measure) => (
          <Measured
            key={measure.id}
            placed={placed}
            run={run}
            cell={cell}
            measure={measure}
            text={getText(measure, costText)}
          />
        ))}
        {cell.trials.length > 1 ? <span>{cell.trials.length} trials</span> : null}
      </span>
    </span>
  );
};

const keys = [
  ['j ↓', 'next row'],
  ['k ↑', 'previous row'],
  ['Enter', 'open or close the row'],
  ['?', 'these keys'],
] as const;

interface RowListProps {
  readonly project: string;
  readonly runs: readonly Run[];
  readonly rows: readonly Placed[];
  readonly measures: readonly Measure[];
  /** The id of the first call of the row that is open. */
  readonly open: string | undefined;
  readonly onOpen: (id: string | undefined) => void;
}

/** The rows of evaluations beside each other, of which only those in sight are in the document. */
export const RowList = ({ project, runs, rows, measures, open, onOpen }: RowListProps) => {
  const scroller = useRef<HTMLDivElement>(null);
  const costText = useCostText(project);
  const [active, setActive] = useState(-1);
  const [help, setHelp] = useState(false);
  const getKey = useCallback((at: number) => rows[at]?.row.key ?? at, [rows]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: getKey,
    overscan: 6,
  });
  const openAt = rows.findIndex(({ row }) => row.first.id === open);
  const isFound = openAt >= 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a row that a link opens is brought into sight once
  useEffect(() => {
    if (isFound) virtual.scrollToIndex(openAt, { align: 'start' });
  }, [isFound]);
  const toggle = (at: number) => {
    const id = rows[at]?.row.first.id;
    setActive(at);
    onOpen(id === open ? undefined : id);
  };
  useKeys({
    ...stepKeys((by) => {
      const next = stepped(active, by, rows.length);
      setActive(next);
      virtual.scrollToIndex(next);
    }),
    Enter: () => toggle(active),
    '?': () => setHelp(true),
  });
  return (
    <>
      <div
        className="run-rows"
        ref={scroller}
        role="region"
        aria-label="Rows"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
        tabIndex={0}
        style={{ '--runs': runs.length } as CSSProperties}
      >
        <div className="run-row run-rows-head" aria-hidden="true">
          <span />
          <span>Example</span>
          {runs.map((run, at) => (
            <span key={run.id} className="cut" dir="auto">
              {runs.length > 1 ? `${toLetter(at)} · ` : ''}
              {run.model?.name ?? run.name}
            </span>
          ))}
        </div>
        <ul style={{ blockSize: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start, key }) => {
            const placed = rows[index];
            if (!placed) return null;
            const { row, place } = placed;
            const isOpen = row.first.id === open;
            return (
              <li
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                className={index === active ? 'active' : ''}
                style={{ transform: `translateY(${start}px)` }}
              >
                <button
                  type="button"
                  className="run-row"
                  aria-expanded={isOpen}
                  onClick={() => toggle(index)}
                >
                  <span className="numeric muted">
                    <span className="hidden">Row </span>
                    {countText(place)}
                  </span>
                  <span className="run-cell">
                    <span className="two-lines" dir="auto">
                      {row.first.inputs}
                    </span>
                    {row.first.expected ? (
                      <span className="cut muted" dir="auto">
                        expected: {row.first.expected}
                      </span>
                    ) : null}
                  </span>
                  {runs.map((run, at) => (
                    <RowCell
                      key={run.id}
                      placed={placed}
                      run={at}
                      alone={runs.length === 1}
                      measures={measures}
                      costText={costText}
                    />
                  ))}
                </button>
                {isOpen ? <RowDetails project={project} runs={runs} row={row} measures={measures} /> : null}
              </li>
            );
          })}
        </ul>
      </div>
      <Shortcuts open={help} onClose={() => setHelp(false)} keys={keys} />
    </>
  );
};
