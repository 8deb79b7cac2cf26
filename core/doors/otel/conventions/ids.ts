import type { Convention } from './convention.ts';

/**
 * Sessions, users and labels under names that no framework owns. `thread.id` is a thread of the operating
 * system.
 * Source: OpenTelemetry's registries `gen_ai`, `session`, `user`, `enduser`, `deployment` and `service`.
 */
export const ids: Convention = {
  matches: () => true,
  thread: [
    ...['gen_ai.conversation.id', 'session.id', 'gen_ai.thread.id', 'conversation.id'],
    ...['session_id', 'thread_id', 'conversation_id', 'sessionId', 'threadId', 'conversationId'],
  ],
  user: [
    ...['user.id', 'enduser.id', 'gen_ai.user.id', 'gen_ai.user', 'llm.user', 'gen_ai.request.user'],
    ...['user_id', 'userId', 'enduser.pseudo.id'],
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
