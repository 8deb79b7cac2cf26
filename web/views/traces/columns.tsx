import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type CallRow, nameOf, statusOf, timeOf, usageByModel } from '../../api/calls.ts';
import { feedbackOf, marksOf } from '../../api/feedback.ts';
import { costText, countText, durationText, momentText, tokensText } from '../../data/format.ts';
import { valueAt } from '../../data/value-at.ts';
import { FeedbackMarks } from '../../ui/feedback-marks.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { feedbackPath } from './request.ts';
import type { RowFigures } from './row-figures.ts';
import type { TracesSearch } from './search.ts';

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
  cell: ({ started_at }) => <time dateTime={started_at}>{momentText(started_at)}</time>,
};

const latency: Column = {
  id: 'latency',
  title: 'Latency',
  path: 'summary.svc.latency_ms',
  width: '6rem',
  numeric: true,
  cell: ({ summary, started_at, ended_at }) => {
    const ms = summary?.svc?.latency_ms ?? timeOf(ended_at) - timeOf(started_at);
    return Number.isNaN(ms) ? '' : durationText(ms);
  },
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

const feedback = (service: string): Column => ({
  id: 'feedback',
  title: 'Feedback',
  width: '7.5rem',
  cell: (row) => <FeedbackMarks marks={marksOf(feedbackOf(row, service))} />,
});

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
export const columnsOf = (
  { all = false, columns = [], feedback: filter }: Pick<TracesSearch, 'all' | 'columns' | 'feedback'>,
  service: string,
): Column[] => [
  name,
  status,
  started,
  latency,
  all ? model : errors,
  tokens,
  cost,
  thread,
  user,
  ...(filter && !columns.includes(feedbackPath) ? [feedback(service)] : []),
  ...columns.map((path) => (path === feedbackPath ? feedback(service) : pathColumn(path))),
];
