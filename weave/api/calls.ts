import * as z from 'zod/mini';
import {
  type CallReport,
  end,
  endFields,
  ofEnd,
  ofStart,
  reporting,
  start,
  startedCall,
  startFields,
} from '../../api/calls.ts';
import { batch, endpoint, oneRecord, stream } from '../../api/endpoint.ts';
import { done, project, queryNames, queryText } from '../../api/fields.ts';
import { callKind, filter, noIncludes } from '../../api/queries.ts';
import { includeCosts, usageAnswer } from '../../api/stats.ts';
import { optionalQuery } from '../../foundations/expression/index.ts';
import { endPayload, envelopeBytes, startPayload } from '../../foundations/wire/json.ts';
import { count, documented, field, nullish, record, rule } from '../../foundations/wire/schema.ts';
import { withCachedTokens } from '../usage.ts';
import { changes, startNames } from './changes.ts';
import { derive } from './derive.ts';

/*
 * The endpoints of calls that Weave's dialect alone has.
 */

/** The parameters of a path that name a project. */
const pathProject = {
  entity: field(z.string(), 'The entity of the project.'),
  project: field(z.string(), "The project's name without its entity."),
};

/** Refuses a report of another project than the path names. */
const requireProject = (
  body: { readonly entity: string; readonly project: string },
  reports: readonly { readonly projectId: string; readonly path: (string | number)[] }[],
  issues: z.core.$ZodRawIssue[],
): void => {
  for (const { projectId, path } of reports)
    if (projectId !== `${body.entity}/${body.project}`) {
      const { error: message, params } = rule('should be the project that the path names');
      issues.push({ code: 'custom', message, params, path, input: body });
    }
};

/**
 * Whether a body has no problem so far. One with a problem in a report has the report as it came,
 * not as it is read.
 */
const isRead = ({ issues }: { readonly issues: readonly unknown[] }): boolean => issues.length === 0;

/**
 * A call that is reported when it is over: the fields of its start, and of its end. It becomes two
 * reports, as if both had come in one batch.
 */
const complete = () => {
  const whole = record({ ...startFields(), ...endFields() }, {}, (fields) => {
    const { output, exception, summary, ended_at, ...ofTheStart } = fields;
    const ofTheEnd = { output, exception, summary, ended_at };
    return {
      start: ofStart(fields, envelopeBytes(ofTheStart, startPayload)),
      end: ofEnd(fields, envelopeBytes(ofTheEnd, endPayload)),
    };
  });
  return z
    .pipe(
      derive(whole, changes, startNames) as typeof whole,
      z.transform(({ start, end, ...fields }): readonly CallReport[] => [
        { kind: 'start', start: { ...fields, ...start } },
        {
          kind: 'end',
          end: {
            ...fields,
            displayName: null,
            ...end,
            summary: withCachedTokens(end.summary, fields.output),
          },
        },
      ]),
    )
    .register(documented, { name: 'CompleteCall' });
};

const startExample = {
  project_id: 'acme/shop',
  id: 'evaluation-1',
  op_name: 'evaluate',
  trace_id: 'trace-9',
  started_at: '2026-10-01T09:31:00.000001Z',
};
const endExample = {
  project_id: 'acme/shop',
  id: 'evaluation-1',
  ended_at: '2026-10-01T09:31:09Z',
  started_at: '2026-10-01T09:31:00.000001Z',
};
const wholeExample = {
  ...startExample,
  id: 'answer-1',
  ended_at: '2026-10-01T09:31:02Z',
  inputs: { q: 'Why?' },
  output: 42,
};

export const callsComplete = /* @__PURE__ */ endpoint({
  path: '/v2/{entity}/{project}/calls/complete',
  tolerant: true,
  role: 'write',
  shape: batch,
  stores: reporting,
  tag: 'weave',
  name: 'CallsComplete',
  summary: 'Report calls that are over',
  description:
    'Stores whole calls of the project in the path. Each has the fields of a start and of an end. It costs what a batch of both would.',
  request: () =>
    z.pipe(
      z.strictObject({ ...pathProject, batch: field(z.array(complete()), 'The items, in order.') }).check(
        z.check(
          ({ value, issues }) => {
            const reports = value.batch.flatMap(([report], i) =>
              report?.kind === 'start'
                ? [{ projectId: report.start.projectId, path: ['batch', i, 'project_id'] }]
                : [],
            );
            requireProject(value, reports, issues);
          },
          { when: isRead },
        ),
      ),
      z.transform(({ batch }) => ({ batch: batch.flat(), calls: batch.length })),
    ),
  projects: ({ batch }) =>
    batch.flatMap((report, i) =>
      report.kind === 'start'
        ? [{ projectId: report.start.projectId, loc: ['batch', String(i / 2), 'project_id'] }]
        : [],
    ),
  answer: () => done,
  examples: { one: { summary: 'A call', body: { batch: [wholeExample] }, answer: {} } },
});

