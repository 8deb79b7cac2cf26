import * as z from 'zod/mini';
import * as requests from '../../api/requests.ts';
import type { WireNames } from '../../core/foundations/wire/index.ts';
import { call, callRow } from '../answers/calls.ts';
import { deleted, done, field } from '../answers/fields.ts';
import type { Operations } from '../operation.ts';
import { reporting, start } from './reports.ts';

const project = 'acme/shop';

const fifo = { field: 'started_at', direction: 'asc' };

const turnRow = {
  id: 'turn-1',
  project_id: project,
  op_name: 'answer',
  trace_id: 'trace-1',
  started_at: '2026-10-01T09:30:00.000001Z',
};

const usage = { 'gpt-4o': { prompt_tokens: 1200, completion_tokens: 12 } };

const turnWith = (names: WireNames, traceName: string) => ({
  ...turnRow,
  display_name: traceName === 'answer' ? null : traceName,
  parent_id: null,
  thread_id: 'chat-1',
  turn_id: 'turn-1',
  ended_at: '2026-10-01T09:30:01.500001Z',
  attributes: {},
  inputs: start.inputs,
  output: 'On its way.',
  exception: null,
  summary: { usage, [names.service]: { status: 'success', latency_ms: 1500, trace_name: traceName } },
  [names.userId]: 'ada',
  [names.runId]: null,
  [names.runStep]: null,
  [names.runStepEnd]: null,
});

const includes =
  '`include_costs`, `include_feedback`, `include_storage_size` and `include_total_storage_size` add the fields of the answer that name them.';

/** The operations that read calls. */
const asking = (
  names: WireNames,
): Pick<Operations, '/call/read' | '/calls/stream_query' | '/calls/query_stats'> => ({
  '/call/read': [
    {
      name: 'CallRead',
      tag: 'calls',
      summary: 'Read a call by its id',
      description: `Strongly consistent. ${includes}`,
      request: requests.callRead,
      answer: z.object({
        call: field(z.nullable(call(names)), 'The call; null if there is none, or only an end.'),
      }),
      examples: {
        turn: {
          summary: 'The turn',
          body: { project_id: project, id: 'turn-1' },
          answer: { call: turnWith(names, 'answer') },
        },
        nothing: {
          summary: 'A call that is not there',
          body: { project_id: project, id: 'nobody' },
          answer: { call: null },
        },
      },
    },
  ],
  '/calls/stream_query': [
    {
      name: 'CallsQuery',
      tag: 'calls',
      summary: 'Query calls, as a stream',
      description: `The calls of a project that match, each as soon as it is known. They are compressed if the client accepts zstd or gzip. The connection breaks off if something fails after the first byte, so an answer that ends cleanly is whole. Without \`sort_by\` they come by \`started_at\`, then \`id\`. ${includes}`,
      request: requests.callsStreamQuery,
      answer: callRow(names),
      form: 'records',
      examples: {
        roots: {
          summary: 'Traces that took more than a second, with two columns',
          body: {
            project_id: project,
            filter: { trace_roots_only: true },
            query: {
              $expr: {
                $gt: [{ $getField: `summary.${names.service}.latency_ms` }, { $literal: 1000 }],
              },
            },
            sort_by: [fifo],
            limit: 10,
            columns: ['inputs.question', 'output'],
          },
          answer: { ...turnRow, inputs: start.inputs, output: 'On its way.' },
        },
      },
    },
  ],
  '/calls/query_stats': [
    {
      name: 'CallsQueryStats',
      tag: 'calls',
      summary: 'Count calls',
      description:
        'Counts the calls that a query would answer and, if asked for, their size as they were received, in bytes of JSON.',
      request: requests.callsQueryStats,
      answer: z.object({
        count: field(z.int(), 'How many calls match.'),
        total_storage_size_bytes: field(
          z.nullable(z.int()),
          'Bytes of JSON; null without `include_total_storage_size`.',
        ),
      }),
      examples: {
        trace: {
          summary: 'The calls of a trace',
          body: { project_id: project, filter: { trace_ids: ['trace-1'] } },
          answer: { count: 2, total_storage_size_bytes: null },
        },
      },
    },
  ],
});

/** The operations that change calls. */
const changing = (): Pick<Operations, '/call/update' | '/calls/delete'> => ({
  '/call/update': [
    {
      name: 'CallUpdate',
      tag: 'calls',
      summary: 'Change what a call is shown as',
      description: 'Changes the display name alone; null removes it.',
      request: requests.callUpdate,
      answer: done,
      errors: [404],
      examples: {
        rename: {
          summary: 'Give the turn a name',
          body: { project_id: project, call_id: 'turn-1', display_name: 'where is it?' },
          answer: {},
        },
      },
    },
  ],
  '/calls/delete': [
    {
      name: 'CallsDelete',
      tag: 'calls',
      summary: 'Delete calls',
      description:
        'Deletes calls and everything below them, payloads and feedback included. Unknown ids are ignored. After a 503 or a broken connection, the same request deletes and counts the rest.',
      request: requests.callsDelete,
      answer: deleted,
      examples: {
        call: {
          summary: 'The call below the turn',
          body: { project_id: project, call_ids: ['lookup-1'] },
          answer: { num_deleted: 1 },
        },
      },
    },
  ],
});

/** What the document says of calls. */
export const callOperations = (names: WireNames) => ({ ...reporting(), ...asking(names), ...changing() });
