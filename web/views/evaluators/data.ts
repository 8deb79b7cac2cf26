import { keepPreviousData, useMutation, useQueryClient } from '@tanstack/react-query';
import type { EvaluatorValue } from '../../../api/evaluators.ts';
import { judgeOp, toVerdictType } from '../../../api/shared/evaluators.ts';
import { type CallRow, sumUsage, usageByModel } from '../../api/calls.ts';
import type { Answer, CallsQuery, Operation, Request } from '../../api/contract.ts';
import { withPreviews } from '../../calls/call-link.tsx';
import { readRows, withHeaderColumns } from '../../calls/data.ts';
import {
  type Evaluator,
  readEvaluators,
  toEvaluatorRef,
  type Verdict,
  verdictsIn,
} from '../../calls/evaluators.ts';
import { timezone } from '../../calls/figures/requests.ts';
import { field } from '../../calls/list/request.ts';
import { isObject, toChunks } from '../../data/values.ts';
import { allows, type Reading, readAgain, useRead, useSession } from '../../session/session.tsx';
import { readObjects, useStoreObject } from '../../session/stored.ts';
import { type AnswerType, toMetrics } from './verdicts.ts';

/** The evaluators of a project, by name. */
export const useEvaluators = (project: string) =>
  useRead(['evaluators', project], ({ client, signal }) => readEvaluators(client, project, signal));

/** Stores versions of evaluators, and deletes evaluators. */
export const useStoreEvaluator = (project: string) =>
  useStoreObject<EvaluatorValue>(project, ['evaluators', 'evaluators spent']);

/**
 * Whether an object has a name already.
 *
 * @throws RequestFailed
 */
export const isTaken = async (reading: Pick<Reading, 'client'>, project: string, id: string) => {
  const request = { filter: { object_ids: [id], latest_only: true }, limit: 1 };
  return (await readObjects(reading, project, request)).length > 0;
};

/** Whether this key may change an evaluator: one with a judge spends money. */
export const mayChange = (
  me: Parameters<typeof allows>[0],
  project: string,
  { judge }: Pick<EvaluatorValue, 'judge'>,
): boolean => allows(me, project, judge ? 'admin' : 'write');

/** The most refs of a request. */
const refsAtOnce = 10;

/** Whether the service judges at all, and what evaluators have spent of the day, by their objects. */
export interface Spending {
  readonly isOn: boolean;
  readonly spent: ReadonlyMap<string, number>;
}

/**
 * What evaluators have spent of the day. Only who may write is told.
 *
 * @param newest the latest verdict, if it is known: another may have cost something
 */
export const useSpending = (
  project: string,
  evaluators: readonly Evaluator[] | undefined,
  newest?: string,
) => {
  const { me } = useSession();
  const all = evaluators ?? [];
  return useRead(
    ['evaluators spent', project, all.map(({ id }) => id), newest],
    async ({ client, signal }): Promise<Spending> => {
      const spent = new Map<string, number>();
      let isOn = false;
      for (let at = 0; at === 0 || at < all.length; at += refsAtOnce) {
        const some = all.slice(at, at + refsAtOnce);
        const scorer_refs = some.map((evaluator) => toEvaluatorRef(project, evaluator));
        const request = { project_id: project, call_ids: [], scorer_refs, dry_run: true };
        const answer = await client.ask('/calls/score', request, signal);
        isOn = answer.is_on;
        for (const [i, usd] of answer.spent_today_usd.entries()) {
          const id = some[i]?.id;
          if (id !== undefined) spent.set(id, usd);
        }
      }
      return { isOn, spent };
    },
    {
      enabled: evaluators !== undefined && allows(me, project, 'write'),
      placeholderData: keepPreviousData,
      refetchInterval: 30_000,
    },
  );
};

const none = { $literal: null };

/** The latest calls that an evaluator is about, and can judge. */
const matching = (
  project: string,
  { filter, query, on }: EvaluatorValue,
  limit: number,
  columns: string[],
): CallsQuery => ({
  project_id: project,
  filter: { ...filter, ...(on === 'trace' && { trace_roots_only: true }) },
  query: {
    $expr: {
      $and: [
        ...(isObject(query) ? [query.$expr as Operation] : []),
        { $ne: [field('ended_at'), none] },
        { $not: [{ $eq: [field('op_name'), { $literal: judgeOp }] }] },
      ],
    },
  },
  sort_by: [{ field: 'started_at', direction: 'desc' }],
  columns,
  limit,
});

