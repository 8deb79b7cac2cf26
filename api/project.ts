import * as z from 'zod/mini';
import { field, problem, record } from '../foundations/wire/schema.ts';
import { deletion, endpoint } from './endpoint.ts';
import { project } from './fields.ts';

const counted = (what: string) => field(z.int(), what);

/** One function does both, so it accesses the stores in the same ways. */
const sweeping = {
  role: 'admin',
  handler: 'project/delete',
  shape: deletion,
  tag: 'projects',
  stores: {
    calls: 'sweep',
    payloads: 'sweep',
    answers: 'sweep',
    objects: 'sweep',
    files: 'sweep',
    tables: 'sweep',
    costs: 'sweep',
    feedback: 'sweep',
    bookkeeping: 'sweep',
    audit: 'append',
  },
} as const;

const doneField = field(z.boolean(), 'Whether all is done. If not, send the same request again.');

const deletedCounts = () =>
  z.object({
    calls: counted('Calls that were listed.'),
    feedback: counted('Records of feedback.'),
    object_versions: counted('Versions of objects.'),
    tables: counted('Tables.'),
    files: counted('Files.'),
    prices: counted('Prices.'),
    payloads: counted('Payloads of one request each.'),
    bucket_objects: counted('What was too large for a table: payloads, values, rows, files, kept answers.'),
    others: counted(
      'All else: labels, rollups, states of alerts, counters of limits, ends without a start, …',
    ),
  });

/** What a deletion has deleted so far, by kind. */
export type DeletedCounts = z.output<ReturnType<typeof deletedCounts>>;

export const projectRetention = /* @__PURE__ */ endpoint({
  ...sweeping,
  path: '/project/retention',
  name: 'ProjectRetention',
  summary: 'Apply the retention to what is stored already',
  description:
    "Gives calls and feedback that were stored before the project's object `retention` the expiry that it says, counted from their start or creation, and never a later one. What is older expires at once. Takes minutes at most: send it again until it is done.",
  request: () => record({ project_id: project }),
  answer: () =>
    z.object({
      done: doneField,
      applied: field(
        z.object({
          calls: counted('Calls that have a new expiry.'),
          calls_due: counted('Those of them that are deleted now.'),
          feedback: counted('Records of feedback that have a new expiry.'),
          feedback_due: counted('Those of them that are deleted now.'),
          bucket_objects: counted('Large payloads that have a new expiry.'),
        }),
        'What has been done so far.',
      ),
    }),
  examples: {
    none: {
      summary: 'A project without a retention',
      body: { project_id: 'acme/shop' },
      answer: {
        done: true,
        applied: { calls: 0, calls_due: 0, feedback: 0, feedback_due: 0, bucket_objects: 0 },
      },
    },
  },
});

/** What applying a retention has done so far. */
export type AppliedCounts = z.output<ReturnType<typeof projectRetention.answer>>['applied'];

export const projectDelete = /* @__PURE__ */ endpoint({
  ...sweeping,
  path: '/project/delete',
  name: 'ProjectDelete',
  summary: 'Delete a project',
  description:
    'Deletes all that a project holds, for good. Takes minutes at most and says what is deleted so far: send it again until it is done, also after an error. Keys, members and their grants stay. What is reported meanwhile may stay, lose its payload or be deleted: stop reporting first, or delete again.',
  request: () =>
    record(
      { project_id: project, confirm: field(z.string(), 'The same project again.') },
      {},
      undefined,
      z.check(({ value, issues }) => {
        if (value.confirm !== value.project_id)
          issues.push(problem(`should be ${value.project_id}, to confirm`, value, 'confirm'));
      }),
    ),
  answer: () =>
    z.object({ done: doneField, deleted: field(deletedCounts(), 'What has been deleted so far.') }),
  examples: {
    former: {
      summary: 'A project of which nothing is left',
      body: { project_id: 'acme/former', confirm: 'acme/former' },
      answer: {
        done: true,
        deleted: {
          calls: 0,
          feedback: 0,
          object_versions: 0,
          tables: 0,
          files: 0,
          prices: 0,
          payloads: 0,
          bucket_objects: 0,
          others: 0,
        },
      },
    },
  },
});

/** The endpoints of this file. Their examples run in this order. */
export const projectChanges = [projectRetention, projectDelete] as const;
