import type { Page } from 'playwright-core';
import type { PageBench } from './page-bench.ts';

const reportsPerRequest = 400;
const beginning = Date.parse('2026-10-01T00:00:00Z');

/** A call to report; what is not said is made up. */
export interface Made {
  readonly id: string;
  readonly trace?: string;
  readonly parent?: string;
  readonly inputs?: object;
  /** Whether it has no end. @default false */
  readonly running?: boolean;
}

/** Reports calls, a second after one another, the first at a place in that row. */
export const report = async (
  { post }: PageBench,
  project: string,
  calls: readonly Made[],
  place = 0,
): Promise<void> => {
  const reports = calls.flatMap(({ id, trace = id, parent = null, inputs = {}, running }, at) => {
    const time = (ms: number) => new Date(beginning + (place + at) * 1000 + ms).toISOString();
    const fields = { project_id: project, id };
    const start = { ...fields, trace_id: trace, parent_id: parent, op_name: `step ${place + at}`, inputs };
    const begun = { mode: 'start', req: { start: { ...start, started_at: time(0) } } };
    return running ? [begun] : [begun, { mode: 'end', req: { end: { ...fields, ended_at: time(400) } } }];
  });
  for (let at = 0; at < reports.length; at += reportsPerRequest)
    await (await post('/call/upsert_batch', { batch: reports.slice(at, at + reportsPerRequest) })).text();
};

/** As many calls as asked for, each by its place. */
export const numbered = (count: number, make: (at: number) => Made): Made[] =>
  Array.from({ length: count }, (_, at) => make(at));

/** The path of a list, and of a trace. */
export const listOf = (project: string): string => `traces?project=${encodeURIComponent(project)}`;
export const traceOf = (project: string, trace: string): string =>
  `trace?project=${encodeURIComponent(project)}&trace=${trace}`;

const headers = ['display_name', 'parent_id', 'thread_id', 'turn_id', 'ended_at', 'svc_user_id'];
/** The body of a query for the newest 100 roots by their headers. */
export const newest = (project: string) => ({
  project_id: project,
  filter: { trace_roots_only: true },
  sort_by: [{ field: 'started_at', direction: 'desc' }],
  columns: [...headers, 'summary.svc'],
  limit: 100,
});

/** Ends a visit. */
export const close = (page: Page): Promise<void> => page.context().close();
