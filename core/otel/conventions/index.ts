import type { Span } from '../span.ts';
import type { Translation } from './convention.ts';

export type * from './convention.ts';

/** Translates what a span's attributes and events say. */
export const translate = (span: Span): Translation => {
  const thread = span.attributes.get('gen_ai.conversation.id') ?? span.attributes.get('session.id');
  const user = span.attributes.get('user.id');
  return {
    kind: 'other',
    inputs: {},
    output: null,
    usage: undefined,
    threadId: typeof thread === 'string' ? thread : undefined,
    userId: typeof user === 'string' ? user : undefined,
    usedKeys: new Set(),
    usedEvents: new Set(),
  };
};
