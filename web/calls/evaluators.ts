import type { EvaluatorValue } from '../../api/evaluators.ts';
import { evaluatorClass } from '../../api/shared/classes.ts';
import type { Client } from '../api/client.ts';
import type { FeedbackRecord, ObjectVersion } from '../api/contract.ts';
import { isObject, nonEmptyString } from '../data/values.ts';

/** A version of an evaluator. */
export interface Evaluator {
  readonly id: string;
  readonly digest: string;
  readonly value: EvaluatorValue;
}

/** The evaluator that a version of an object is; undefined if it is none. */
export const parseEvaluator = ({ object_id, digest, val }: ObjectVersion): Evaluator | undefined =>
  isObject(val) && val._type === evaluatorClass
    ? { id: object_id, digest, value: val as EvaluatorValue }
    : undefined;

/** The most evaluators of a project that are read: it cannot have more. */
const maxEvaluators = 100;

/** The evaluators of a project, by name. Throws as the client does. */
export const readEvaluators = async (
  client: Client,
  project: string,
  signal?: AbortSignal,
): Promise<readonly Evaluator[]> => {
  const request = {
    project_id: project,
    filter: { base_object_classes: [evaluatorClass], latest_only: true },
    sort_by: [{ field: 'object_id' as const, direction: 'asc' as const }],
    limit: maxEvaluators,
  };
  const { objs } = await client.ask('/objs/query', request, signal);
  return objs.flatMap((version) => parseEvaluator(version) ?? []);
};

/** The ref of a version of an evaluator. */
export const toEvaluatorRef = (project: string, { id, digest }: Pick<Evaluator, 'id' | 'digest'>): string =>
  `svc:///${project}/object/${id}:${digest}`;

/** What an evaluator said of a call. */
export interface Verdict {
  readonly id: string;
  /** The id of the call. */
  readonly call: string;
  /** In ms since 1970. */
  readonly at: number;
  /** Null if it could not judge. */
  readonly value: boolean | number | string | null;
  readonly reason: string | undefined;
  readonly error: string | undefined;
  /** The id of the judge's own call; undefined for a check. */
  readonly judge: string | undefined;
}

const idIn = (ref: unknown): string | undefined => /\/call\/([^/]+)$/.exec(nonEmptyString(ref) ?? '')?.[1];

/** The verdicts among records of feedback that an evaluator gave, by the name of its object. */
export const verdictsIn = (rows: readonly FeedbackRecord[], objectId: string): Verdict[] =>
  rows.flatMap(({ id, svc_ref, created_at, payload, call_ref, runnable_ref }) => {
    const call = idIn(svc_ref);
    if (id === undefined || call === undefined || !runnable_ref?.includes(`/object/${objectId}:`)) return [];
    const { value, reason, error } = isObject(payload) ? payload : {};
    const isValue = typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string';
    return [
      {
        id,
        call,
        at: Date.parse(created_at ?? ''),
        value: isValue ? value : null,
        reason: nonEmptyString(reason),
        error: nonEmptyString(error),
        judge: idIn(call_ref),
      },
    ];
  });
