import { type Convention, namedBy } from './convention.ts';
import { isOpenAiAgents } from './names.ts';
import type { SpanReader } from './reader.ts';

/** What OpenAI's agents call a conversation. What is missing is the JSON text of null. */
const readGroup = (span: SpanReader): string | undefined => {
  const group = isOpenAiAgents(span) ? span.id('group_id') : undefined;
  return group === 'null' ? undefined : group;
};

const threads = [
  'gen_ai.conversation.id',
  'session.id',
  'gen_ai.thread.id',
  'conversation.id',
  'session_id',
  'thread_id',
  'conversation_id',
  'sessionId',
  'threadId',
  'conversationId',
];

/**
 * Sessions, users and labels under names that no framework owns. `thread.id` is a thread of the operating
 * system.
 * Source: OpenTelemetry's registries `gen_ai`, `session`, `user`, `enduser`, `deployment` and `service`.
 */
export const ids: Convention = {
  matches: () => true,
  // OpenAI's agents call a conversation the group of its runs.
  thread: (span) => span.id(...threads) ?? readGroup(span),
  user: [
    'user.id',
    'enduser.id',
    'gen_ai.user.id',
    'gen_ai.user',
    'llm.user',
    'gen_ai.request.user',
    'user_id',
    'userId',
    'enduser.pseudo.id',
  ],
  labels: {
    environment: [
      'environment',
      'deployment.environment.name',
      'deployment.environment',
      'gen_ai.environment',
    ],
    release: ['release', 'service.version'],
  },
  // A status of ok says that the program dealt with the error.
  exception: (span) => (span.span.status.code === 1 ? undefined : span.peekText('error.message')),
};

/** How our own clients mark the spans of what was made of a prompt, whoever makes these spans. */
export const clientMarks: Convention = {
  matches: ({ namespaces }) => namespaces.has('pennytrace'),
  prompt: namedBy({ name: ['pennytrace.prompt.name'], version: ['pennytrace.prompt.version'] }),
};
