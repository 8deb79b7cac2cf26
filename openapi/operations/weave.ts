import * as z from 'zod/mini';
import * as requests from '../../api/requests.ts';
import type { WeavePath } from '../../api/weave-routes.ts';
import { startedCall } from '../answers/calls.ts';
import { done, field } from '../answers/fields.ts';
import type { Operations } from '../operation.ts';
import { usageAnswer } from './stats.ts';
import { weaveDataOperations } from './weave-data.ts';
import { labelOperations } from './weave-labels.ts';

const serverInfo = z.object({
  min_required_weave_python_version: field(z.string(), 'The oldest Python SDK that works.'),
  trace_server_version: field(z.string(), "The service's version."),
});

const project = 'acme/shop';

const start = {
  project_id: project,
  id: 'evaluation-1',
  op_name: 'evaluate',
  trace_id: 'trace-9',
  started_at: '2026-10-01T09:31:00.000001Z',
};
const end = {
  project_id: project,
  id: 'evaluation-1',
  ended_at: '2026-10-01T09:31:09Z',
  started_at: '2026-10-01T09:31:00.000001Z',
};
const whole = {
  ...start,
  id: 'answer-1',
  ended_at: '2026-10-01T09:31:02Z',
  inputs: { q: 'Why?' },
  output: 42,
};

const graphqlAnswer = z.object({
  data: field(z.unknown(), 'What was asked for.'),
  errors: field(z.optional(z.array(z.unknown())), 'Why there is no answer.'),
});

/** What the document says of the endpoints that Weave's dialect alone has. */
export const weaveOperations = (): Pick<Operations, WeavePath> => ({
  '/server_info': [
    {
      name: 'ServerInfo',
      tag: 'weave',
      summary: 'Which SDKs the service works with',
      description: 'It takes no credentials.',
      answer: serverInfo,
      examples: {
        now: {
          summary: 'As it is now',
          body: undefined,
          answer: { min_required_weave_python_version: '0.0.0', trace_server_version: '0.1.0' },
        },
      },
    },
  ],
  '/graphql': [
    {
      name: 'Graphql',
      tag: 'weave',
      summary: "Answer the SDKs' GraphQL queries",
      description:
        'Knows `viewer`, `project` and `upsertModel` alone, with the fields that the SDKs ask for. Nothing is stored: a project is there if the key may use it.',
      request: requests.graphql,
      answer: graphqlAnswer,
      examples: {
        viewer: {
          summary: 'Whose key this is',
          body: { query: 'query DefaultEntity { viewer { username defaultEntity { name } } }' },
          answer: { data: { viewer: { username: 'local', defaultEntity: { name: 'local' } } } },
        },
      },
    },
  ],
  '/trace/usage': [
    {
      name: 'TraceUsage',
      tag: 'weave',
      summary: 'Sum up the usage of selected calls',
      description:
        'As `/calls/usage`, for the calls that a filter and a query select; at most 10,000 of them.',
      request: requests.traceUsage,
      answer: usageAnswer(),
      examples: {
        none: {
          summary: 'A trace without calls',
          body: { project_id: project, filter: { trace_ids: ['none'] } },
          answer: { call_usage: {}, error_counts: {}, unfinished_call_ids: [] },
        },
      },
    },
  ],
  '/v2/{entity}/{project}/calls/complete': [
    {
      name: 'CallsComplete',
      tag: 'weave',
      summary: 'Report calls that are over',
      description:
        'Stores whole calls of the project in the path. Each has the fields of a start and of an end. It costs what a batch of both would.',
      request: requests.callsComplete,
      answer: done,
      examples: { one: { summary: 'A call', body: { batch: [whole] }, answer: {} } },
    },
  ],
  '/v2/{entity}/{project}/call/start': [
    {
      name: 'CallStartV2',
      tag: 'weave',
      summary: 'Report the start of a call of the project in the path',
      description: 'As `/call/start`.',
      request: requests.callStartV2,
      answer: startedCall,
      examples: {
        start: { summary: 'A start', body: { start }, answer: { id: 'evaluation-1', trace_id: 'trace-9' } },
      },
    },
  ],
  '/v2/{entity}/{project}/call/end': [
    {
      name: 'CallEndV2',
      tag: 'weave',
      summary: 'Report the end of a call of the project in the path',
      description: 'As `/call/end`.',
      request: requests.callEndV2,
      answer: done,
      examples: { end: { summary: 'Its end', body: { end }, answer: {} } },
    },
  ],
  ...weaveDataOperations,
  ...labelOperations,
});
