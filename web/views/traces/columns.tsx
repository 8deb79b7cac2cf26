import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import {
  type CallRow,
  getAgent,
  getCallName,
  getDuration,
  getStatus,
  getWait,
  usageByModel,
} from '../../api/calls.ts';
import { getFeedback, sumMarks } from '../../api/feedback.ts';
import { getKind, type Preview } from '../../api/kind.ts';
import { FeedbackMarks, StatusBadge, Tokens, WaitBadge } from '../../calls/badges.tsx';
import { KindIcon } from '../../calls/kind-icon.tsx';
import { feedbackPath, scorePaths } from '../../calls/list/request.ts';
import type { RowFigures } from '../../calls/list/usage.ts';
import { shownPreview } from '../../calls/previews.ts';
import { parseScorePath, scoreOf, scoreText, tagAt, tagsColumn } from '../../calls/scores.ts';
import { costText, countText, latencyText, tookText } from '../../data/format.ts';
import { valueAt } from '../../data/values.ts';
import { isOfAllCalls, type TracesSearch, totalsPath } from '../../navigation/search.ts';
import { Person } from '../../session/session.tsx';
import { Moment } from '../../ui/controls.tsx';
import type { Hit } from './hits.ts';

/** What is known about a row beside the call itself. */
export interface About {
  /** Of a root those of its trace, of any other call its own; undefined as long as nobody knows. */
  readonly figures: RowFigures | undefined;
  /** What a root without content of its own was about. */
  readonly preview: Preview | undefined;
  /** Where the text stands that the row was found by. */
  readonly hit: Hit | undefined;
  /** The text that the rows were found by; undefined for none. */
  readonly sought: string | undefined;
  /** Its tags; undefined as long as nobody knows. */
  readonly tags: readonly string[] | undefined;
}

/** A column of the list. */
export interface Column {
  readonly id: string;
  readonly title: string;
  /** The path to sort by. @default - it cannot be sorted by */
  readonly path?: string;
  /** The least width in pixels. */
  readonly least: number;
  /** Its share of the room that is left. @default - none */
  readonly grow?: number;
  readonly numeric?: boolean;
  readonly cell: (row: CallRow, about: About) => ReactNode;
  /** Whether a row is a reason to show the column; `first` is the first one. @default - each is */
  readonly has?: (row: CallRow, about: About, first: CallRow) => boolean;
}

const name: Column = {
  id: 'name',
  title: 'Name',
  path: 'display_name',
  least: 140,
  grow: 1.2,
  cell: getCallName,
};

/** A hit in its sentence. */
const HitText = ({ hit: { before, found, after } }: { hit: Hit }) => (
  <span className="cut muted">
    {before}
    <mark>{found}</mark>
    {after}
  </span>
);

/** What a call was about, in one line: what went in, and what came out. */
export const PreviewText = ({ row, about }: { row: CallRow; about: About }) => {
  if (about.hit) return <HitText hit={about.hit} />;
  const { preview: below } = about;
  const both = {
    input: row.preview?.input ?? below?.input ?? null,
    output: row.preview?.output ?? below?.output ?? null,
  };
  const { input, output } = shownPreview(both, row);
  return (
    <span className="preview">
      {input === null ? null : (
        <span className="cut" dir="auto">
          {input}
        </span>
      )}
      {output === null ? null : (
        <>
          <span className="muted" aria-hidden="true">
            →
          </span>
          <span className={`cut ${getStatus(row) === 'error' ? 'failed' : 'muted'}`} dir="auto">
            {output}
          </span>
        </>
      )}
    </span>
  );
};

/** The state of a row. What failed below a root is known from its trace, however the list is sorted. */
const statusIn = (row: CallRow, { figures }: About) => {
  const status = getStatus(row);
  return status === 'success' && figures?.errors ? 'descendant_error' : status;
};

const preview: Column = {
  id: 'preview',
  title: 'Input / Output',
  least: 240,
  grow: 3,
  cell: (row, about) => {
    const status = statusIn(row, about);
    return (
      <span className="preview">
        {status === 'success' ? null : <StatusBadge status={status} />}
        <WaitBadge call={row} />
        <PreviewText row={row} about={about} />
      </span>
    );
  },
};

const started: Column = {
  id: 'started',
  title: 'Started',
  path: 'started_at',
  least: 132,
  cell: ({ started_at }) => <Moment time={started_at} />,
};

/** How long a call took; what points at it says how much of that was waiting for a person. */
export const RowLatency = ({ row }: { row: CallRow }) => {
  const ms = row.summary?.svc?.latency_ms ?? getDuration(row);
  const wait = getWait(row);
  return <span title={typeof wait === 'number' ? tookText(ms, wait) : undefined}>{latencyText(ms)}</span>;
};

const latency: Column = {
  id: 'latency',
  title: 'Latency',
  path: 'summary.svc.latency_ms',
  least: 76,
  numeric: true,
  cell: (row) => <RowLatency row={row} />,
};

const thread: Column = {
  id: 'thread',
  title: 'Thread',
  path: 'thread_id',
  least: 84,
  grow: 1.2,
  has: ({ thread_id }) => Boolean(thread_id),
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
  least: 60,
  grow: 0.3,
  has: ({ svc_user_id }, _, first) => svc_user_id !== first.svc_user_id,
  cell: ({ svc_user_id }) => (svc_user_id ? <Person user={svc_user_id} /> : ''),
};

