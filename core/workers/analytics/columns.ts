/*
 * The columns of the files, and of the tables over them. Files, Glue tables, views and documents
 * are made from this list. Only add at the end: files that are stored already lack a new column,
 * and readers see null there.
 */

/** What a column holds, in words that people think in. */
export type ColumnKind =
  | 'text'
  | 'timestamp'
  | 'integer'
  | 'number'
  | 'flag'
  /** US dollars or another unit of money, with nine decimal places. */
  | 'money'
  /** By model: money. */
  | 'moneyByModel'
  /** By model: tokens of prompts and completions, cached ones, and requests. */
  | 'usageByModel'
  /** By name: numbers. */
  | 'numberByName';

export interface Column {
  readonly name: string;
  readonly kind: ColumnKind;
  readonly about: string;
}

const column = (name: string, kind: ColumnKind, about: string): Column => ({ name, kind, about });

/** What every row has, whatever it is about. */
const common: readonly Column[] = [
  column('project_id', 'text', 'The project, <entity>/<project>. The partition `project` is the same.'),
  column('id', 'text', 'The id of the call or the feedback.'),
  column('version', 'text', 'Of two rows of one id, the later one has the greater version.'),
  column('written_at', 'timestamp', 'When the row was written.'),
  column('deleted', 'flag', 'Whether what the row is about was deleted. It then has no other columns.'),
];

/** The columns of calls: one row for each state of a call. */
export const callColumns: readonly Column[] = [
  ...common,
  column('trace_id', 'text', 'The trace.'),
  column('parent_id', 'text', 'The call that made it; null for the root of a trace.'),
  column('thread_id', 'text', 'The conversation; null without one.'),
  column('turn_id', 'text', 'The turn of the thread; null without one.'),
  column('op_name', 'text', 'What was called: a name, or an op ref.'),
  column('trace_name', 'text', 'The name to show.'),
  column('started_at', 'timestamp', 'When it started, in UTC.'),
  column('ended_at', 'timestamp', 'When it ended; null while it runs.'),
  column('latency_ms', 'integer', 'Milliseconds from start to end; null while it runs.'),
  column('status', 'text', 'running, success, error or descendant_error.'),
  column('user_id', 'text', 'The user whose key reported it.'),
  column('run_id', 'text', 'The run; null without one.'),
  column('run_step', 'integer', "The run's step at the start; null without one."),
  column('run_step_end', 'integer', "The run's step at the end; null without one."),
  column('usage', 'usageByModel', 'Tokens and requests, by model.'),
  column('costs', 'moneyByModel', 'What it cost, by model. Models without a price are left out.'),
  column('total_cost', 'money', 'The sum of its costs.'),
  column('storage_size_bytes', 'integer', 'Bytes of JSON that it was reported as.'),
  column('end_user_id', 'text', 'The end user, of at most 128 characters; null without one.'),
  column('kind', 'text', 'What it stands for: agent, model, tool and so on; null if nobody says it.'),
  column('environment', 'text', 'Where the program ran; null if nobody says it.'),
  column('release', 'text', 'The version of the program; null if nobody says it.'),
  column('tool', 'text', 'The tool that it is a call of, <server>.<tool> of MCP; null for none.'),
  column('agent', 'text', 'The agent that it belongs to; null if nobody says it.'),
  column(
    'waited_ms',
    'integer',
    'Milliseconds of its latency that it waited for a person; null if it did not.',
  ),
];

/** The columns of feedback: one row for each state of a record. */
const feedbackColumns: readonly Column[] = [
  ...common,
  column('ref', 'text', 'What it is on.'),
  column('call_id', 'text', 'The call that it is on; null if it is on something else.'),
  column('feedback_type', 'text', 'What kind of feedback it is.'),
  column('creator', 'text', 'Who gave it, as free text; null if unknown.'),
  column('created_at', 'timestamp', 'When it was stored, in UTC.'),
  column('user_id', 'text', 'The user whose key stored it.'),
  column('score', 'number', "The payload's `score`, else its `value`; null if it has neither."),
  column('scores', 'numberByName', "The payload's numbers by their names; true counts 1, false 0."),
  column('payload', 'text', 'The payload as JSON; null if it has more than 16 KB.'),
];

/** What the files are about. */
export const datasets = { calls: callColumns, feedback: feedbackColumns } as const;

/** The name of a set of files. */
export type Dataset = keyof typeof datasets;

/** The counts of one model's usage, in the order of the struct. */
export const usageFields = [
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'requests',
  'cache_read_tokens',
  'cache_write_tokens',
] as const;

/** The number of decimal places of money, and of its digits in all. */
export const moneyScale = 9;
export const moneyPrecision = 18;

/** The counts of one model, by the names of their fields. */
export type UsageCell = Readonly<Record<string, number>>;

/** A value of a cell. Times are microseconds. */
export type Cell =
  | string
  | number
  | boolean
  | null
  | Readonly<Record<string, number>>
  | Readonly<Record<string, UsageCell>>;

/** A row: cells by the names of their columns. Missing cells are null. */
export interface Row {
  readonly dataset: Dataset;
  /** The day in UTC that the row is filed under: `2026-11-22`. */
  readonly day: string;
  readonly cells: Readonly<Record<string, Cell>>;
}
