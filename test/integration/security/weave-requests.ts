import type { WeavePath } from '../../../api/weave-routes.ts';
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

/**
 * For every route that Weave's dialect alone has and that takes a grant, a request that is good but
 * for its credentials. Paths that have parameters are written out.
 */
export const weaveRequests: Partial<Readonly<Record<WeavePath, GoodRequest>>> = {
  '/trace/usage': {
    body: { project_id: project, filter: { trace_ids: ['none'] } },
    answer: '{"call_usage":{},"error_counts":{},"unfinished_call_ids":[]}',
    forbidden: { loc: ['body', 'project_id'], msg: `this key may not read the project ${project}` },
  },
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
