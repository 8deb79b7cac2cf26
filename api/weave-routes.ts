import { inWeave, ofTheKey, open } from './kinds.ts';
import type { Route } from './route.ts';
import { fixed } from './shapes.ts';

/**
 * The endpoints that Weave's dialect has beside all others. Parameters of a path are in braces.
 * They and those of the query reach the handler as fields of the body.
 */
export const weaveRoutes = [
  { ...open('/server_info', 'server_info'), ...fixed, ...inWeave },
  { ...ofTheKey('/graphql'), method: 'POST', ...fixed, ...inWeave },
] as const satisfies readonly Route[];

/** The path of an endpoint that Weave's dialect alone has. */
export type WeavePath = (typeof weaveRoutes)[number]['path'];
