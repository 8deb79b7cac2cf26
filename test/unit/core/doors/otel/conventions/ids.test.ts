import { describe, expect, it } from 'vitest';
import { translate } from '../../../../../../core/doors/otel/conventions/index.ts';
import { spanOf } from '../../../../../support/spans.ts';

describe('ids that no framework owns', () => {
  it.each(['gen_ai.conversation.id', 'session.id', 'conversation_id'])('takes the thread from %s', (name) => {
    expect(translate(spanOf({ attributes: { [name]: 't' } })).threadId).toBe('t');
  });

  it.each(['user.id', 'enduser.id', 'llm.user', 'user_id'])('takes the user from %s', (name) => {
    expect(translate(spanOf({ attributes: { [name]: 7 } })).userId).toBe('7');
  });

  it('takes no thread of the operating system for a conversation', () => {
    expect(translate(spanOf({ attributes: { 'thread.id': 12 } })).threadId).toBeUndefined();
  });

  it('leaves ids among the attributes', () => {
    expect([...translate(spanOf({ attributes: { 'session.id': 's' } })).usedKeys]).toEqual([]);
  });

  it('lets a status of ok overrule the message of an error', () => {
    const attributes = { 'error.message': 'no' };
    expect(translate(spanOf({ attributes })).exception).toBe('no');
    expect(translate(spanOf({ attributes, status: { code: 1, message: '' } })).exception).toBeUndefined();
  });
});
