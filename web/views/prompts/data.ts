import { useMutation, useQueries, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { promptLabelsClass } from '../../../api/shared/classes.ts';
import { type CallRow, getCallName, opText } from '../../api/calls.ts';
import type { Answer, Request, Stats } from '../../api/contract.ts';
import { tagIn } from '../../api/feedback.ts';
import { readRows } from '../../calls/data.ts';
import { useMayRead, useScores, useStats } from '../../calls/figures/read.ts';
import { iso, type Period } from '../../calls/figures/requests.ts';
import type { ScoreFigures } from '../../calls/figures/scores.ts';
import type { Score } from '../../calls/scores.ts';
import { isObject, nonEmptyString, valueAt } from '../../data/values.ts';
import { readAgain, useRead, useSession } from '../../session/session.tsx';
import { maxListed, readObjects } from '../../session/stored.ts';
import {
  groupsRequest,
  namePath,
  scoreRequest,
  selectionOfPrompts,
  toGroupScores,
  toGroups,
  versionPath,
} from './figures.ts';

export type PromptRow = Answer<'/prompts/query'>['prompts'][number];
export type LabelMove = NonNullable<Answer<'/prompts/query'>['history']>[number];

/** What changes with a version or a label, by the first part of its key in the cache. */
const kinds = ['prompt rows', 'prompt row', 'prompts', 'objects', 'versions'];

/** Tells what was read of prompts from what else is in the cache. */
export const isOfPrompts = ({ queryKey: [kind] }: { readonly queryKey: readonly unknown[] }): boolean =>
  kinds.includes(String(kind));

/** The prompts of a project, by their names. */
export const usePrompts = (project: string) =>
  useRead(['prompt rows', project], async ({ client, signal }) => {
    const request = { project_id: project, limit: maxListed };
    return (await client.ask('/prompts/query', request, signal)).prompts;
  });

/** How many moves of labels are read. */
export const maxMoves = 100;

/** A prompt with the moves of its labels, the newest first; null if there is none. */
export const usePrompt = (project: string, name: string) =>
  useRead(['prompt row', project, name], async ({ client, signal }) => {
    const request = { project_id: project, name, limit: maxMoves };
    const { prompts, history = [] } = await client.ask('/prompts/query', request, signal);
    const [prompt] = prompts;
    return prompt ? { prompt, history } : null;
  });

/** The object of a project that says which labels take the role `admin`. */
const protectedObject = 'prompt-labels';

/** The labels that take the role `admin`. */
export const useProtected = (project: string) =>
  useRead(['protected labels', project], async (reading): Promise<readonly string[]> => {
    const filter = { object_ids: [protectedObject], latest_only: true };
    const [found] = await readObjects(reading, project, { filter });
    const { val, base_object_class } = found ?? {};
    if (base_object_class !== promptLabelsClass || !isObject(val) || !Array.isArray(val.protected)) return [];
    return val.protected.filter((label) => typeof label === 'string');
  });

/** Moves labels, and saves versions. What is read of prompts is read again then. */
export const useChangePrompt = (project: string) => {
  const { client } = useSession();
  const cache = useQueryClient();
  const onSuccess = () => readAgain(cache, { predicate: isOfPrompts });
  const move = useMutation({
    mutationFn: (move: Omit<Request<'/prompt/labels'>, 'project_id'>) =>
      client.ask('/prompt/labels', { project_id: project, ...move }),
    // A move that failed may have found another one.
    onSettled: onSuccess,
  });
  const save = useMutation({
    mutationFn: (version: Request<'/prompt/create'>) => client.ask('/prompt/create', version),
    onSuccess,
  });
  return { move, save };
};

/** How many scores stand beside other figures: each is a request. */
const maxScores = 4;

/** A score that the calls of prompts have, with what it is for each group. */
export interface GroupScore {
  readonly score: Score;
  readonly groups: ReadonlyMap<string, ScoreFigures>;
}

/**
 * The figures of prompts, or of the versions of one, by groups as calls name them. They are read of the calls
 * themselves, so only if these are not too many.
 */
export const useFigures = (project: string, period: Period, prompt?: string) => {
  const path = prompt === undefined ? namePath : versionPath;
  const selection = useMemo(() => selectionOfPrompts(project, prompt), [project, prompt]);
  const { may, tooMany, error, refetch } = useMayRead(selection, period, true);
  const stats = useStats(groupsRequest(selection, period, path), { enabled: may });
  const groups = useMemo(() => stats.data && toGroups(stats.data, path), [stats.data, path]);
  const hasCalls = groups !== undefined && groups.size > 0;
  const given = useScores(project, period, may && hasCalls);
  const scores = useMemo(
    () =>
      (given.data ?? [])
        .map(({ score }) => score)
        .filter(({ type }) => tagIn(type) === undefined && type !== 'note' && type !== 'correction')
        .slice(0, maxScores),
    [given.data],
  );
  const { client, me } = useSession();
  const found = useQueries({
    queries: scores.map((score) => {
      const request = scoreRequest(selection, period, path, score);
      return {
        queryKey: ['stats', me.key_id, request],
        queryFn: ({ signal }: { signal: AbortSignal }): Promise<Stats> =>
          client.ask('/calls/stats', request, signal),
        enabled: may && hasCalls,
      };
    }),
  });
  const shown = scores.flatMap((score, at): GroupScore[] => {
    const answer = found[at]?.data;
    const of = answer && toGroupScores(answer, path, period, score);
    return of && of.size > 0 ? [{ score, groups: of }] : [];
  });
  return {
    groups,
    scores: shown,
    /** How many calls would have to be read, if these are too many. */
    tooMany,
    queries: [{ error, isLoading: false, refetch }, stats, given, ...found],
    isReady:
      tooMany !== undefined || (stats.isSuccess && (!hasCalls || found.every(({ isLoading }) => !isLoading))),
  };
};

/** Of how many calls the use of a prompt is told. */
export const maxUses = 200;

/** Where the latest calls of a prompt come from. */
export interface Uses {
  /** How many calls were looked at. */
  readonly calls: number;
  /** The operations that traces began with, and how many of the traces. */
  readonly operations: readonly { readonly op: string; readonly name: string; readonly traces: number }[];
  /** The evaluations, the newest first. */
  readonly evaluations: readonly CallRow[];
}

/** How many traces the service takes at a time. */
const maxTraces = 1000;

/** Where a prompt was used in a time: by its latest calls, of whatever source. */
export const useUses = (project: string, name: string, { start, end }: Pick<Period, 'start' | 'end'>) =>
  useRead(['prompt uses', project, name, start, end], async (reading): Promise<Uses> => {
    const time = [
      { $gte: [{ $getField: 'started_at' }, { $literal: iso(start) }] },
      { $lt: [{ $getField: 'started_at' }, { $literal: iso(end) }] },
    ];
    const calls = await readRows(reading, {
      project_id: project,
      query: { $expr: { $and: [...time, { $eq: [{ $getField: namePath }, { $literal: name }] }] } },
      sort_by: [{ field: 'started_at', direction: 'desc' }],
      columns: ['id'],
      limit: maxUses,
    });
    const trace_ids = [...new Set(calls.map(({ trace_id }) => trace_id))].slice(0, maxTraces);
    if (trace_ids.length === 0) return { calls: 0, operations: [], evaluations: [] };
    const roots = await readRows(reading, {
      project_id: project,
      filter: { trace_ids, trace_roots_only: true },
      sort_by: [{ field: 'started_at', direction: 'desc' }],
      columns: ['display_name', 'summary.svc'],
    });
    const isEvaluation = ({ op_name }: CallRow) => opText(op_name) === 'Evaluation.evaluate';
    const others = Map.groupBy(
      roots.filter((root) => !isEvaluation(root)),
      ({ op_name }) => op_name,
    );
    const evaluations = roots.filter(isEvaluation);
    return {
      calls: calls.length,
      operations: [...others]
        .map(([op, all]) => ({ op, name: opText(op), traces: all.length }))
        .toSorted((a, b) => b.traces - a.traces),
      evaluations:
        evaluations.length === 0
          ? []
          : await readRows(reading, {
              project_id: project,
              filter: { call_ids: evaluations.map(({ id }) => id) },
              sort_by: [{ field: 'started_at', direction: 'desc' }],
              columns: ['display_name', 'summary.svc', 'inputs.model'],
            }),
    };
  });

/** What an evaluation is called: by its own name, or by what it evaluates, if that is no ref. */
export const evaluationText = (root: CallRow): string => {
  const model = nonEmptyString(valueAt(root.inputs, 'model'));
  return root.display_name ?? (model?.includes('://') ? undefined : model) ?? getCallName(root);
};
