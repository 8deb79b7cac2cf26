import { useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { annotationSpecClass, reviewQueueClass } from '../../../api/shared/classes.ts';
import type { CallRow } from '../../api/calls.ts';
import type { FeedbackRecord, Request } from '../../api/contract.ts';
import type { Value } from '../../calls/agreement.ts';
import { readRows } from '../../calls/data.ts';
import { readAgain, useRead, useSession } from '../../session/session.tsx';
import { byName, ofClass, readObjects, useStoreObject } from '../../session/stored.ts';
import {
  computeStanding,
  type Field,
  isFor,
  parseField,
  parseQueue,
  type Queue,
  type Reviews,
  reviewsIn,
  type Standing,
  toType,
  toTypes,
} from './queue.ts';

/** The most calls of a queue: the newest that match. */
export const maxCalls = 10_000;

/** The queues of a project, by name. */
export const useQueues = (project: string) =>
  useRead(['queues', project], async (reading) => {
    const objects = await readObjects(reading, project, ofClass(reviewQueueClass));
    return byName(objects.flatMap((version) => parseQueue(version) ?? []));
  });

/** All that can be filled in in a project, by name. */
export const useFields = (project: string) => {
  return useRead(['review fields', project], async (reading) => {
    const objects = await readObjects(reading, project, ofClass(annotationSpecClass));
    return byName(
      objects.flatMap(
        ({ object_id, digest, val }) =>
          parseField(`svc:///${project}/object/${object_id}:${digest}`, val) ?? [],
      ),
    );
  });
};

/** What a queue has people fill in, in its order, without what is gone or the page cannot ask. */
const useQueueFields = (project: string, { fields }: Queue, enabled: boolean) =>
  useRead(
    ['fields of a queue', project, fields],
    async ({ client, signal }) => {
      const { vals } = await client.ask('/refs/read_batch', { refs: [...fields] }, signal);
      return fields.flatMap((ref, at) => parseField(ref, vals[at]) ?? []);
    },
    { enabled },
  );

const isAbout = (field: string, values: readonly string[]) => ({
  $in: [{ $getField: field }, values.map((value) => ({ $literal: value }))],
});

const reviewsKey = 'queue reviews';

/** A queue with what is filled in, its calls, the reviews of them, and how it stands for who looks. */
export interface QueueState {
  readonly queue: Queue;
  readonly fields: readonly Field[];
  readonly calls: readonly CallRow[];
  readonly reviews: Reviews;
  readonly standing: Standing;
}

/**
 * How a queue stands, for whoever looks at it.
 *
 * @param enabled whether it is read; if not, it is there only if it was
 */
export const useQueue = (project: string, queue: Queue, enabled = true) => {
  const { me } = useSession();
  const { filter, query } = queue;
  const fields = useQueueFields(project, queue, enabled);
  const calls = useRead(
    ['queue calls', project, filter, query],
    (reading) =>
      readRows(reading, {
        project_id: project,
        // As the object has them: they were checked when it was made.
        ...(filter && { filter: filter as never }),
        ...(query && { query: query as never }),
        // Feedback is joined to calls only if the filter is by it.
        ...(/summary\.svc\.feedback/.test(JSON.stringify(query ?? null)) && {
          include_feedback: true,
        }),
        sort_by: [{ field: 'started_at', direction: 'desc' }],
        columns: ['parent_id'],
        limit: maxCalls,
      }),
    { enabled },
  );
  const types = (fields.data ?? []).flatMap(({ id }) => toTypes(id));
  const records = useRead(
    [reviewsKey, project, types],
    async ({ client, signal }) => {
      const query = { $expr: isAbout('feedback_type', types) };
      const request = { project_id: project, query } as Request<'/feedback/query'>;
      return (await client.ask('/feedback/query', request, signal)).result;
    },
    { enabled: enabled && types.length > 0 },
  );
  const state = useMemo((): QueueState | undefined => {
    if (!fields.data || !calls.data || (!records.data && fields.data.length > 0)) return undefined;
    const reviewFields = fields.data;
    const askedCalls = calls.data.filter(({ op_name }) =>
      reviewFields.some((field) => isFor(field, op_name)),
    );
    const reviews = reviewsIn(records.data ?? []);
    const standing = computeStanding(queue, askedCalls, reviews, me.user);
    return { queue, fields: reviewFields, calls: askedCalls, reviews, standing };
  }, [queue, fields.data, calls.data, records.data, me.user]);
  return { state, queries: [fields, calls, records] };
};

/** What gives answers and takes them back. What was stored goes into what is on the screen. */
export const useReviewing = (project: string) => {
  const { client, me } = useSession();
  const cache = useQueryClient();
  const toRef = (call: string) => `svc:///${project}/call/${call}`;
  const change = (
    call: string | undefined,
    next: (records: readonly FeedbackRecord[]) => readonly FeedbackRecord[],
  ) => {
    cache.setQueriesData<readonly FeedbackRecord[]>(
      { queryKey: [reviewsKey, me.key_id, project] },
      (records) => records && next(records),
    );
    if (call) readAgain(cache, { queryKey: ['call', me.key_id, project, call] });
  };
  return {
    /**
     * Stores a review of a call, as far as it is filled in.
     *
     * @returns the ids of the records
     * @throws RequestFailed
     */
    give: async (
      call: string,
      answers: readonly (readonly [field: Field, value: Value])[],
    ): Promise<readonly string[]> => {
      const batch = answers.map(([field, value]) => ({
        project_id: project,
        svc_ref: toRef(call),
        feedback_type: toType(field.id),
        payload: { value },
        annotation_ref: field.ref,
        // A request that is repeated changes nothing then.
        ...('randomUUID' in crypto && { id: crypto.randomUUID() }),
      }));
      const { res } = await client.ask('/feedback/batch/create', { batch });
      const reviews = res.map(({ id, created_at, svc_user_id, payload }, at) => ({
        id,
        created_at,
        svc_user_id,
        payload,
        creator: null,
        project_id: project,
        svc_ref: toRef(call),
        feedback_type: batch[at]?.feedback_type ?? '',
      }));
      change(call, (records) => [...records, ...reviews]);
      return res.map(({ id }) => id);
    },
    /** Deletes records of a review for good. Throws as the client does. */
    takeBack: async (call: string, ids: readonly string[]): Promise<void> => {
      const operations = ids.map((id) => ({ $eq: [{ $getField: 'id' }, { $literal: id }] }));
      const query = { $expr: operations.length === 1 ? operations[0] : { $or: operations } };
      await client.ask('/feedback/purge', { project_id: project, query } as never);
      const gone = new Set(ids);
      change(call, (records) => records.filter(({ id = '' }) => !gone.has(id)));
    },
    /** Looks what others have said of a call meanwhile. Throws as the client does. */
    look: async (call: string, fields: readonly Field[], signal: AbortSignal): Promise<void> => {
      const types = new Set(fields.flatMap(({ id }) => toTypes(id)));
      const about = isAbout('svc_ref', [toRef(call)]);
      const request = { project_id: project, query: { $expr: about } } as Request<'/feedback/query'>;
      const { result } = await client.ask('/feedback/query', request, signal);
      const found = result.filter(({ feedback_type = '' }) => types.has(feedback_type));
      change(undefined, (records) => {
        const known = new Set(records.map(({ id }) => id));
        const fresh = found.filter(({ id }) => !known.has(id));
        return fresh.length > 0 ? [...records, ...fresh] : records;
      });
    },
  };
};

/** What a field to be made asks. */
export interface NewField {
  readonly id: string;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

/** Makes, changes and deletes queues and fields. */
export const useSaveQueue = (project: string) => {
  const { save, remove } = useStoreObject(project, ['queues', 'review fields', 'objects']);
  return {
    /** Makes a field, and gives its ref. Throws as the client does. */
    saveField: async ({ id, description, schema }: NewField): Promise<string> => {
      const value = {
        _type: annotationSpecClass,
        name: id,
        field_schema: schema,
        unique_among_creators: true,
        ...(description !== '' && { description }),
      };
      const { digest } = await save.mutateAsync({ id, value });
      return `svc:///${project}/object/${id}:${digest}`;
    },
    /** Throws as the client does. */
    saveQueue: async ({ id, filter, query, assignees, ...queue }: Queue): Promise<void> => {
      const { name, fields, reviews } = queue;
      const value = {
        _type: reviewQueueClass,
        name,
        fields,
        reviews,
        ...(filter && { filter }),
        ...(query && { query }),
        ...(assignees && { assignees }),
      };
      await save.mutateAsync({ id, value });
    },
    /** Deletes a queue. Answers stay. Throws as the client does. */
    remove: remove.mutateAsync,
  };
};