/** How many calls an evaluator is tried on. */
export const triedCalls = 5;

/** A call that an evaluator was tried on, with what it said. */
export interface TriedCall {
  readonly call: CallRow;
  readonly verdict: Answer<'/calls/score'>['verdicts'][number];
}

/**
 * Tries an evaluator on the latest calls that it is about.
 *
 * @throws RequestFailed
 */
export const tryEvaluator = async (
  reading: Reading,
  project: string,
  value: EvaluatorValue,
): Promise<TriedCall[]> => {
  const request = matching(project, value, triedCalls, withHeaderColumns('preview'));
  const rows = await withPreviews(reading, project, await readRows(reading, request));
  if (rows.length === 0) return [];
  const { verdicts } = await reading.client.ask(
    '/calls/score',
    { project_id: project, call_ids: rows.map(({ id }) => id), evaluator: value as never },
    reading.signal,
  );
  const byCall = new Map(verdicts.map((verdict) => [verdict.call_id, verdict]));
  return rows.flatMap((call) => {
    const verdict = byCall.get(call.id);
    return verdict ? [{ call, verdict }] : [];
  });
};

/** The latest calls that an evaluator is about, and what it takes to have it judge them. */
export const useScoring = (project: string, evaluator: Evaluator, count: number | undefined) => {
  const { client } = useSession();
  const cache = useQueryClient();
  const scorer_refs = [toEvaluatorRef(project, evaluator)];
  const price = useRead(
    ['price of judging', project, evaluator.id, evaluator.digest, count],
    async (reading) => {
      const rows = await readRows(reading, matching(project, evaluator.value, count ?? 0, ['id']));
      const ids = rows.map(({ id }) => id);
      const request = { project_id: project, call_ids: ids, scorer_refs, dry_run: true };
      return { ids, ...(await reading.client.ask('/calls/score', request, reading.signal)) };
    },
    { enabled: count !== undefined, staleTime: 0, gcTime: 0 },
  );
  const run = useMutation({
    mutationFn: (call_ids: string[]) =>
      client.ask('/calls/score', { project_id: project, call_ids, scorer_refs }),
    onSuccess: () => readAgain(cache, { queryKey: ['evaluators spent'] }),
  });
  return { price, run };
};

const toType = ({ value }: Evaluator): string => toVerdictType(value.name);

/** What an evaluator answers: a check is true or false. */
export const getAnswerType = ({ value }: Evaluator): AnswerType => value.judge?.answer.type ?? 'boolean';

const ofType = (evaluator: Evaluator): Operation => ({
  $eq: [field('feedback_type'), { $literal: toType(evaluator) }],
});

const newestFirst = [{ field: 'created_at' as const, direction: 'desc' as const }];

type FeedbackExpression = Request<'/feedback/query'>['query'];

const readVerdicts = async (
  { client, signal }: Reading,
  project: string,
  evaluator: Evaluator,
  { where = [], limit }: { readonly where?: readonly Operation[]; readonly limit: number },
): Promise<Verdict[]> => {
  const query = { $expr: { $and: [ofType(evaluator), ...where] } } as FeedbackExpression;
  const request = { project_id: project, query, sort_by: newestFirst, limit };
  const { result } = await client.ask('/feedback/query', request, signal);
  return verdictsIn(result, evaluator.id);
};

/**
 * How often the page looks for a new verdict, in ms: seldom where there are many, since statistics of
 * all are read again after each look that finds one.
 */
const lookMs = 4000;
const seldomMs = 60_000;

/**
 * The id of the latest verdict, which is looked for again and again.
 *
 * @param areMany whether there are more verdicts than are read one by one
 */
