import { type UseQueryResult, useQueries, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { evaluatorClass } from '../../../api/shared/classes.ts';
import { type CallRow, getDuration, getStatus, opText, type Status } from '../../api/calls.ts';
import type { Client } from '../../api/client.ts';
import { getFeedback } from '../../api/feedback.ts';
import { readRows, withHeaderColumns } from '../../calls/data.ts';
import { toLine } from '../../calls/datasets/rows.ts';
import { toRequest } from '../../calls/list/request.ts';
import { type RowFigures, readUsage } from '../../calls/list/usage.ts';
import { isObject, toChunks, valueAt } from '../../data/values.ts';
import type { EvaluationsSearch } from '../../navigation/search.ts';
import { useRead, useSession } from '../../session/session.tsx';
import { ofClass, readObjects } from '../../session/stored.ts';
import type { RunRow } from './join.ts';
import {
  exampleKey,
  latencyIn,
  meansIn,
  type Named,
  namedBy,
  scoresIn,
  splitExample,
  type Verdict,
  verdictsIn,
} from './scores.ts';

/** The most evaluations that are listed, the newest. */
export const maxListed = 500;

/** The names of operations in every version, as the examples and both of Weave's SDKs report them. */
const toOpNames = (project: string, ...names: readonly string[]): string[] =>
  names.flatMap((name) => [name, `svc:///${project}/op/${name}:*`]);

/** The operation of evaluations, in every version. */
export const evaluateOps = (project: string): string[] => toOpNames(project, 'Evaluation.evaluate');

const rowOps = ['Evaluation.predict_and_score', 'Evaluation.predictAndScore'] as const;

/** An evaluation: what was evaluated on what, and what it came to. */
export interface Run {
  readonly id: string;
  readonly trace: string;
  readonly name: string;
  readonly startedAt: string;
  readonly status: Status;
  /** In ms; NaN while it runs. */
  readonly duration: number;
  readonly dataset: Named | undefined;
  readonly model: Named | undefined;
  /** The mean of each score, as its output has it. */
  readonly means: ReadonlyMap<string, number>;
  /** The mean latency of a row in ms, as its output has it. */
  readonly latency: number | undefined;
  /** Whether the page runs it, and so can continue it. */
  readonly isPages: boolean;
}

interface Definition {
  readonly name?: unknown;
  readonly dataset?: unknown;
}

const toRun = (row: CallRow): Run => {
  const { self, evaluation, model } = (row.inputs ?? {}) as Readonly<Record<string, unknown>>;
  const definition = (self ?? evaluation ?? {}) as Definition;
  const dataset = namedBy(definition.dataset);
  const named = row.display_name ?? namedBy(definition.name)?.name ?? dataset?.name;
  return {
    id: row.id,
    trace: row.trace_id,
    name: named ?? opText(row.op_name),
    startedAt: row.started_at,
    status: getStatus(row),
    duration: getDuration(row),
    dataset,
    model: namedBy(model),
    means: meansIn(row.output),
    latency: latencyIn(row.output),
    isPages: valueAt(row.attributes, 'plan.model') !== undefined,
  };
};

/** What is read of evaluations. What they refer to takes the place of the ref. */
const runColumns = {
  columns: withHeaderColumns(
    ...['self', 'evaluation'].flatMap((input) => [`inputs.${input}.name`, `inputs.${input}.dataset`]),
    'inputs.model',
    'attributes.plan.model',
    'output',
  ),
  expand_columns: ['inputs.self', 'inputs.evaluation'],
};

/** The evaluations of a time, the newest first. */
export const useEvaluations = ({ project, range, from, to }: EvaluationsSearch) =>
  useRead(['evaluations', project, range, from, to], async (reading) => {
    const span = { project, ...(range && { range }), ...(from && { from }), ...(to && { to }) };
    const rows = await readRows(reading, {
      ...toRequest(span, Date.now()),
      ...runColumns,
      filter: { op_names: evaluateOps(project), trace_roots_only: true },
      limit: maxListed,
    });
    return rows.map(toRun);
  });

/** How often an evaluation is read again while it runs, and for how long after its start, in ms. */
const runningMs = 5000;
const longestMs = 3_600_000;

/** Whether an evaluation runs. One that has run for long may have died, and is not followed. */
export const isRunning = ({ status, startedAt }: Run): boolean =>
  status === 'running' && Date.now() - Date.parse(startedAt) < longestMs;

/** Some evaluations by their ids, in this order; those that are not there are left out. */
export const useRuns = (project: string, ids: readonly string[]) =>
  useRead(
    ['evaluations by id', project, ids.toSorted()],
    async (reading): Promise<readonly Run[]> => {
      const request = { project_id: project, filter: { call_ids: [...ids] }, ...runColumns };
      return (await readRows(reading, request)).map(toRun);
    },
    {
      enabled: ids.length > 0,
      refetchInterval: ({ state: { data } }) => (data?.some(isRunning) ? runningMs : false),
      select: (runs) => ids.flatMap((id) => runs.find((run) => run.id === id) ?? []),
    },
  );

/** What an evaluation used and how many calls of it failed, and how many rows it has. */
export interface RunFigures extends RowFigures {
  readonly rows: number;
}

/** How many evaluations are counted at once. */
const batchSize = 8;

/** The figures of evaluations by their ids, as far as they are there. Each is counted once. */
export const useFigures = (project: string, runs: readonly Run[]): ReadonlyMap<string, RunFigures> => {
  const { client, me } = useSession();
  // The oldest come first, so that a new one changes the last batch alone.
  const inTime = runs.toSorted((one, other) => Date.parse(one.startedAt) - Date.parse(other.startedAt));
  return useQueries({
    queries: toChunks(inTime, batchSize).map((batch) => ({
      queryKey: ['evaluation figures', me.key_id, project, batch.map(({ id, status }) => [id, status])],
      queryFn: ({ signal }: { signal: AbortSignal }) => readFigures(client, project, batch, signal),
      staleTime: Number.POSITIVE_INFINITY,
    })),
    combine: (results) => new Map(results.flatMap(({ data }) => data ?? [])),
  });
};

const readFigures = async (
  client: Client,
  project: string,
  runs: readonly Run[],
  signal: AbortSignal,
): Promise<[string, RunFigures][]> => {
  const seen = runs.map(({ id, trace }) => ({ id, trace_id: trace }));
  const countRows = async ({ id, trace }: Run) => {
    const filter = { op_names: toOpNames(project, ...rowOps), parent_ids: [id], trace_ids: [trace] };
    return (await client.ask('/calls/query_stats', { project_id: project, filter }, signal)).count;
  };
  const [usage, counts] = await Promise.all([
    readUsage(client, project, seen, signal),
    Promise.all(runs.map(countRows)),
  ]);
  return runs.map(({ id }, at) => [id, { usage: undefined, ...usage.get(id), rows: counts[at] ?? 0 }]);
};

/** What the function answered, from the output of a row; undefined for nothing. */
export const outputIn = (output: unknown): unknown =>
  isObject(output) ? (output.output ?? output.model_output ?? undefined) : undefined;

const toRow = (call: CallRow): RunRow => {
  const example = (call.inputs as { readonly example?: unknown } | undefined)?.example;
  const output = (call.output ?? {}) as Readonly<Record<string, unknown>>;
  const { inputs, expected } = splitExample(example);
  const seconds = output.model_latency;
  return {
    id: call.id,
    key: exampleKey(example),
    inputs: toLine(inputs),
    expected: toLine(expected),
    output: toLine(outputIn(output)),
    // An evaluation goes on if its function fails. Weave's SDK for JavaScript says so in the output.
    failed: getStatus(call) === 'error' || output.model_success === false,
    scores: scoresIn(output.scores),
    latency: typeof seconds === 'number' ? seconds * 1000 : undefined,
  };
};

/** What is read of rows, and no more. */
const rowColumns = [
  'ended_at',
  'summary.svc',
  'inputs.example',
  ...['output', 'model_output', 'scores', 'model_latency', 'model_success'].map((field) => `output.${field}`),
];

/** The rows of an evaluation, as far as they have been read. */
interface ReadRows {
  readonly rows: readonly RunRow[];
  readonly complete: boolean;
}

/**
 * The rows of evaluations, in their order. The first of them are shown before all are there.
 *
 * @param running those that still run, whose rows are read again and again
 */
export const useRunRows = (project: string, ids: readonly string[], running: readonly string[]) => {
  const { client, me } = useSession();
  const cache = useQueryClient();
  const { retry, ...read } = useQueries({
    queries: ids.map((id) => {
      const queryKey = ['evaluation rows', me.key_id, project, id];
      return {
        queryKey,
        queryFn: async ({ signal }: { signal: AbortSignal }): Promise<ReadRows> => {
          const request = {
            project_id: project,
            filter: { op_names: toOpNames(project, ...rowOps), parent_ids: [id] },
            sort_by: [{ field: 'started_at', direction: 'asc' as const }],
            columns: rowColumns,
            expand_columns: ['inputs.example'],
          };
          const rows: RunRow[] = [];
          // What is shown already is not replaced by a part of it.
          let early = cache.getQueryData(queryKey) === undefined;
          for await (const batch of client.stream('/calls/stream_query', request, signal)) {
            rows.push(...batch.map(toRow));
            if (early) cache.setQueryData<ReadRows>(queryKey, { rows: [...rows], complete: false });
            early = false;
          }
          return { rows, complete: true };
        },
        refetchInterval: running.includes(id) ? runningMs : (false as const),
      };
    }),
    combine: collected,
  });
  // The last rows may have come after the last look.
  const before = useRef(running.length);
  useEffect(() => {
    if (running.length < before.current) retry();
    before.current = running.length;
  }, [running.length, retry]);
  return { ...read, retry };
};

const collected = (results: readonly UseQueryResult<ReadRows>[]) => ({
  parts: results.map(({ data }) => data),
  error: results.find(({ error }) => error)?.error ?? null,
  retry: () => {
    for (const { refetch } of results) refetch();
  },
});

/** What several queries read, once none is under way: rows are not joined anew for each of them. */
const together = <Data>(results: readonly UseQueryResult<Data>[]): readonly (Data | undefined)[] =>
  results.some(({ isLoading }) => isLoading) ? [] : results.map(({ data }) => data);

/** How many calls the service adds up at once. */
const maxAdded = 1000;

/** What each row of evaluations used and how much of it failed, by the ids of their calls. */
export const useRowFigures = (
  project: string,
  runs: readonly { readonly trace: string; readonly rows: readonly RunRow[] }[],
  enabled: boolean,
): readonly (ReadonlyMap<string, RowFigures> | undefined)[] => {
  const { client, me } = useSession();
  return useQueries({
    queries: runs.map(({ trace, rows }) => ({
      queryKey: ['evaluation row figures', me.key_id, project, trace, rows.length],
      queryFn: async ({ signal }: { signal: AbortSignal }): Promise<ReadonlyMap<string, RowFigures>> => {
        const all = new Map<string, RowFigures>();
        for (const some of toChunks(rows, maxAdded)) {
          const seen = some.map(({ id }) => ({ id, trace_id: trace }));
          for (const [id, figures] of await readUsage(client, project, seen, signal)) all.set(id, figures);
        }
        return all;
      },
      staleTime: Number.POSITIVE_INFINITY,
      enabled,
    })),
    combine: together,
  });
};

/** What evaluators and people said of the rows of an evaluation, by the ids of their calls. */
type RunVerdicts = ReadonlyMap<string, ReadonlyMap<string, Verdict>>;

/**
 * The verdicts on the rows of evaluations. Each row takes the service half a read unit, so they are
 * read only in projects that have evaluators.
 */
export const useVerdicts = (
  project: string,
  ids: readonly string[],
  enabled: boolean,
): readonly (RunVerdicts | undefined)[] => {
  const { client, me } = useSession();
  const { data: mayHave = false } = useRead(
    ['has evaluators', project],
    async (reading) => {
      const request = { ...ofClass(evaluatorClass), limit: 1, metadata_only: true };
      return (await readObjects(reading, project, request)).length > 0;
    },
    { enabled },
  );
  return useQueries({
    queries: ids.map((id) => ({
      queryKey: ['evaluation verdicts', me.key_id, project, id],
      queryFn: async ({ signal }: { signal: AbortSignal }): Promise<RunVerdicts> => {
        const request = {
          project_id: project,
          filter: { op_names: toOpNames(project, ...rowOps), parent_ids: [id] },
          columns: ['summary.svc.feedback'],
          include_feedback: true,
        };
        const rows = await readRows({ client, signal }, request);
        return new Map(rows.map((row) => [row.id, verdictsIn(getFeedback(row))]));
      },
      enabled: enabled && mayHave,
    })),
    combine: together,
  });
};

/** The scorers below rows: their calls with what they answered, and the verdicts on all of them. */
export const useRowCalls = (project: string, ids: readonly string[]) =>
  useRead(['evaluation row calls', project, ids], async (reading) => {
    const columns = ['parent_id', 'output', 'exception', 'summary.svc'];
    const [rows, below] = await Promise.all(
      [{ call_ids: [...ids] }, { parent_ids: [...ids] }].map((filter) =>
        readRows(reading, {
          project_id: project,
          filter,
          columns: [...columns, ...('call_ids' in filter ? ['inputs.example'] : [])],
          expand_columns: ['inputs.example'],
          include_feedback: true,
        }),
      ),
    );
    return { rows: rows ?? [], below: below ?? [] };
  });
