import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Thread } from '../../api/types.ts';
import { countText, durationText, momentText } from '../../data/format.ts';
import { type Field, orderOf } from './search.ts';

interface Column {
  readonly field: Field;
  readonly title: string;
  readonly cell: (thread: Thread) => ReactNode;
}

const timeCell = (time: string) => <time dateTime={time}>{momentText(time)}</time>;

const durationCell = (ms: number | null) => (ms === null ? '' : durationText(ms));

const columns: readonly Column[] = [
  { field: 'turn_count', title: 'Turns', cell: ({ turn_count }) => countText(turn_count) },
  { field: 'start_time', title: 'Began', cell: ({ start_time }) => timeCell(start_time) },
  { field: 'last_updated', title: 'Updated', cell: ({ last_updated }) => timeCell(last_updated) },
  {
    field: 'p50_turn_duration_ms',
    title: 'p50 of turns',
    cell: ({ p50_turn_duration_ms }) => durationCell(p50_turn_duration_ms),
  },
  {
    field: 'p99_turn_duration_ms',
    title: 'p99 of turns',
    cell: ({ p99_turn_duration_ms }) => durationCell(p99_turn_duration_ms),
  },
];

interface HeadProps {
  readonly field: Field;
  readonly title: string;
  readonly sort: string | undefined;
  readonly onSort: (sort: string) => void;
}

const Head = ({ field, title, sort, onSort }: HeadProps) => {
  const order = orderOf(sort);
  const direction = order.field === field ? order.direction : undefined;
  const mark = direction && (direction === 'asc' ? 'ascending' : 'descending');
  return (
    <th className={field === 'thread_id' ? '' : 'numeric'} aria-sort={mark ?? 'none'}>
      <button
        type="button"
        className="sort"
        onClick={() => onSort(direction === 'desc' ? field : `-${field}`)}
      >
        {title}
        <span aria-hidden="true">{mark === 'ascending' ? ' ↑' : mark ? ' ↓' : ''}</span>
      </button>
    </th>
  );
};

interface ThreadTableProps {
  readonly project: string;
  readonly threads: readonly Thread[];
  /** The row that the keyboard is at; -1 for none. */
  readonly active: number;
  readonly sort: string | undefined;
  readonly onSort: (sort: string) => void;
}

/** Threads with the statistics of their turns. */
export const ThreadTable = ({ project, threads, active, sort, onSort }: ThreadTableProps) => (
  <div className="scroll-x card flush">
    <table className="plain-table wide">
      <thead>
        <tr>
          <Head field="thread_id" title="Thread" sort={sort} onSort={onSort} />
          {columns.map(({ field, title }) => (
            <Head key={field} field={field} title={title} sort={sort} onSort={onSort} />
          ))}
        </tr>
      </thead>
      <tbody>
        {threads.map((thread, at) => (
          <tr key={thread.thread_id} className={at === active ? 'active' : ''}>
            <td className="break" dir="auto">
              <Link to="/thread" search={{ project, thread: thread.thread_id }}>
                {thread.thread_id}
              </Link>
            </td>
            {columns.map(({ field, cell }) => (
              <td key={field} className="numeric">
                {cell(thread)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
