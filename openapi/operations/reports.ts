import * as z from 'zod/mini';
import * as requests from '../../api/requests.ts';
import { startedCall } from '../answers/calls.ts';
import { done, field } from '../answers/fields.ts';
import type { Operations } from '../operation.ts';

const project = 'acme/shop';

/** A start. The examples below refer to it. */
export const start = {
  project_id: project,
  id: 'turn-1',
  op_name: 'answer',
  trace_id: 'trace-1',
  thread_id: 'chat-1',
  turn_id: 'turn-1',
  started_at: '2026-10-01T09:30:00.000001Z',
  inputs: { question: 'Where is my order?' },
};

const end = {
  project_id: project,
  id: 'turn-1',
  ended_at: '2026-10-01T09:30:01.500001Z',
  output: 'On its way.',
  summary: { usage: { 'gpt-4o': { prompt_tokens: 1200, completion_tokens: 12 } } },
};

const lookup = {
  project_id: project,
  id: 'lookup-1',
  op_name: 'find_order',
  trace_id: 'trace-1',
  parent_id: 'turn-1',
  started_at: '2026-10-01T09:30:00.2Z',
};

/** The operations that report calls. */
export const reporting = (): Pick<Operations, '/call/start' | '/call/end' | '/call/upsert_batch'> => ({
  '/call/start': [
    {
      name: 'CallStart',
      tag: 'calls',
      summary: 'Report the start of a call',
      description:
        'Stores the start of one call and answers its ids. Missing ids are made. A start with a `parent_id` and without a `trace_id` takes the trace of its parent, if that is known. A start that is reported again replaces the earlier one.',
      request: requests.callStart,
      answer: startedCall,
      examples: {
        turn: {
          summary: 'A turn of a conversation',
          body: { start },
          answer: { id: 'turn-1', trace_id: 'trace-1' },
        },
      },
    },
  ],
  '/call/end': [
    {
      name: 'CallEnd',
      tag: 'calls',
      summary: 'Report the end of a call',
      description:
        'Stores the end of one call. It may come before the start. The service reads `summary.usage` and `summary.status_counts.error`; the rest of the summary is yours.',
      request: requests.callEnd,
      answer: done,
      examples: { turn: { summary: 'The end of the turn, with what it used', body: { end }, answer: {} } },
    },
  ],
  '/call/upsert_batch': [
    {
      name: 'CallUpsertBatch',
      tag: 'calls',
      summary: 'Report starts and ends of calls',
      description:
        'Stores any mixture of starts and ends, of any projects that the key may write. The batch is checked whole before anything is written. It may be sent again, in any grouping.',
      request: requests.callUpsertBatch,
      answer: z.object({
        res: field(
          z.array(z.union([startedCall, done])),
          'One answer for each item, in order: ids for a start, `{}` for an end.',
        ),
      }),
      examples: {
        pair: {
          summary: 'Start and end of a call below the turn',
          body: {
            batch: [
              { mode: 'start', req: { start: lookup } },
              {
                mode: 'end',
                req: { end: { project_id: project, id: 'lookup-1', ended_at: '2026-10-01T09:30:00.9Z' } },
              },
            ],
          },
          answer: { res: [{ id: 'lookup-1', trace_id: 'trace-1' }, {}] },
        },
      },
    },
  ],
});
