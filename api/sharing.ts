import * as z from 'zod/mini';
import { field, record } from '../foundations/wire/schema.ts';
import { linkEndpoint, oneAnswer } from './endpoint.ts';
import { timestamp } from './fields.ts';
import { callRow } from './queries.ts';
import { maxSharedBytes, maxSharedCalls, maxToken } from './shared/sharing.ts';

/** The columns of calls that a link shows: none that names who reported them. */
export const sharedColumns = [
  'display_name',
  'parent_id',
  'thread_id',
  'turn_id',
  'ended_at',
  'attributes',
  'inputs',
  'output',
  'exception',
  'summary',
  'preview',
] as const;

const sharedLine = () =>
  z.object({
    shared: field(
      z.optional(
        z.object({
          trace_id: field(z.string(), 'The trace.'),
          expires_at: field(timestamp, 'When the link ends.'),
        }),
      ),
      'What the link shows: the first line.',
    ),
    call: field(
      z.optional(callRow()),
      'A call, as `/calls/stream_query` answers it with costs; without `svc_user_id`, feedback and sizes.',
    ),
    end: field(
      z.optional(
        z.object({
          complete: field(
            z.boolean(),
            `Whether these are all calls of the trace. A link shows the first ${maxSharedCalls}, and ${maxSharedBytes} bytes.`,
          ),
        }),
      ),
      'The last line.',
    ),
  });

/** The token of the examples. It names no link. */
const exampleToken = 'WyJhY21lL3Nob3AiLCJsaW5rLTEiLCIiXQ';

export const sharedRead = /* @__PURE__ */ linkEndpoint({
  path: '/shared/read',
  shape: oneAnswer,
  stores: { calls: 'trace', payloads: 'read', objects: 'find', costs: 'read' },
  tag: 'sharing',
  name: 'SharedRead',
  summary: 'Read a trace by a public link',
  description:
    'Takes no key: the token is what comes after `#` in the link. Answers the calls of the trace in the order of their start, while the link lasts and the project allows public links. Everything else is the same 404. The answer is JSON Lines and always compressed.',
  request: () => record({ token: field(z.string().check(z.maxLength(maxToken)), 'The token of the link.') }),
  answer: sharedLine,
  form: 'lines',
  errors: [404],
  examples: { nothing: { summary: 'No link', body: { token: exampleToken }, answer: undefined } },
});

/** The endpoints of this file. */
export const sharingRoutes = [sharedRead] as const;
