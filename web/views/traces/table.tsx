import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type CSSProperties,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
} from 'react';
import { type CallRow, durationOf, nameOf, statusOf, sumUsage, usageByModel } from '../../api/calls.ts';
import { feedbackOf, marksOf } from '../../api/feedback.ts';
import { costText, countText, latencyText, tokensText } from '../../data/format.ts';
import { valueAt } from '../../data/values.ts';
import { FeedbackMarks, Moment, SortButton, StatusBadge } from '../../ui/controls.tsx';
import type { TracesSearch } from '../search.ts';
import type { CallList, ListState } from './call-list.ts';
import { useAnchor, type usePicked, useTraceUsage } from './hooks.ts';
import { feedbackPath } from './request.ts';
import type { RowFigures } from './usage.ts';

/** A column of the list. */
export interface Column {
  readonly id: string;
  readonly title: string;
  /** The path to sort by. @default - it cannot be sorted by */
  readonly path?: string;
  /** A track of CSS grid. */
  readonly width: string;
  readonly numeric?: boolean;
  /** What it shows of a call, and of the figures that the row stands for. */
  readonly cell: (row: CallRow, figures: RowFigures) => ReactNode;
}

const name: Column = {
  id: 'name',
  title: 'Name',
  path: 'display_name',
  width: 'minmax(11rem, 2.2fr)',
  cell: nameOf,
};

const status: Column = {
  id: 'status',
  title: 'Status',
  path: 'summary.svc.status',
  width: '7.5rem',
  cell: (row) => <StatusBadge status={statusOf(row)} />,
};

const started: Column = {
  id: 'started',
  title: 'Started',
  path: 'started_at',
  width: '9rem',
  cell: ({ started_at }) => <Moment time={started_at} />,
};

const latency: Column = {
  id: 'latency',
  title: 'Latency',
  path: 'summary.svc.latency_ms',
  width: '6rem',
  numeric: true,
  cell: (call) => latencyText(call.summary?.svc?.latency_ms ?? durationOf(call)),
};

const thread: Column = {
  id: 'thread',
  title: 'Thread',
  path: 'thread_id',
  width: 'minmax(6rem, 1fr)',
  cell: ({ thread_id, project_id }) =>
    thread_id ? (
      <Link to="/thread" search={{ project: project_id, thread: thread_id }} className="cell-link">
        {thread_id}
      </Link>
    ) : (
      ''
    ),
};

const user: Column = {
  id: 'user',
  title: 'User',
  path: 'svc_user_id',
  width: 'minmax(5rem, 0.6fr)',
  cell: ({ svc_user_id }) => svc_user_id ?? '',
};

const model: Column = {
  id: 'model',
  title: 'Model',
  width: 'minmax(6rem, 0.8fr)',
  cell: (row) => [...usageByModel(row).keys()].join(', '),
};

const errors: Column = {
  id: 'errors',
  title: 'Errors',
  width: '4.5rem',
  numeric: true,
  cell: (_, { errors: count }) => (count ? <span className="error-text">{countText(count)}</span> : ''),
};

const tokens: Column = {
  id: 'tokens',
  title: 'Tokens',
  width: '5.5rem',
  numeric: true,
  cell: (_, { usage }) => (usage ? tokensText(usage.total) : ''),
};

const cost: Column = {
  id: 'cost',
  title: 'Cost',
  width: '5.5rem',
  numeric: true,
  cell: (_, { usage }) => (usage?.cost === undefined ? '' : costText(usage.cost)),
};

const feedback: Column = {
  id: 'feedback',
  title: 'Feedback',
  width: '7.5rem',
  cell: (row) => <FeedbackMarks marks={marksOf(feedbackOf(row))} />,
};

/** How much of a value a cell shows. */
const maxCellLength = 200;

const cellText = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.slice(0, maxCellLength);
};

const pathColumn = (path: string): Column => ({
  id: `path ${path}`,
  title: path,
  path,
  width: 'minmax(8rem, 1.2fr)',
  cell: (row) => cellText(valueAt(row, path)),
});

/** The columns of the list. Roots show the usage of their traces, all other calls their own. */
export const columnsOf = ({
  all = false,
  columns = [],
  feedback: filter,
}: Pick<TracesSearch, 'all' | 'columns' | 'feedback'>): Column[] => [
  name,
  status,
  started,
  latency,
  all ? model : errors,
  tokens,
  cost,
  thread,
  user,
  ...(filter && !columns.includes(feedbackPath) ? [feedback] : []),
  ...columns.map((path) => (path === feedbackPath ? feedback : pathColumn(path))),
];

const unknown: RowFigures = { usage: undefined };

/** The height of a row in pixels, as the styles have it. */
const rowHeight = 36;

