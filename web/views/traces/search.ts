/*
 * The state of the list of traces, as the URL has it. What a link says that is not understood is
 * dropped, so that a link from another version still opens.
 */

/** How a condition compares. */
export type Operator = 'is' | 'is not' | 'contains' | 'above' | 'below' | 'exists' | 'is missing';

export const operators: readonly Operator[] = [
  'is',
  'is not',
  'contains',
  'above',
  'below',
  'exists',
  'is missing',
];

/**
 * The word for what a row cost, which is no path. The service works costs out from prices, and the
 * page tests each row by them.
 */
export const costPath = 'cost';

/** How costs are compared. */
export const costOperators: readonly Operator[] = ['above', 'below', 'exists', 'is missing'];

/** A condition on a column, on a path into one, or on the cost. */
export interface Condition {
  readonly path: string;
  readonly op: Operator;
  /** What it is compared with, as it was typed. Numbers, booleans and null are meant as such. */
  readonly value: string;
}

/** The spans of time to choose from, in minutes. */
export const ranges = { '1h': 60, '24h': 1440, '7d': 10_080, '30d': 43_200 } as const;

export type Range = keyof typeof ranges;

/** What feedback calls are listed by. */
export const feedbackFilters = ['given', 'up', 'down', 'score', 'note', 'correction', 'none'] as const;

export type FeedbackFilter = (typeof feedbackFilters)[number];

/** The state of the list. Everything but the project is optional. */
export interface TracesSearch {
  readonly project: string;
  /** The last hour, day, …. @default - all time */
  readonly range?: Range;
  /**
   * The first moment, inclusive, and the last, exclusive: ISO 8601. One without an offset is in the
   * reader's own time. @default - open
   */
  readonly from?: string;
  readonly to?: string;
  /** All calls and not only roots. @default - false */
  readonly all?: boolean;
  readonly status?: readonly string[];
  /** A text that inputs or output contain. */
  readonly text?: string;
  readonly where?: readonly Condition[];
  readonly feedback?: FeedbackFilter;
  /** Paths of further columns. */
  readonly columns?: readonly string[];
  /** A path to sort by, with `-` before it for descending. @default -started_at */
  readonly sort?: string;
  /** Whether new traces come in by themselves. @default - false */
  readonly live?: boolean;
}

const textOf = (value: unknown): string | undefined => {
  // The router reads `thread=17` as a number.
  const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  return typeof text === 'string' && text !== '' ? text : undefined;
};

const textsOf = (value: unknown): string[] | undefined => {
  const texts = Array.isArray(value) ? value.flatMap((item) => textOf(item) ?? []) : [];
  return texts.length > 0 ? texts : undefined;
};

/** Whether an operator compares with a value. */
export const needsValue = (op: Operator): boolean => op !== 'exists' && op !== 'is missing';

const isCostCondition = ({ op, value }: Condition): boolean =>
  !needsValue(op) || (value.trim() !== '' && Number.isFinite(Number(value)));

const conditionOf = (value: unknown): Condition[] => {
  const { path, op, value: sought } = (value ?? {}) as Record<string, unknown>;
  const text = textOf(path);
  const known = (text === costPath ? costOperators : operators).find((operator) => operator === op);
  if (text === undefined || !known) return [];
  const condition = { path: text, op: known, value: textOf(sought) ?? '' };
  return text === costPath && !isCostCondition(condition) ? [] : [condition];
};

/** Whether a value names a span of time. */
export const isRange = (value: unknown): value is Range =>
  typeof value === 'string' && Object.hasOwn(ranges, value);

const defined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;

/** Reads the state from a URL. */
export const parseTracesSearch = (search: Record<string, unknown>): TracesSearch => {
  const where = Array.isArray(search.where) ? search.where.flatMap(conditionOf) : [];
  return defined({
    project: textOf(search.project) ?? '',
    range: isRange(search.range) ? search.range : undefined,
    from: textOf(search.from),
    to: textOf(search.to),
    all: search.all === true || undefined,
    status: textsOf(search.status),
    text: textOf(search.text),
    where: where.length > 0 ? where : undefined,
    feedback: feedbackFilters.find((filter) => filter === search.feedback),
    columns: textsOf(search.columns),
    sort: textOf(search.sort),
    live: search.live === true || undefined,
  }) as TracesSearch;
};