const endUser: Column = {
  id: 'end-user',
  title: 'End user',
  path: 'attributes.user.id',
  least: 80,
  grow: 0.3,
  has: (row) => cellText(valueAt(row, 'attributes.user.id')) !== '',
  cell: (row) => cellText(valueAt(row, 'attributes.user.id')),
};

const agent: Column = {
  id: 'agent',
  title: 'Agent',
  path: 'attributes.agent.name',
  least: 80,
  grow: 0.4,
  // An agent's own calls have it as their name.
  has: (row) => ![undefined, getCallName(row)].includes(getAgent(row)),
  cell: (row) => getAgent(row) ?? '',
};

const model: Column = {
  id: 'model',
  title: 'Model',
  least: 96,
  grow: 0.6,
  has: (row) => usageByModel(row).size > 0,
  cell: (row) => [...usageByModel(row).keys()].join(', '),
};

const calls: Column = {
  id: 'calls',
  title: 'Calls',
  path: `${totalsPath}.call_count`,
  least: 64,
  numeric: true,
  has: (_, { figures }) => figures?.calls !== undefined,
  cell: (_, { figures }) => (figures?.calls === undefined ? '' : countText(figures.calls)),
};

const errors: Column = {
  id: 'errors',
  title: 'Errors',
  path: `${totalsPath}.error_count`,
  least: 64,
  numeric: true,
  has: (_, { figures }) => Boolean(figures?.errors),
  cell: (_, { figures }) =>
    figures?.errors ? <span className="error-text">{countText(figures.errors)}</span> : '',
};

const tokens: Column = {
  id: 'tokens',
  title: 'Tokens',
  least: 144,
  grow: 0.2,
  numeric: true,
  has: (_, { figures }) => !figures || figures.usage !== undefined,
  cell: (_, { figures }) => (figures?.usage ? <Tokens of={figures.usage} inColumn /> : ''),
};

const cost: Column = {
  id: 'cost',
  title: 'Cost',
  least: 84,
  numeric: true,
  has: (_, { figures }) => !figures || figures.usage?.cost !== undefined,
  cell: (_, { figures }) => (figures?.usage?.cost === undefined ? '' : costText(figures.usage.cost)),
};

const feedback: Column = {
  id: feedbackPath,
  title: 'Feedback',
  least: 110,
  cell: (row) => <FeedbackMarks marks={sumMarks(getFeedback(row))} />,
};

/** Tags in a line, as far as there is room. */
export const Tags = ({ tags }: { tags: readonly string[] }) => (
  <span className="tags">
    {tags.map((tag) => (
      <span key={tag} className="tag cut" dir="auto">
        {tag}
      </span>
    ))}
  </span>
);

const tags: Column = {
  id: tagsColumn,
  title: 'Tags',
  least: 120,
  grow: 0.6,
  cell: (_, { tags: known = [] }) => <Tags tags={known} />,
};

/** How much of a value a cell shows. */
const maxCellLength = 200;

const cellText = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.slice(0, maxCellLength);
};

const pathColumn = (path: string): Column => ({
  id: path,
  title: path,
  path,
  least: 120,
  grow: 0.8,
  cell: (row) => cellText(valueAt(row, path)),
});

const scoreColumn = (path: string, score: NonNullable<ReturnType<typeof parseScorePath>>): Column => ({
  id: path,
  title: scoreText(score),
  path,
  least: 90,
  cell: (row) => cellText(scoreOf(row, score)),
});

const columnAt = (path: string): Column => {
  if (path === feedbackPath) return feedback;
  if (path === tagsColumn) return tags;
  const score = parseScorePath(path);
  return score ? scoreColumn(path, score) : pathColumn(path);
};

/** The paths that the service adds up for roots, by the columns that are sorted by them. */
const rootTokens: Column = { ...tokens, path: `${totalsPath}.input_tokens` };
const rootCost: Column = { ...cost, path: `${totalsPath}.total_cost` };

/** Whether a list shows the tags of its calls: it was asked to, or is filtered by one. */
export const showsTags = ({ columns = [], where = [] }: TracesSearch): boolean =>
  columns.includes(tagsColumn) ||
  where.some(({ path }) => path === 'attributes.tags' || tagAt(path) !== undefined);

/**
 * All columns of a list, in the order that they have by themselves. Roots show the figures of their
 * traces, all other calls their own.
 */
export const makeColumns = (search: TracesSearch): Column[] => {
  const { columns = [], feedback: filter } = search;
  const further = [
    ...columns,
    ...(showsTags(search) ? [tagsColumn] : []),
    ...(filter ? [feedbackPath] : []),
    ...scorePaths(search),
  ];
  return [
    name,
    preview,
    started,
    latency,
    ...(isOfAllCalls(search) ? [model, tokens, cost] : [calls, errors, rootTokens, rootCost]),
    agent,
    thread,
    endUser,
    user,
    ...[...new Set(further)].map(columnAt),
  ];
};

/** What a call stands for, before its name. */
export const RowIcon = ({ row }: { row: CallRow }) => <KindIcon kind={getKind(row)} />;