interface TraceTableProps {
  readonly list: CallList;
  readonly state: ListState;
  readonly columns: readonly Column[];
  /** The row that the keyboard is at; -1 for none. */
  readonly active: number;
  readonly sort: string;
  readonly onSort: (path: string) => void;
  readonly scroller: RefObject<HTMLDivElement | null>;
  /** The rows that are to be compared. */
  readonly picks: ReturnType<typeof usePicked>;
}

const sortMark = (sort: string, path: string): 'ascending' | 'descending' | undefined => {
  if (sort === path) return 'ascending';
  return sort === `-${path}` ? 'descending' : undefined;
};

const Head = ({ columns, sort, onSort }: Pick<TraceTableProps, 'columns' | 'sort' | 'onSort'>) => (
  <div role="row" aria-rowindex={1} className="table-row table-head">
    <div role="columnheader" className="cell">
      <span className="hidden">Selected</span>
    </div>
    {columns.map(({ id, title, path, numeric }) => {
      const mark = path === undefined ? undefined : sortMark(sort, path);
      return (
        <div
          key={id}
          role="columnheader"
          aria-sort={mark ?? 'none'}
          className={numeric ? 'cell numeric' : 'cell'}
        >
          {path === undefined ? (
            title
          ) : (
            <SortButton order={mark} title={`Sort by ${path}`} onClick={() => onSort(path)}>
              {title}
            </SortButton>
          )}
        </div>
      );
    })}
  </div>
);

interface RowProps {
  readonly columns: readonly Column[];
  readonly row: CallRow;
  readonly figures: RowFigures;
}

const Row = ({ row, columns, figures }: RowProps) =>
  columns.map(({ id, numeric, cell }, at) => (
    <div key={id} role="cell" className={numeric ? 'cell numeric' : 'cell'}>
      {at === 0 ? (
        <Link
          to="/trace"
          search={{ project: row.project_id, trace: row.trace_id, ...(row.parent_id && { call: row.id }) }}
          className="row-link"
          dir="auto"
        >
          {cell(row, figures)}
        </Link>
      ) : (
        <span className="cut" dir="auto">
          {cell(row, figures)}
        </span>
      )}
    </div>
  ));

/** The calls in rows, of which only those in sight are in the document. */
export const TraceTable = (props: TraceTableProps) => {
  const { list, state, columns, active, scroller, picks } = props;
  const { rows, phase, complete } = state;
  // The list has looked up the figures of all rows itself if it is filtered by them.
  const { roots, costTest } = list.options;
  useAnchor(rows, scroller, rowHeight);
  useLayoutEffect(() => {
    const { current: element } = scroller;
    return () => {
      list.scrollTop = element?.scrollTop ?? 0;
    };
  }, [list, scroller]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 10,
    initialOffset: list.scrollTop,
  });
  const items = virtual.getVirtualItems();
  const lastSeen = items.at(-1)?.index ?? -1;
  const firstSeen = items[0]?.index ?? 0;
  const last = roots && !costTest ? lastSeen : -1;
  const usages = useTraceUsage(list, rows, { first: firstSeen, last, settled: phase !== 'reading' });
  useEffect(() => {
    list.inSight = [firstSeen, lastSeen];
  }, [list, firstSeen, lastSeen]);
  useEffect(() => {
    if (phase === 'idle' && rows.length > 0 && lastSeen >= rows.length - 20) list.more();
  }, [list, phase, lastSeen, rows.length]);
  // A list that was in sight stands where it was left, wherever the keyboard had been.
  const followed = useRef(list.inSight[1] < 0 ? -1 : active);
  useEffect(() => {
    if (active !== followed.current) virtual.scrollToIndex(active, { align: 'auto' });
    followed.current = active;
  }, [active, virtual]);
  const template = ['1.9rem', ...columns.map(({ width }) => width)].join(' ');
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
    <div className="table-scroll" ref={scroller} tabIndex={0} role="region" aria-label="Calls">
      <div
        role="table"
        aria-label="Calls"
        aria-rowcount={complete ? rows.length + 1 : -1}
        className="table"
        style={{ '--columns': template } as CSSProperties}
      >
        <div role="rowgroup" className="table-top">
          <Head {...props} />
        </div>
        <div role="rowgroup" className="table-body" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const row = rows[index];
            if (!row) return null;
            return (
              <div
                key={row.id}
                role="row"
                aria-rowindex={index + 2}
                className={index === active ? 'table-row active' : 'table-row'}
                style={{ transform: `translateY(${start}px)` }}
              >
                <div role="cell" className="cell pick">
                  <input
                    type="checkbox"
                    aria-label={`Select ${nameOf(row)}`}
                    checked={picks.picked.includes(row.id)}
                    onChange={() => picks.pick(row.id)}
                  />
                </div>
                <Row
                  row={row}
                  columns={columns}
                  figures={
                    roots
                      ? (state.figures.get(row.id) ?? usages.get(row.id) ?? unknown)
                      : { usage: sumUsage(usageByModel(row).values()) }
                  }
                />
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
};