export const useNewest = (project: string, evaluator: Evaluator, areMany: boolean): string | undefined =>
  useRead(
    ['newest verdict', project, evaluator.id],
    async ({ client, signal }) => {
      const query = { $expr: ofType(evaluator) } as FeedbackExpression;
      const request = { project_id: project, query, sort_by: newestFirst, limit: 1, fields: ['id' as const] };
      return (await client.ask('/feedback/query', request, signal)).result[0]?.id ?? '';
    },
    { refetchInterval: areMany ? seldomMs : lookMs },
  ).data;

/** The most verdicts that are read one by one. */
export const maxVerdicts = 1000;

const since = (start: number): Operation => ({
  $gte: [field('created_at'), { $literal: new Date(start).toISOString() }],
});

/** The latest verdicts since a moment, the newest first. */
export const useVerdicts = (
  project: string,
  evaluator: Evaluator,
  start: number,
  newest: string | undefined,
  limit: number = maxVerdicts,
) =>
  useRead(
    ['verdicts', project, evaluator.id, start, newest, limit],
    (reading) => readVerdicts(reading, project, evaluator, { where: [since(start)], limit }),
    { enabled: newest !== undefined, placeholderData: keepPreviousData },
  );

/** Statistics of all verdicts since a moment. */
export const useVerdictStats = (
  project: string,
  evaluator: Evaluator,
  start: number,
  granularity: number,
  newest: string | undefined = '',
) =>
  useRead(
    ['verdict statistics', project, evaluator.id, start, granularity, newest],
    ({ client, signal }) =>
      client.ask(
        '/feedback/stats',
        {
          project_id: project,
          start: new Date(start).toISOString(),
          granularity,
          timezone: timezone(),
          feedback_type: toType(evaluator),
          metrics: toMetrics(getAnswerType(evaluator)),
        },
        signal,
      ),
    { placeholderData: keepPreviousData },
  );

/** The latest verdict since a moment that could not be made. */
export const useLastFailure = (project: string, evaluator: Evaluator, start: number, isEnabled: boolean) =>
  useRead(
    ['last failure', project, evaluator.id, start],
    async (reading): Promise<Verdict | null> => {
      const failed: Operation = { $ne: [field('payload.error'), none] };
      const where = [since(start), failed];
      return (await readVerdicts(reading, project, evaluator, { where, limit: 1 }))[0] ?? null;
    },
    { enabled: isEnabled },
  );

/** Of so many verdicts, calls and what people said of them are looked up. */
export const maxLookedUp = 300;

/** The calls of verdicts with previews and feedback, by their ids. */
export const useJudgedCalls = (project: string, verdicts: readonly Verdict[]) => {
  const ids = [...new Set(verdicts.slice(0, maxLookedUp).map(({ call }) => call))];
  return useRead(
    ['judged calls', project, ids],
    async (reading): Promise<ReadonlyMap<string, CallRow>> => {
      const rows = await readRows(reading, {
        project_id: project,
        filter: { call_ids: ids },
        columns: withHeaderColumns('preview'),
        include_feedback: true,
      });
      return new Map((await withPreviews(reading, project, rows)).map((row) => [row.id, row]));
    },
    { enabled: ids.length > 0, placeholderData: keepPreviousData },
  );
};

/** So many calls of judges are asked for at once. */
const costsAtOnce = 500;

/** A judge's call: what it cost in dollars, if its model has a price, and its trace. */
export interface JudgesCost {
  readonly usd: number | undefined;
  readonly trace: string;
}

/** What the judges of verdicts cost, by the ids of their calls. */
export const useJudgeCosts = (project: string, verdicts: readonly Verdict[]) => {
  const ids = verdicts.flatMap(({ judge }) => judge ?? []);
  return useRead(
    ['costs of judges', project, ids],
    async (reading): Promise<ReadonlyMap<string, JudgesCost>> => {
      const costs = new Map<string, JudgesCost>();
      for (const call_ids of toChunks(ids, costsAtOnce)) {
        const rows = await readRows(reading, {
          project_id: project,
          filter: { call_ids },
          columns: withHeaderColumns('summary.usage'),
          include_costs: true,
        });
        for (const row of rows) {
          const usage = sumUsage(usageByModel(row).values());
          costs.set(row.id, { usd: usage?.cost?.get('USD'), trace: row.trace_id });
        }
      }
      return costs;
    },
    { enabled: ids.length > 0, placeholderData: keepPreviousData },
  );
};
