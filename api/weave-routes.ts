import { inWeave, ofTheKey, open, reading, writing } from './kinds.ts';
import type { Route } from './route.ts';
import { batch, fixed, oneAnswer, oneRecord, stream } from './shapes.ts';

/** What the functions that report calls use. */
const reporting = { calls: 'write', payloads: 'write', rollups: 'note' } as const;

/**
 * The endpoints that Weave's dialect has beside all others. Parameters of a path are in braces.
 * They and those of the query reach the handler as fields of the body.
 */
export const weaveRoutes = [
  { ...open('/server_info', 'server_info'), ...fixed, ...inWeave },
  { ...writing('/file/create'), ...oneRecord, stores: { files: 'create', rollups: 'note' }, ...inWeave },
  { ...reading('/file/content'), ...oneAnswer, stores: { files: 'read' }, ...inWeave },
  { ...writing('/table/create'), ...batch, stores: { tables: 'create', rollups: 'note' }, ...inWeave },
  { ...writing('/table/create_from_digests'), ...batch, stores: { tables: 'create' }, ...inWeave },
  { ...writing('/table/update'), ...batch, stores: { tables: 'update' }, ...inWeave },
  { ...reading('/table/query'), ...stream, stores: { tables: 'read' }, ...inWeave },
  { ...reading('/table/query_stats'), ...oneAnswer, stores: { tables: 'count' }, ...inWeave },
  { ...reading('/table/query_stats_batch'), ...oneAnswer, stores: { tables: 'count' }, ...inWeave },
  {
    ...writing('/objs/{object_id}/aliases'),
    ...{ ...oneRecord, method: 'PUT', stores: { objects: 'label' }, ...inWeave },
  },
  {
    ...writing('/objs/{object_id}/aliases/remove'),
    ...{ ...oneRecord, stores: { objects: 'unlabel' }, ...inWeave },
  },
  {
    ...writing('/objs/{object_id}/versions/{digest}/tags'),
    ...{ ...oneRecord, method: 'PUT', stores: { objects: 'label' }, ...inWeave },
  },
  {
    ...writing('/objs/{object_id}/versions/{digest}/tags/remove'),
    ...{ ...oneRecord, stores: { objects: 'label' }, ...inWeave },
  },
  { ...reading('/aliases'), ...oneAnswer, method: 'GET', stores: { objects: 'labels' }, ...inWeave },
  { ...reading('/tags'), ...oneAnswer, method: 'GET', stores: { objects: 'labels' }, ...inWeave },
  { ...ofTheKey('/graphql'), method: 'POST', ...fixed, ...inWeave },
  { ...writing('/v2/{entity}/{project}/calls/complete'), ...batch, stores: reporting, ...inWeave },
  { ...writing('/v2/{entity}/{project}/call/start'), ...oneRecord, stores: reporting, ...inWeave },
  { ...writing('/v2/{entity}/{project}/call/end'), ...oneRecord, stores: reporting, ...inWeave },
  {
    ...reading('/trace/usage'),
    ...stream,
    stores: { calls: 'query', payloads: 'read', costs: 'read', feedback: 'join' },
    ...inWeave,
  },
] as const satisfies readonly Route[];

/** The path of an endpoint that Weave's dialect alone has. */
export type WeavePath = (typeof weaveRoutes)[number]['path'];
