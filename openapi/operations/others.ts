import * as z from 'zod/mini';
import * as requests from '../../api/requests.ts';
import { projectId } from '../../core/foundations/wire/schema.ts';
import { field } from '../answers/fields.ts';
import { thread } from '../answers/others.ts';
import type { Operation, Operations } from '../operation.ts';

/** What the document says of threads. */
export const threadOperations: Pick<Operations, '/threads/stream_query'> = {
  '/threads/stream_query': [
    {
      name: 'ThreadsQuery',
      tag: 'threads',
      summary: 'Query threads, as a stream',
      description:
        'The threads of a project, with statistics over their turns. A turn is a call with a `thread_id` whose `id` is its `turn_id`. Without `sort_by` threads come by `last_updated`, the latest first.',
      request: requests.threadsStreamQuery,
      answer: thread,
      form: 'records',
      examples: {
        october: {
          summary: 'Threads since October',
          body: {
            project_id: 'acme/shop',
            filter: { after_datetime: '2026-10-01T00:00:00Z' },
            sort_by: [{ field: 'start_time', direction: 'desc' }],
            limit: 20,
          },
          answer: {
            thread_id: 'chat-1',
            turn_count: 1,
            start_time: '2026-10-01T09:30:00.000001Z',
            last_updated: '2026-10-01T09:30:01.500001Z',
            first_turn_id: 'turn-1',
            last_turn_id: 'turn-1',
            p50_turn_duration_ms: 1500,
            p99_turn_duration_ms: 1500,
          },
        },
      },
    },
  ],
};

/** What the document says of the operations without credentials. */
export const openOperations: Pick<Operations, '/health' | '/openapi.json'> = {
  '/health': [
    {
      name: 'Health',
      tag: 'service',
      summary: 'Whether the service is up',
      description: 'Takes no credentials. It tells nothing of what the service holds, and asks no store.',
      answer: z.object({
        status: field(z.literal('up'), 'Always `up`: any other state is an error or no answer.'),
        version: field(z.string(), "The service's version."),
      }),
      examples: { up: { summary: 'It is up', body: undefined, answer: { status: 'up', version: '0.1.0' } } },
    },
  ],
  '/openapi.json': [
    {
      name: 'OpenApi',
      tag: 'service',
      summary: 'This document',
      description: 'Takes no credentials. It changes with a deployment alone.',
      answer: z.looseObject({
        openapi: field(z.string(), 'The version of OpenAPI.'),
      }),
      examples: { document: { summary: 'The document', body: undefined, answer: { openapi: '3.1.1' } } },
    },
  ],
};

type Inference = Operation<'/inference/v1/{path+}'>;

const passedOn = {
  tag: 'inference',
  request: requests.inference,
  answer: z.looseObject({}),
  form: 'upstream',
  errors: [404],
  headers: {
    'openai-project': {
      schema: projectId,
      description: 'The project to record the request in, `<entity>/<project>`. The key needs `write` on it.',
    },
  },
} as const satisfies Partial<Inference>;

const description =
  'Passes the request on to the upstream of its model, and the answer back as it comes, errors included. With `stream: true` the answer is server-sent events. Fields that are not listed are passed on as they are. `timeout`, `extra_headers` and `api_version` steer the request and are not passed on. With an `OpenAI-Project` header the request is recorded as a call.';

const model = 'any';
const greeting = [{ role: 'user', content: 'Hello' }];

const chat: Inference = {
  ...passedOn,
  name: 'ChatCompletions',
  path: '/inference/v1/chat/completions',
  summary: 'Complete a chat',
  description,
  examples: {
    hello: {
      summary: 'One message',
      body: { model, messages: greeting },
      answer: { object: 'chat.completion' },
    },
  },
};

const completions: Inference = {
  ...passedOn,
  name: 'Completions',
  path: '/inference/v1/completions',
  summary: 'Complete a text',
  description,
  examples: {
    hello: { summary: 'One prompt', body: { model, prompt: 'Hello' }, answer: { object: 'text_completion' } },
  },
};

const embeddings: Inference = {
  ...passedOn,
  name: 'Embeddings',
  path: '/inference/v1/embeddings',
  summary: 'Embed texts',
  description,
  examples: { hello: { summary: 'One text', body: { model, input: 'Hello' }, answer: { object: 'list' } } },
};

const responses: Inference = {
  ...passedOn,
  name: 'Responses',
  path: '/inference/v1/responses',
  summary: 'Make a response',
  description,
  examples: {
    hello: { summary: 'One input', body: { model, input: 'Hello' }, answer: { object: 'response' } },
  },
};

/** What the document says of the pass-through: one operation for each path. */
export const inferenceOperations: Pick<Operations, '/inference/v1/{path+}'> = {
  '/inference/v1/{path+}': [chat, completions, embeddings, responses],
};
