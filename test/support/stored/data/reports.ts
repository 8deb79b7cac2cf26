import type { StoredRequest } from '../exchange.ts';
import { project } from './names.ts';

/** A start of the project's, as an item of a batch. */
export const start = (fields: object) => ({
  mode: 'start',
  req: { start: { project_id: project, op_name: 'step', started_at: '2026-10-01T09:00:00Z', ...fields } },
});

/** An end of the project's, as an item of a batch. */
export const end = (fields: object) => ({
  mode: 'end',
  req: { end: { project_id: project, ended_at: '2026-10-01T09:00:02.5Z', ...fields } },
});

/** A request of several reports. */
export const batch = (name: string, ...items: object[]): StoredRequest => ({
  name,
  path: '/call/upsert_batch',
  body: { batch: items },
});

/** A request of one start. */
export const startAlone = (name: string, fields: object): StoredRequest => ({
  name,
  path: '/call/start',
  body: start(fields).req,
});

/** A request of one end. */
export const endAlone = (name: string, fields: object): StoredRequest => ({
  name,
  path: '/call/end',
  body: end(fields).req,
});

/** A request to delete calls. */
export const deletion = (name: string, ...ids: string[]): StoredRequest => ({
  name,
  path: '/calls/delete',
  body: { project_id: project, call_ids: ids },
});
