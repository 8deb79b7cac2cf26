import type { Tool } from './context.ts';
import { getCall } from './get-call.ts';
import { listProjects } from './list-projects.ts';
import { queryCalls } from './query-calls.ts';

/** Every tool, by its name. */
export const toolsByName: ReadonlyMap<string, Tool> = new Map(
  [listProjects, queryCalls, getCall].map((tool) => [tool.name, tool]),
);
