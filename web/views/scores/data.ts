import { keepPreviousData } from '@tanstack/react-query';
import { evaluatorClass } from '../../../api/shared/classes.ts';
import { toVerdictType } from '../../../api/shared/evaluators.ts';
import type { CallRow } from '../../api/calls.ts';
import type { FeedbackRecord, Operation, Request } from '../../api/contract.ts';
import { withPreviews } from '../../calls/call-link.tsx';
import { readRows, withHeaderColumns } from '../../calls/data.ts';
import type { Span } from '../../calls/figures/requests.ts';
import { field } from '../../calls/list/request.ts';
import type { Score } from '../../calls/scores.ts';
import { isObject, nonEmptyString, valueAt } from '../../data/values.ts';
import { useRead } from '../../session/session.tsx';
import { ofClass, readObjects } from '../../session/stored.ts';

/** The objects of evaluators, by the types of their verdicts. */
export const useEvaluatorTypes = (project: string) =>
  useRead(['evaluators', project, 'types'], async (reading): Promise<ReadonlyMap<string, string>> => {
    const objects = await readObjects(reading, project, ofClass(evaluatorClass));
    return new Map(
      objects.flatMap(({ object_id, val }) =>
        isObject(val) && typeof val.name === 'string' ? [[toVerdictType(val.name), object_id] as const] : [],
      ),
    );
  });

/** How many records are listed. */
export const listedRecords = 25;

/** What somebody, or an evaluator, said of a call. */
export interface ScoredCall {
  readonly id: string;
  readonly value: unknown;
  /** In their own words. */
  readonly why: string | undefined;
  readonly by: string;
  readonly at: string;
  /** The id of the call; undefined for feedback on something else. */
  readonly callId: string | undefined;
  /** Undefined for a call that is gone. */
  readonly call: CallRow | undefined;
}

const toScored = (
  { id, svc_ref, payload, creator, svc_user_id, created_at }: FeedbackRecord,
  score: Score,
): ScoredCall => {
  const { reason, note, comment, explanation } = isObject(payload) ? payload : {};
  return {
    id: id ?? '',
    value: valueAt(payload, score.field),
    why: [reason, note, comment, explanation].map(nonEmptyString).find((text) => text !== undefined),
    by: creator ?? svc_user_id ?? '',
    at: created_at ?? '',
    callId: /\/call\/([^/]+)$/.exec(svc_ref ?? '')?.[1],
    call: undefined,
  };
};

const compare = (operator: '$gte' | '$lt' | '$eq' | '$ne', path: string, value: unknown): Operation =>
  ({ [operator]: [field(path), { $literal: value }] }) as Operation;

/**
 * The records with the lowest values of a score, or the latest, with their calls. Feedback of this type is read,
 * and no calls but these.
 *
 * @param isSorted whether values have an order
 */
export const useLowest = (project: string, { start, end }: Span, score: Score, isSorted: boolean) =>
  useRead(
    ['scores', project, 'lowest', start, end, score, isSorted],
    async (reading): Promise<ScoredCall[]> => {
      const { client, signal } = reading;
      const path = `payload.${score.field}`;
      const $and = [
        compare('$eq', 'feedback_type', score.type),
        compare('$gte', 'created_at', new Date(start).toISOString()),
        compare('$lt', 'created_at', new Date(end).toISOString()),
        compare('$ne', path, null),
      ];
      const request = {
        project_id: project,
        query: { $expr: { $and } } as Request<'/feedback/query'>['query'],
        sort_by: [
          ...(isSorted ? [{ field: path, direction: 'asc' }] : []),
          { field: 'created_at', direction: 'desc' },
        ] as Request<'/feedback/query'>['sort_by'],
        limit: listedRecords,
      };
      const { result } = await client.ask('/feedback/query', request, signal);
      const scored = result.map((record) => toScored(record, score));
      const ids = [...new Set(scored.flatMap(({ callId }) => callId ?? []))];
      if (ids.length === 0) return scored;
      const rows = await readRows(reading, {
        project_id: project,
        filter: { call_ids: ids },
        columns: withHeaderColumns('preview'),
      });
      const calls = new Map(
        (await withPreviews(reading, project, rows)).map((row) => [row.id, row] as const),
      );
      return scored.map((one) => ({
        ...one,
        call: one.callId === undefined ? undefined : calls.get(one.callId),
      }));
    },
    { placeholderData: keepPreviousData },
  );
