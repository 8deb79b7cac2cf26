import { type CallRow, type Cost, sumUsage, usageByModel } from '../../api/calls.ts';
import type { ListOptions } from '../../calls/list/call-list.ts';
import { chunkSize, getTotals, type RowFigures, readUsage } from '../../calls/list/usage.ts';
import { csvLine } from '../../data/csv.ts';
import { parseToWrite, valueAt } from '../../data/values.ts';

export interface Exported extends ListOptions {
  readonly form: 'jsonl' | 'csv';
  /** Is told how many rows were read and, once they all were, how many of them were looked up. */
  readonly onProgress: (read: number, lookedUp?: number) => void;
  readonly signal: AbortSignal;
}

type Wire = Record<string, unknown>;

const mediaTypes = { jsonl: 'application/jsonl', csv: 'text/csv' } as const;

/** How many look-ups are under way at once. */
const lookUps = 4;

/** The columns of every row, in the order of the service. */
const always = ['id', 'project_id', 'op_name', 'trace_id', 'started_at'];

/** The amount of a cost. One in several units has none. */
const getAmount = (cost: Cost | undefined): number | null => {
  const [amount = null, ...others] = cost?.values() ?? [];
  return others.length > 0 ? null : amount;
};

/** What the list shows of a root beside the call itself. */
const traceFigures = (figures: RowFigures | undefined) => ({
  trace_errors: figures?.errors ?? null,
  trace_tokens: figures?.usage?.total ?? null,
  trace_cost: getAmount(figures?.usage?.cost),
});

const traceColumns = Object.keys(traceFigures(undefined));

/** What rows hold beside what the list shows, if it is asked for. */
export const contents = ['inputs', 'output', 'attributes', 'exception'] as const;

/** A list with whole contents of its calls; paths into them are in these already. */
export const withContents = (options: ListOptions, chosen: readonly string[]): ListOptions => {
  const { columns = [] } = options.request;
  const others = (columns ?? []).filter(
    (path) => !chosen.some((column) => `${path}.`.startsWith(`${column}.`)),
  );
  return { ...options, request: { ...options.request, columns: [...others, ...chosen] } };
};

/** The columns of a file, as the service calls them: those of every row, those that are asked for, and figures. */
export const exportedColumns = ({
  request,
  roots,
}: Pick<ListOptions, 'request' | 'roots'>): readonly string[] => {
  const requestedColumns = [
    ...always,
    ...(request.columns ?? []),
    ...(request.include_costs ? ['summary.svc.costs'] : []),
    ...(request.include_feedback ? ['summary.svc.feedback'] : []),
    ...(roots ? traceColumns : []),
  ];
  return [...new Set(requestedColumns)];
};

/** The rows as lines, of CSV with the columns that the request asks for. */
const fileLines = (rows: readonly Wire[], exported: Exported): string[] => {
  if (exported.form === 'jsonl') return rows.map((row) => `${JSON.stringify(row)}\n`);
  const columns = exportedColumns(exported);
  const fields = rows.map((row) => columns.map((path) => valueAt(row, path)));
  return [columns, ...fields].map((values) => `${csvLine(values)}\n`);
};

interface ReadRow {
  readonly text: string;
  readonly call: CallRow;
}

const readRows = async ({ client, request, signal, onProgress }: Exported): Promise<ReadRow[]> => {
  const rows: ReadRow[] = [];
  for await (const batch of client.streamWithText('/calls/stream_query', request, signal)) {
    for (const { text, value } of batch) rows.push({ text, call: value });
    onProgress(rows.length);
  }
  return rows;
};

/** The figures of traces by their roots: as the rows say them, or looked up, some at a time. */
const readFigures = async (
  { client, request, signal, onProgress }: Exported,
  rows: readonly CallRow[],
): Promise<Map<string, RowFigures>> => {
  const figures = rows.flatMap((row): [string, RowFigures][] => {
    const totals = getTotals(row);
    return totals ? [[row.id, totals]] : [];
  });
  const known = new Map<string, RowFigures>(figures);
  let next = figures.length;
  const work = async () => {
    while (next < rows.length) {
      const chunk = rows.slice(next, next + chunkSize);
      next += chunkSize;
      const found = await readUsage(client, request.project_id, chunk, signal);
      for (const [id, figures] of found) known.set(id, figures);
      onProgress(rows.length, known.size);
    }
  };
  await Promise.all(Array.from({ length: lookUps }, work));
  return known;
};

/**
 * All rows of a list with what it shows of them, as a file. The rows come first and their figures
 * after that, so that no stream has to wait for its reader.
 *
 * @throws RequestFailed in words for people; DOMException AbortError
 */
export const exportRows = async (exported: Exported): Promise<Blob> => {
  const { client, request, roots, costTest, form, signal } = exported;
  // The service writes what it has itself.
  if (!roots && !costTest) return client.download('/calls/stream_query', request, mediaTypes[form], signal);
  const rows = await readRows(exported);
  const calls = rows.map(({ call }) => call);
  const figures = roots
    ? await readFigures(exported, calls)
    : new Map(calls.map((call) => [call.id, { usage: sumUsage(usageByModel(call).values()) }]));
  const kept = rows.flatMap(({ text, call }) => {
    const found = figures.get(call.id);
    if (costTest && !costTest(found)) return [];
    const row = parseToWrite(text) as Wire;
    return [roots ? { ...row, ...traceFigures(found) } : row];
  });
  return new Blob(fileLines(kept, exported), { type: mediaTypes[form] });
};
