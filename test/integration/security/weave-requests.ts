import { bytesDigest, tableDigest } from '../../../core/foundations/wire/weave-digest.ts';
import type { WeavePath } from '../../../weave/api/routes.ts';
import type { GoodRequest } from './requests.ts';

const project = 'acme/shop';
const start = {
  project_id: project,
  id: 'w',
  trace_id: 't',
  op_name: 'op',
  started_at: '2026-10-01T00:00:00Z',
};
const end = { project_id: project, id: 'w', ended_at: '2026-10-01T00:00:01Z' };

const writing = (...loc: string[]) => ({
  loc: ['body', ...loc],
  msg: `this key may not write the project ${project}`,
});
const readingIn = (place: 'body' | 'query') => ({
  loc: [place, 'project_id'],
  msg: `this key may not read the project ${project}`,
});
const missing = (loc: string, msg: string) => ({
  status: 404,
  answer: JSON.stringify({ detail: [{ loc: ['body', loc], msg, type: 'not_found' }] }),
});

const noTable = '0'.repeat(64);
const noFile = 'A'.repeat(43);
const noVersion = missing('digest', `there is no such version of none in ${project}`);
const listing = (kind: 'aliases' | 'tags') => ({
  path: `/${kind}?project_id=${encodeURIComponent(project)}`,
  body: null,
  answer: `{"${kind}":[]}`,
  forbidden: readingIn('query'),
});
const part = (name: string, text: string) =>
  `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
const filePart = '--b\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\ntext\r\n';

/**
 * For every route that Weave's dialect alone has and that takes a grant, a request that is good but
 * for its credentials. Paths that have parameters are written out.
 */
export const weaveRequests: Partial<Readonly<Record<WeavePath, GoodRequest>>> = {
  '/trace/usage': {
    body: { project_id: project, filter: { trace_ids: ['none'] } },
    answer: '{"call_usage":{},"error_counts":{},"unfinished_call_ids":[]}',
    forbidden: readingIn('body'),
  },
  '/file/create': {
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    body: `${part('project_id', project)}${filePart}--b--\r\n`,
    answer: `{"digest":"${bytesDigest(Buffer.from('text'))}"}`,
    forbidden: writing('project_id'),
  },
  '/file/content': {
    body: { project_id: project, digest: noFile },
    ...missing('digest', `there is no file ${noFile} in ${project}`),
    forbidden: readingIn('body'),
  },
  '/table/create': {
    body: { table: { project_id: project, rows: [] } },
    answer: `{"digest":"${tableDigest([])}","row_digests":[]}`,
    forbidden: writing('table', 'project_id'),
  },
  '/table/create_from_digests': {
    body: { project_id: project, row_digests: [] },
    answer: `{"digest":"${tableDigest([])}"}`,
    forbidden: writing('project_id'),
  },
  '/table/update': {
    body: { project_id: project, base_digest: noTable, updates: [] },
    ...missing('base_digest', `there is no table ${noTable} in ${project}`),
    forbidden: writing('project_id'),
  },
  '/table/query': {
    body: { project_id: project, digest: noTable },
    ...missing('digest', `there is no table ${noTable} in ${project}`),
    forbidden: readingIn('body'),
  },
  '/table/query_stats': {
    body: { project_id: project, digest: noTable },
    ...missing('digest', `there is no table ${noTable} in ${project}`),
    forbidden: readingIn('body'),
  },
  '/table/query_stats_batch': {
    body: { project_id: project, digests: [noTable] },
    answer: '{"tables":[]}',
    forbidden: readingIn('body'),
  },
  '/objs/{object_id}/aliases': {
    path: '/objs/none/aliases',
    body: { project_id: project, digest: 'latest', aliases: ['prod'] },
    ...noVersion,
    forbidden: writing('project_id'),
  },
  '/objs/{object_id}/aliases/remove': {
    path: '/objs/none/aliases/remove',
    body: { project_id: project, aliases: ['prod'] },
    answer: '{}',
    forbidden: writing('project_id'),
  },
  '/objs/{object_id}/versions/{digest}/tags': {
    path: '/objs/none/versions/v0/tags',
    body: { project_id: project, tags: ['good'] },
    ...noVersion,
    forbidden: writing('project_id'),
  },
  '/objs/{object_id}/versions/{digest}/tags/remove': {
    path: '/objs/none/versions/v0/tags/remove',
    body: { project_id: project, tags: ['good'] },
    ...noVersion,
    forbidden: writing('project_id'),
  },
  '/aliases': listing('aliases'),
  '/tags': listing('tags'),
  '/v2/{entity}/{project}/calls/complete': {
    path: `/v2/${project}/calls/complete`,
    body: { batch: [{ ...start, ...end }] },
    answer: '{}',
    forbidden: writing('batch', '0', 'project_id'),
  },
  '/v2/{entity}/{project}/call/start': {
    path: `/v2/${project}/call/start`,
    body: { start },
    answer: '{"id":"w","trace_id":"t"}',
    forbidden: writing('start', 'project_id'),
  },
  '/v2/{entity}/{project}/call/end': {
    path: `/v2/${project}/call/end`,
    body: { end },
    answer: '{}',
    forbidden: writing('end', 'project_id'),
  },
};
