import type { UseQueryResult } from '@tanstack/react-query';
import { ArrowDown, ArrowUp, type LucideIcon, RefreshCw, Search, X } from 'lucide-react';
import {
  type ComponentProps,
  type FormEvent,
  type KeyboardEventHandler,
  type ReactNode,
  type RefObject,
  useEffect,
  useState,
} from 'react';
import { errorText } from '../api/http.ts';
import { momentText } from '../data/format.ts';

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

interface IconButtonProps extends Omit<ButtonProps, 'children'> {
  readonly icon: LucideIcon;
  /** What it does: for screen readers, and where the pointer rests. */
  readonly name: string;
}

/** A button that is an icon. */
export const IconButton = ({ icon: Icon, name, className = '', ...props }: IconButtonProps) => (
  <Button kind="quiet" className={`icon ${className}`} aria-label={name} title={name} {...props}>
    <Icon />
  </Button>
);

/** Reads a view again. */
export const RefreshButton = ({ onClick }: { onClick: () => unknown }) => (
  <IconButton icon={RefreshCw} name="Refresh" onClick={onClick} />
);

interface SkeletonProps {
  /** What is being read, for screen readers. */
  readonly label: string;
  /** How many lines will come, about. @default 6 */
  readonly rows?: number;
  /** The class of what they stand in, if not lines. */
  readonly className?: string;
}

/** Stands where something is being read, and takes the room of what comes. */
export const Skeleton = ({ label, rows = 6, className = 'skeletons' }: SkeletonProps) => (
  <div className={className} role={label ? 'status' : undefined}>
    {label ? <span className="hidden">{label}</span> : null}
    {Array.from({ length: rows }, (_, at) => (
      <span key={at} className="skeleton" aria-hidden="true" />
    ))}
  </div>
);

interface EmptyProps {
  readonly icon: LucideIcon;
  readonly title: string;
  /** What would be there, and how it comes to be. */
  readonly children: ReactNode;
  readonly action?: ReactNode;
}

/** Stands where nothing is yet. */
export const Empty = ({ icon: Icon, title, children, action }: EmptyProps) => (
  <section className="empty" role="status">
    <Icon />
    <h2>{title}</h2>
    <p>{children}</p>
    {action}
  </section>
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
      {errorText(error)}
    </Notice>
  ) : null;

interface QueryStatusProps {
  readonly queries: readonly Pick<UseQueryResult, 'error' | 'isLoading' | 'refetch'>[];
  /** What is said while something is read for the first time. @default - nothing */
  readonly loading?: string;
}

/** What stands there while queries are under way, and if one failed. */
export const QueryStatus = ({ queries, loading }: QueryStatusProps) => {
  const failed = queries.filter(({ error }) => error);
  if (failed.length > 0)
    return (
      <Failure
        error={failed[0]?.error}
        onRetry={() => {
          for (const { refetch } of failed) refetch();
        }}
      />
    );
  return loading && queries.some(({ isLoading }) => isLoading) ? <Skeleton label={loading} /> : null;
};

interface CheckProps {
  readonly label: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly disabled?: boolean;
  readonly title?: string | undefined;
  /** The id of what explains it. @default - nothing does */
  readonly describedBy?: string;
  /** Whether it acts at once, and looks like it. @default false */
  readonly isSwitch?: boolean;
}

/** A checkbox with its label. */
export const Check = ({ label, onChange, title, describedBy, isSwitch = false, ...props }: CheckProps) => (
  <label className={isSwitch ? 'check switch' : 'check'} title={title}>
    <input
      type="checkbox"
      {...props}
      aria-describedby={describedBy}
      onChange={(event) => onChange(event.target.checked)}
    />
    <span>{label}</span>
  </label>
);

interface SearchBoxProps {
  readonly label: string;
  /** @default - the label */
  readonly placeholder?: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  /** Called when the text is emptied by its cross. */
  readonly onClear?: () => void;
  readonly onKeyDown?: KeyboardEventHandler<HTMLInputElement>;
  readonly box?: RefObject<HTMLInputElement | null> | undefined;
}

/** A field for what is searched for, with a cross that empties it. */
export const SearchBox = ({
  label,
  placeholder = label,
  text,
  onText,
  onClear,
  onKeyDown,
  box,
}: SearchBoxProps) => (
  <span className="search-box">
    <Search />
    <input
      type="search"
      ref={box}
      aria-label={label}
      placeholder={placeholder}
      spellCheck={false}
      value={text}
      onChange={(event) => onText(event.target.value)}
      onKeyDown={onKeyDown}
    />
    {text === '' ? null : (
      <button
        type="button"
        aria-label="Clear the search"
        onClick={({ currentTarget }) => {
          currentTarget.parentElement?.querySelector('input')?.focus();
          onText('');
          onClear?.();
        }}
      >
        <X />
      </button>
    )}
  </span>
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
      <SearchBox
        label={label}
        box={box}
        text={typed}
        onText={setTyped}
        onClear={() => text && onSearch(undefined)}
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
    {order === 'ascending' ? <ArrowUp /> : order ? <ArrowDown /> : null}
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
  /** Those of `select` and `action` say what they are to screen readers alone. */
  readonly className?: 'numeric' | 'break' | 'select' | 'action';
  readonly cell: (row: Row, at: number) => ReactNode;
  /** Sorts by it. @default - it cannot be sorted by */
  readonly onSort?: () => void;
  readonly order?: SortButtonProps['order'];
}

interface TableProps<Row> {
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  readonly getKey: (row: Row) => string | number;
  readonly className?: string;
  /** The row that the keyboard is at. @default - none */
  readonly active?: number;
}

/** A table of a few rows. */
export const Table = <Row,>({ columns, rows, getKey, className = '', active = -1 }: TableProps<Row>) => (
  <table className={`plain-table ${className}`}>
    <thead>
      <tr>
        {columns.map(({ title, className: cellClass = '', onSort, order }) => (
          <th key={title} className={cellClass} {...(onSort && { 'aria-sort': order ?? 'none' })}>
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
        <tr key={getKey(row)} className={at === active ? 'active' : ''}>
          {columns.map(({ title, className: cellClass = '', cell }) => (
            <td
              key={title}
              className={cellClass}
              data-title={title}
              dir={cellClass === 'numeric' ? undefined : 'auto'}
            >
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

/**
 * A table that may be wider than its place. It scrolls, so the keyboard must reach it. On a phone, its rows are
 * cards.
 */
export const ScrollTable = <Row,>({
  label,
  className = 'wide as-cards',
  ...props
}: ScrollTableProps<Row>) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
  <div className="scroll-x" role="region" aria-label={label} tabIndex={0}>
    <Table className={className} {...props} />
  </div>
);