export const callStartV2 = /* @__PURE__ */ endpoint({
  path: '/v2/{entity}/{project}/call/start',
  tolerant: true,
  role: 'write',
  shape: oneRecord,
  stores: reporting,
  tag: 'weave',
  name: 'CallStartV2',
  summary: 'Report the start of a call of the project in the path',
  description: 'As `/call/start`.',
  request: () =>
    z
      .strictObject({
        ...pathProject,
        start: field(derive(start(), changes) as ReturnType<typeof start>, "The call's start."),
      })
      .check(
        z.check(
          ({ value, issues }) => {
            const { projectId } = value.start;
            requireProject(value, [{ projectId, path: ['start', 'project_id'] }], issues);
          },
          { when: isRead },
        ),
      ),
  projects: ({ start }) => [{ projectId: start.projectId, loc: ['start', 'project_id'] }],
  answer: () => startedCall,
  examples: {
    start: {
      summary: 'A start',
      body: { start: startExample },
      answer: { id: 'evaluation-1', trace_id: 'trace-9' },
    },
  },
});

export const callEndV2 = /* @__PURE__ */ endpoint({
  path: '/v2/{entity}/{project}/call/end',
  tolerant: true,
  role: 'write',
  shape: oneRecord,
  stores: reporting,
  tag: 'weave',
  name: 'CallEndV2',
  summary: 'Report the end of a call of the project in the path',
  description: 'As `/call/end`.',
  request: () =>
    z
      .strictObject({
        ...pathProject,
        end: field(derive(end(), changes) as ReturnType<typeof end>, "The call's end."),
      })
      .check(
        z.check(
          ({ value, issues }) => {
            const { projectId } = value.end;
            requireProject(value, [{ projectId, path: ['end', 'project_id'] }], issues);
          },
          { when: isRead },
        ),
      ),
  projects: ({ end }) => [{ projectId: end.projectId, loc: ['end', 'project_id'] }],
  answer: () => done,
  examples: { end: { summary: 'Its end', body: { end: endExample }, answer: {} } },
});

/** The most calls whose usage is answered at once. */
const maxTraceCalls = 10_000;

const traceUsageBody = () =>
  record(
    {
      project_id: project,
      filter: filter(),
      query: field(optionalQuery(callKind(noIncludes)), queryText),
      limit: field(nullish(count), 'The most to answer; all without it, or with null.'),
      include_costs: includeCosts,
    },
    { ...queryNames, include_costs: 'withCosts' },
    ({ limit }) => ({ limit: Math.min(limit ?? maxTraceCalls, maxTraceCalls), includes: noIncludes }),
  );

/** Which calls to sum up, by a filter and a query. */
export type TraceUsageRequest = z.output<ReturnType<typeof traceUsageBody>>;

export const traceUsage = /* @__PURE__ */ endpoint({
  path: '/trace/usage',
  tolerant: true,
  shape: stream,
  stores: { calls: 'query', payloads: 'read', costs: 'read', feedback: 'joinMany' },
  tag: 'weave',
  name: 'TraceUsage',
  summary: 'Sum up the usage of selected calls',
  description: 'As `/calls/usage`, for the calls that a filter and a query select; at most 10,000 of them.',
  request: () => {
    const body = traceUsageBody();
    return derive(body, changes) as typeof body;
  },
  answer: usageAnswer,
  examples: {
    none: {
      summary: 'A trace without calls',
      body: { project_id: 'acme/shop', filter: { trace_ids: ['none'] } },
      answer: { call_usage: {}, error_counts: {}, unfinished_call_ids: [] },
    },
  },
});
