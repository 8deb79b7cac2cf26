import * as z from 'zod/mini';
import * as requests from '../../api/requests.ts';
import type { WireNames } from '../../core/foundations/wire/index.ts';
import { done, field } from '../answers/fields.ts';
import { createdFeedback, feedbackRecord } from '../answers/others.ts';
import type { Operations } from '../operation.ts';

const project = 'acme/shop';
const createdAt = '2026-10-01T09:30:02.123456Z';

type Paths =
  | '/feedback/create'
  | '/feedback/batch/create'
  | '/feedback/replace'
  | '/feedback/query'
  | '/feedback/purge';

const byId = (id: string) => ({ $eq: [{ $getField: 'id' }, { $literal: id }] });

const creating = (
  names: WireNames,
): Pick<Operations, '/feedback/create' | '/feedback/batch/create' | '/feedback/replace'> => {
  const draft = (id: string, type: string, payload: object) => ({
    project_id: project,
    id,
    [names.ref]: `${names.refScheme}${project}/call/turn-1`,
    feedback_type: type,
    payload,
  });
  const created = (id: string, payload: object) => ({
    id,
    created_at: createdAt,
    [names.userId]: 'ada',
    payload,
  });
  return {
    '/feedback/create': [
      {
        name: 'FeedbackCreate',
        tag: 'feedback',
        summary: 'Store a feedback record',
        description:
          'Stores a record and answers it. If the `id` exists with the same content, the answer is the stored record; with other content it is a 409.',
        request: requests.feedbackCreate,
        answer: createdFeedback(names),
        errors: [409],
        examples: {
          reaction: {
            summary: 'A reaction to a call',
            body: draft('feedback-1', 'reaction', { emoji: '👍' }),
            answer: created('feedback-1', { emoji: '👍' }),
          },
        },
      },
    ],
    '/feedback/batch/create': [
      {
        name: 'FeedbackBatchCreate',
        tag: 'feedback',
        summary: 'Store feedback records',
        description:
          'Stores records of any projects that the key may write. The batch is checked whole before anything is written.',
        request: requests.feedbackBatchCreate,
        answer: z.object({
          res: field(z.array(createdFeedback(names)), 'One answer for each record, in order.'),
        }),
        errors: [409],
        examples: {
          two: {
            summary: 'Two records',
            body: {
              batch: [
                draft('feedback-2', 'note', { note: 'late' }),
                draft('feedback-3', 'score', { score: 1 }),
              ],
            },
            answer: { res: [created('feedback-2', { note: 'late' }), created('feedback-3', { score: 1 })] },
          },
        },
      },
    ],
    '/feedback/replace': [
      {
        name: 'FeedbackReplace',
        tag: 'feedback',
        summary: 'Replace a feedback record',
        description:
          'Puts a new record in the place of the record `feedback_id`, in one transaction. The same request may be sent again.',
        request: requests.feedbackReplace,
        answer: createdFeedback(names),
        errors: [404, 409],
        examples: {
          reaction: {
            summary: 'Another reaction',
            body: { ...draft('feedback-4', 'reaction', { emoji: '🎉' }), feedback_id: 'feedback-1' },
            answer: created('feedback-4', { emoji: '🎉' }),
          },
        },
      },
    ],
  };
};

/** What the document says of feedback. */
export const feedbackOperations = (names: WireNames): Pick<Operations, Paths> => ({
  ...creating(names),
  '/feedback/query': [
    {
      name: 'FeedbackQuery',
      tag: 'feedback',
      summary: 'Query feedback',
      description:
        'The records of a project that match. Without `sort_by` they come by `created_at`, then `id`.',
      request: requests.feedbackQuery,
      answer: z.object({ result: field(z.array(feedbackRecord(names)), 'The records, in order.') }),
      examples: {
        reactions: {
          summary: 'Two fields of the reactions',
          body: {
            project_id: project,
            query: { $expr: { $eq: [{ $getField: 'feedback_type' }, { $literal: 'reaction' }] } },
            fields: ['id', 'payload.emoji'],
          },
          answer: { result: [{ id: 'feedback-4', payload: { emoji: '🎉' } }] },
        },
      },
    },
  ],
  '/feedback/purge': [
    {
      name: 'FeedbackPurge',
      tag: 'feedback',
      summary: 'Delete feedback records',
      description: 'Deletes records by their ids, payloads included. Unknown ids are ignored.',
      request: requests.feedbackPurge,
      answer: done,
      examples: {
        two: {
          summary: 'Two records',
          body: { project_id: project, query: { $expr: { $or: [byId('feedback-2'), byId('feedback-3')] } } },
          answer: {},
        },
      },
    },
  ],
});
