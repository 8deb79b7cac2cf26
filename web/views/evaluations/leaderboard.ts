import type { CallRow } from '../../api/calls.ts';
import { isObject, valueAt } from '../../data/values.ts';
import { namedBy } from './scores.ts';

/** A column of a leaderboard: a figure in the summaries of an evaluation. */
interface BoardColumn {
  readonly title: string;
  /** The ref of the evaluation; `:*` at its end stands for every version. */
  readonly evaluation: string;
  /** Where the output of an evaluation has it. */
  readonly path: string;
  readonly less: boolean;
}

/** An object of class `Leaderboard`, as Weave's SDKs publish it. */
export interface Board {
  readonly name: string | undefined;
  readonly columns: readonly BoardColumn[];
}

const columnIn = (value: unknown): BoardColumn | undefined => {
  if (!isObject(value)) return undefined;
  const { evaluation_object_ref: evaluation, scorer_name: scorer, summary_metric_path: metric } = value;
  if (typeof evaluation !== 'string' || typeof scorer !== 'string') return undefined;
  const path = typeof metric === 'string' && metric !== '' ? `${scorer}.${metric}` : scorer;
  const title = `${namedBy(evaluation)?.name ?? ''} ${path}`;
  return { title, evaluation, path, less: value.should_minimize === true };
};

/** Reads a leaderboard; undefined if the value is none. Columns without an evaluation are left out. */
export const boardIn = (value: unknown): Board | undefined => {
  if (!isObject(value) || !Array.isArray(value.columns)) return undefined;
  const columns = new Map<string, BoardColumn>();
  for (const column of value.columns.map(columnIn)) if (column) columns.set(column.title, column);
  return {
    name: typeof value.name === 'string' ? value.name : undefined,
    columns: [...columns.values()],
  };
};

/** A model, with what each column has of it. */
export interface BoardRow {
  /** Its ref, or its name. */
  readonly model: string;
  /** The score, and the id of the evaluation that it is from; undefined for none. */
  readonly values: readonly ({ readonly score: number; readonly run: string } | undefined)[];
}

const isEvaluation = (ref: unknown, evaluation: string): boolean =>
  typeof ref === 'string' &&
  (evaluation.endsWith(':*') ? ref.startsWith(evaluation.slice(0, -1)) : ref === evaluation);

interface EvaluationInputs {
  readonly self?: unknown;
  readonly evaluation?: unknown;
  readonly model?: unknown;
}

/**
 * The models of a leaderboard, the best of its first column first, with the latest that each column
 * has of them.
 *
 * @param calls evaluations with `inputs` and `output`, the newest first
 */
export const toRows = (
  { columns }: Board,
  calls: readonly Pick<CallRow, 'id' | 'inputs' | 'output'>[],
): BoardRow[] => {
  const rows = new Map<string, BoardRow['values'][number][]>();
  for (const { id, inputs, output } of calls) {
    const { self, evaluation, model } = (inputs ?? {}) as EvaluationInputs;
    const key = typeof model === 'string' ? model : (namedBy(model)?.name ?? '');
    for (const [at, column] of columns.entries()) {
      if (!isEvaluation(self ?? evaluation, column.evaluation)) continue;
      const score = valueAt(output, column.path);
      const values = rows.get(key) ?? [];
      rows.set(key, values);
      if (typeof score === 'number') values[at] ??= { score, run: id };
    }
  }
  const sign = columns[0]?.less ? 1 : -1;
  const rank = ({ values }: BoardRow): number => (values[0] ? sign * values[0].score : Infinity);
  return [...rows]
    .map(([model, values]): BoardRow => ({ model, values }))
    .toSorted((one, other) => rank(one) - rank(other));
};
