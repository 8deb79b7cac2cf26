import type { UseQueryResult } from '@tanstack/react-query';
import {
  type ComponentProps,
  type FormEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useState,
} from 'react';
import { type CallRow, type Status, type Usage, waitOf } from '../api/calls.ts';
import type { Marks } from '../api/feedback.ts';
import { wordsOf } from '../api/http.ts';
import { costText, momentText, tokensText, waitText } from '../data/format.ts';

/** The sign of the product: a penny with a trace on it. */
export const Logo = () => (
  <svg className="logo" viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
    <circle cx="16" cy="16" r="15" fill="var(--accent)" />
    <path d="M8 11h16M12 16h12M16 21h8" stroke="var(--on-accent)" strokeWidth="2.6" strokeLinecap="round" />
  </svg>
);

interface ButtonProps extends ComponentProps<'button'> {
  /** @default 'plain' */
  readonly kind?: 'plain' | 'primary' | 'quiet';
  /** Whether it does nothing now. Unlike a disabled button, it keeps the focus. @default false */
  readonly idle?: boolean;
}

const doNothing = (event: { preventDefault(): void }) => event.preventDefault();

/** A button. It submits nothing unless it is told to. */
export const Button = ({ kind = 'plain', type = 'button', className = '', idle, ...props }: ButtonProps) => (
  <button
    type={type}
    className={`button ${kind} ${className}`}
    {...props}
    {...(idle && { 'aria-disabled': true, onClick: doNothing })}
  />
);

interface CopyButtonProps {
  /** What to copy. It is asked for only when somebody copies: it may be long. */
  readonly text: () => string;
  readonly children: ReactNode;
  readonly label?: string;
}

/** Copies a text, and says whether that worked. */
export const CopyButton = ({ text, children, label }: CopyButtonProps) => {
  const [outcome, setOutcome] = useState<string>();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      setOutcome('Copied');
    } catch {
      // Browsers keep the clipboard from pages without HTTPS. A value may also nest too deeply.
      setOutcome('Cannot copy');
    }
    setTimeout(() => setOutcome(undefined), 2000);
  };
  return (
    <Button kind="quiet" onClick={copy} aria-label={label}>
      <span aria-live="polite">{outcome ?? children}</span>
    </Button>
  );
};

interface NoticeProps {
  readonly kind: 'error' | 'info';
  readonly children: ReactNode;
  /** What to do about it. */
  readonly action?: ReactNode;
}

