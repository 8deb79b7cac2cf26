export type { ToolContext } from './context.ts';
export { linksOf } from './links.ts';
export { type About, type Served, serve } from './server.ts';
