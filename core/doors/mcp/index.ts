export type { ToolContext } from './context.ts';
export { measureResult } from './reply.ts';
export { type About, type Served, serve } from './server.ts';
export { toolsByName } from './tools.ts';