/** Says what happened, and what to do. Errors are announced to screen readers at once. */
export const Notice = ({ kind, children, action }: NoticeProps) => (
  <div className={`notice ${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
    <div>{children}</div>
    {action}
  </div>
);

interface FailureProps {
  /** What failed; nothing stands there without it. */
  readonly error: unknown;
  readonly onRetry: () => unknown;
}

/** Says what failed, and tries again. */
export const Failure = ({ error, onRetry }: FailureProps) =>
  error ? (
    <Notice kind="error" action={<Button onClick={() => onRetry()}>Try again</Button>}>
      {wordsOf(error)}
    </Notice>
  ) : null;

interface QueryStatusProps {
  readonly of: readonly Pick<UseQueryResult, 'error' | 'isLoading' | 'refetch'>[];
  /** What is said while something is read for the first time. @default - nothing */
  readonly loading?: string;
}

/** What stands there while queries are under way, and if one failed. */
export const QueryStatus = ({ of, loading }: QueryStatusProps) => {
  const failed = of.filter(({ error }) => error);
  if (failed.length > 0)
    return (
      <Failure
        error={failed[0]?.error}
        onRetry={() => {
          for (const { refetch } of failed) refetch();
        }}
      />
    );
  return loading && of.some(({ isLoading }) => isLoading) ? <p className="muted">{loading}</p> : null;
};

interface CheckProps {
  readonly label: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly disabled?: boolean;
  readonly title?: string | undefined;
}

/** A checkbox with its label. */
export const Check = ({ label, onChange, title, ...props }: CheckProps) => (
  <label className="check" title={title}>
    <input type="checkbox" {...props} onChange={(event) => onChange(event.target.checked)} />
    <span>{label}</span>
  </label>
);

interface SearchFormProps {
  readonly label: string;
  /** What is searched for now. @default - nothing */
  readonly text: string | undefined;
  readonly box: RefObject<HTMLInputElement | null>;
  readonly onSearch: (text: string | undefined) => void;
}

/** A search that begins with Enter. */
export const SearchForm = ({ label, text = '', box, onSearch }: SearchFormProps) => {
  const [typed, setTyped] = useState(text);
  useEffect(() => setTyped(text), [text]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSearch(typed.trim() || undefined);
  };
  return (
    <form className="search" onSubmit={submit} role="search">
      <input
        type="search"
        ref={box}
        aria-label={label}
        placeholder={label}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
    </form>
  );
};

/** A moment in the reader's own time. */
export const Moment = ({ time, ...props }: { time: string } & ComponentProps<'time'>) => (
  <time dateTime={time} {...props}>
    {momentText(time)}
  </time>
);

interface SortButtonProps extends ComponentProps<'button'> {
  /** How the column is sorted; undefined if the order is another. */
  readonly order: 'ascending' | 'descending' | undefined;
}

/** The title of a column that can be sorted by. */
export const SortButton = ({ order, children, ...props }: SortButtonProps) => (
  <button type="button" className="sort" {...props}>
    <span className="cut">{children}</span>
    <span aria-hidden="true">{order === 'ascending' ? ' ↑' : order ? ' ↓' : ''}</span>
  </button>
);

/**
 * What columns need to be sorted by, the largest first, then the other way.
 *
 * @param sort the column that rows are sorted by, with `-` before it for descending
 */
export const sortableBy = (sort: string, onSort: (sort: string) => void) => (column: string) => ({
  order:
    sort === `-${column}` ? ('descending' as const) : sort === column ? ('ascending' as const) : undefined,
  onSort: () => onSort(sort === `-${column}` ? column : `-${column}`),
});

export interface TableColumn<Row> {
  readonly title: string;
  readonly className?: 'numeric' | 'break' | 'select';
  readonly cell: (row: Row, at: number) => ReactNode;
  /** Sorts by it. @default - it cannot be sorted by */
  readonly onSort?: () => void;
  readonly order?: SortButtonProps['order'];
}

interface TableProps<Row> {
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  readonly className?: string;
  /** The row that the keyboard is at. @default - none */
  readonly active?: number;
}

/** A table of a few rows. */
export const Table = <Row,>({ columns, rows, keyOf, className = '', active = -1 }: TableProps<Row>) => (
  <table className={`plain-table ${className}`}>
    <thead>
      <tr>
        {columns.map(({ title, className: of = '', onSort, order }) => (
          <th key={title} className={of} {...(onSort && { 'aria-sort': order ?? 'none' })}>
            {onSort ? (
              <SortButton order={order} onClick={onSort}>
                {title}
              </SortButton>
            ) : (
              title
            )}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map((row, at) => (
        <tr key={keyOf(row)} className={at === active ? 'active' : ''}>
          {columns.map(({ title, className: of = '', cell }) => (
            <td key={title} className={of} dir={of === 'numeric' ? undefined : 'auto'}>
              {cell(row, at)}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
);

interface ScrollTableProps<Row> extends TableProps<Row> {
  /** What it has, for screen readers. */
  readonly label: string;
}

/** A table that may be wider than its place. It scrolls, so the keyboard must reach it. */
export const ScrollTable = <Row,>({ label, className = 'wide', ...props }: ScrollTableProps<Row>) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
  <div className="scroll-x" role="region" aria-label={label} tabIndex={0}>
    <Table className={className} {...props} />
  </div>
);

interface CallFiguresProps {
  readonly usage: Usage | undefined;
  readonly duration: string;
  readonly title?: string;
}

/** What a call took, in short. */
export const CallFigures = ({ usage, duration, title }: CallFiguresProps) => (
  <span className="figures">
    {usage?.cost === undefined ? null : <span>{costText(usage.cost)}</span>}
    {usage && usage.total > 0 ? <span>{tokensText(usage.total)} tok</span> : null}
    <span title={title}>{duration}</span>
  </span>
);

/** The states of calls in words. */
export const statusTexts: Readonly<Record<Status, string>> = {
  success: 'ok',
  error: 'error',
  descendant_error: 'error below',
  running: 'running',
};

/** The states of calls as signs. */
export const statusSigns: Readonly<Record<Status, string>> = {
  success: '✓',
  error: '✕',
  descendant_error: '!',
  running: '…',
};

/** The state of a call, by sign, word and color: none of them alone. */
export const StatusBadge = ({ status }: { status: Status }) => (
  <span className={`badge ${status}`}>
    <span aria-hidden="true">{statusSigns[status]}</span> {statusTexts[status]}
  </span>
);

/** Whether a call waits for a person, or how long it did; nothing for one that did not. */
export const WaitBadge = ({ call }: { call: CallRow }) => {
  const wait = waitOf(call);
  if (wait === undefined) return null;
  return (
    <span className={`badge ${wait === true ? 'waiting' : 'waited'}`}>
      <svg className="person" viewBox="0 0 16 16" width="12" height="12" aria-hidden="true">
        <path d="M8 2.5a2.7 2.7 0 1 0 0 5.4a2.7 2.7 0 1 0 0-5.4zM2.8 14c.4-5.4 10-5.4 10.4 0z" />
      </svg>
      {waitText(wait)}
    </span>
  );
};

/** A thumb, drawn: not every device has a font with one. */
export const Thumb = ({ up }: { up: boolean }) => (
  <svg
    className="thumb"
    viewBox="0 0 20 20"
    width="16"
    height="16"
    aria-hidden="true"
    style={up ? undefined : { transform: 'scaleY(-1)' }}
  >
    <path
      d="M2.5 9h3v8h-3zM7.5 9l3.3-6.3c1.4 0 2.2 1 1.9 2.4L12 8h4.2c1.1 0 1.8 1 1.5 2l-1.5 5.4c-.3 1-1.1 1.6-2.1 1.6H7.5z"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinejoin="round"
    />
  </svg>
);

const scoreText = (score: number): string => String(Math.round(score * 100) / 100);

/** What feedback comes to, by signs that have words. */
export const FeedbackMarks = ({ marks }: { marks: Marks }) => {
  const { up, down, score, notes, corrections, others } = marks;
  const parts: readonly (readonly [ReactNode, string, string, boolean])[] = [
    [<Thumb key="up" up />, up > 1 ? String(up) : '', 'thumbs up', up > 0],
    [<Thumb key="down" up={false} />, down > 1 ? String(down) : '', 'thumbs down', down > 0],
    ['★', score === undefined ? '' : scoreText(score), 'score', score !== undefined],
    ['✎', notes > 1 ? String(notes) : '', 'note', notes > 0],
    ['↻', corrections > 1 ? String(corrections) : '', 'correction', corrections > 0],
    ['•', String(others), 'other feedback', others > 0],
  ];
  return (
    <span className="marks">
      {parts
        .filter(([, , , shown]) => shown)
        .map(([sign, text, name]) => (
          <span key={name} title={name}>
            <span role="img" aria-label={name}>
              {sign}
            </span>
            {text}
          </span>
        ))}
    </span>
  );
};
