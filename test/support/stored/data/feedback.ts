import type { StoredRequest } from '../golden.ts';
import { noise, randomText } from '../noise.ts';
import { callRef, longId, oddId, otherProject, project, queryAny, uuid, whereEqual } from './names.ts';

const record = (id: string, fields: object = {}) => ({
  project_id: project,
  id,
  svc_ref: callRef(uuid(2)),
  feedback_type: 'note',
  payload: { text: id },
  ...fields,
});

const creation = (name: string, id: string, fields?: object): StoredRequest => ({
  name,
  path: '/feedback/create',
  body: record(id, fields),
});

const replacement = (name: string, replaced: string, id: string, fields?: object): StoredRequest => ({
  name,
  path: '/feedback/replace',
  body: { ...record(id, fields), feedback_id: replaced },
});

const purge = (name: string, ...ids: string[]): StoredRequest => ({
  name,
  path: '/feedback/purge',
  body: { project_id: project, query: queryAny(...ids) },
});

const inBucket = (name: Parameters<typeof noise>[0]) => ({ payload: { noise: noise(name) } });

const digest = 'k3Jd-0kPpVqKcYb8bZ1Y4qz3sV0bVJ2N0q3b8mE9c1o';

/** Writes feedback of every kind that the table and the bucket can hold. */
export const feedbackWrites: readonly StoredRequest[] = [
  {
    name: 'records with their payloads in the head, packed, and apart',
    path: '/feedback/batch/create',
    body: {
      batch: [
        record('small'),
        record(uuid(50), { feedback_type: 'reaction', payload: { emoji: '👍' }, creator: 'Ada' }),
        record('packed', { payload: { text: 'The same again. '.repeat(100) } }),
        record('apart', { payload: { noise: randomText('apart', 1200) }, creator: '' }),
        record(longId, { svc_ref: callRef(oddId), feedback_type: '💬 odd / type' }),
        record('refs', {
          svc_ref: `svc:///${otherProject}/object/thing:${digest}/attr/text`,
          annotation_ref: `svc:///${project}/object/annotation:${digest}`,
          runnable_ref: `svc:///${project}/op/judge:${digest}`,
          call_ref: callRef(uuid(1)),
          trigger_ref: `svc:///${otherProject}/object/trigger:${digest}`,
          feedback_type: 'judge',
        }),
        record('small', { project_id: otherProject, payload: {} }),
      ],
    },
  },
  creation('a payload for the bucket', 'large', inBucket('feedback')),
  creation('a record that is replaced twice', 'line-1', { payload: { stars: 1 } }),
  replacement('its first replacement', 'line-1', 'line-2', { payload: { stars: 2 } }),
  replacement('its second replacement', 'line-2', 'line-3', { payload: { stars: 3 } }),
  replacement('a replacement under the same id', 'line-3', 'line-3', { payload: { stars: 4 } }),
  creation('a payload in the bucket that is replaced', 'large-1', inBucket('feedback-replaced')),
  {
    ...replacement('its replacement, which dies before the object goes', 'large-1', 'large-2'),
    refused: 'DeleteObject',
  },
  creation('a record that is purged', 'purged'),
  creation('a payload in the bucket that is purged', 'large-purged', inBucket('feedback-purged')),
  purge('a purge', 'purged', 'no-such-record'),
  { ...purge('a purge that dies before the object goes', 'large-purged'), refused: 'DeleteObject' },
];

/** Replaces, purges and creates that feedback again. */
export const feedbackRewrites: readonly StoredRequest[] = [
  creation('the same record again', 'apart', { payload: { noise: randomText('apart', 1200) }, creator: '' }),
  creation('another record under a taken id', 'small', { payload: { other: true } }),
  replacement('a replacement of a record in the head', 'small', 'small-2', { payload: { text: 'better' } }),
  replacement('a third replacement in a line', 'line-3', 'line-4', { payload: { stars: 5 } }),
  replacement('a replacement of what was replaced', 'line-1', 'line-5'),
  replacement('a payload apart in the place of one in the bucket', 'large', 'large', {
    payload: { noise: randomText('instead', 1200) },
  }),
  creation('a record under the id of a tombstone', 'large-1', { payload: { text: 'new' } }),
  creation('a record under a purged id', 'purged', { payload: { text: 'new' } }),
  purge('the purge that died, and one of the packed', 'large-purged', 'packed', uuid(50)),
];

const query = (name: string, body: object): StoredRequest => ({
  name: `feedback: ${name}`,
  path: '/feedback/query',
  body: { project_id: project, ...body },
});

/** Reads feedback by every index and by ids. */
export const feedbackReads: readonly StoredRequest[] = [
  query('all', {}),
  query('those of another project', { project_id: otherProject }),
  query('newest first', { sort_by: [{ field: 'created_at', direction: 'desc' }], fields: ['id'] }),
  query('by type', { query: whereEqual('feedback_type', 'reaction') }),
  query('by an odd type', { query: whereEqual('feedback_type', '💬 odd / type'), fields: ['id', 'svc_ref'] }),
  query('by ref', { query: whereEqual('svc_ref', callRef(oddId)) }),
  query('by id', {
    query: queryAny('line-1', 'line-3', 'line-4', 'large-1', 'large-purged', 'purged', longId, 'small'),
  }),
  query('by a field of the payload', {
    query: { $expr: { $gt: [{ $getField: 'payload.stars' }, { $literal: 1 }] } },
    fields: ['id', 'payload.stars'],
  }),
  query('in order of type', {
    sort_by: [{ field: 'feedback_type', direction: 'asc' }],
    fields: ['feedback_type', 'creator', 'call_ref'],
    limit: 5,
    offset: 1,
  }),
];
