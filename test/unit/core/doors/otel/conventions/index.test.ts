import { describe, expect, it } from 'vitest';
import { translate } from '../../../../../../core/doors/otel/conventions/index.ts';
import { makeSpan } from '../../../../../support/otel/spans.ts';

describe('a span', () => {
  it('of no known convention says nothing', () => {
    expect(translate(makeSpan({ attributes: { 'http.route': '/chat' } }))).toEqual({
      kind: 'other',
      isPlain: true,
      inputs: {},
      output: null,
      usage: undefined,
      threadId: undefined,
      userId: undefined,
      usedKeys: new Set(),
      usedEvents: new Set(),
    });
  });

  it('of two conventions gathers a request from both, and marks what was used', () => {
    const { kind, inputs, usedKeys } = translate(
      makeSpan({
        attributes: {
          'openinference.span.kind': 'LLM',
          'llm.input_messages.0.message.role': 'user',
          'llm.input_messages.0.message.content': 'hi',
          'gen_ai.request.model': 'm',
          'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"again"}]}]',
        },
      }),
    );
    expect([kind, inputs]).toEqual(['model', { messages: [{ role: 'user', content: 'hi' }], model: 'm' }]);
    expect([...usedKeys].sort()).toEqual([
      'gen_ai.request.model',
      'llm.input_messages.0.message.content',
      'llm.input_messages.0.message.role',
    ]);
  });

  it.each([
    ['the messages of another', { 'gen_ai.input.messages': '[{"role":"user","content":"hi"}]' }, 'hi'],
    ['all that was sent, if no other has messages', {}, '{"question":"why?"}'],
  ])('of a convention without a conversation has %s', (_, attributes, content) => {
    const { inputs } = translate(
      makeSpan({
        attributes: {
          'openinference.span.kind': 'LLM',
          'input.value': '{"question":"why?"}',
          ...attributes,
        },
      }),
    );
    expect(inputs).toEqual({ messages: [{ role: 'user', content }] });
  });

  it('with a key named __proto__ harms no object', () => {
    const attributes = JSON.parse('{"gen_ai.prompt.0.__proto__.polluted":true,"llm.request.type":"chat"}');
    translate(makeSpan({ attributes }));
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it('with JSON that nests without end keeps it as text', () => {
    const deep = `${'['.repeat(2000)}${']'.repeat(2000)}`;
    const attributes = { 'openinference.span.kind': 'CHAIN', 'input.value': deep };
    expect(translate(makeSpan({ attributes })).inputs).toEqual({ input: deep });
  });

  it('with numbers that JSON cannot keep writes them as text', () => {
    const attributes = {
      'openinference.span.kind': 'CHAIN',
      'input.value': Number.NaN,
      'output.value': 2n ** 60n,
    };
    const { inputs, output } = translate(makeSpan({ attributes }));
    expect([inputs, output]).toEqual([{ input: 'NaN' }, String(2n ** 60n)]);
  });
});

describe('ids that no framework owns', () => {
  it.each(['gen_ai.conversation.id', 'session.id', 'conversation_id'])('takes the thread from %s', (name) => {
    expect(translate(makeSpan({ attributes: { [name]: 't' } })).threadId).toBe('t');
  });

  it.each(['user.id', 'enduser.id', 'llm.user', 'user_id'])('takes the user from %s', (name) => {
    expect(translate(makeSpan({ attributes: { [name]: 7 } })).userId).toBe('7');
  });

  it('takes no thread of the operating system for a conversation', () => {
    expect(translate(makeSpan({ attributes: { 'thread.id': 12 } })).threadId).toBeUndefined();
  });

  it('leaves ids among the attributes', () => {
    expect([...translate(makeSpan({ attributes: { 'session.id': 's' } })).usedKeys]).toEqual([]);
  });

  it('lets a status of ok overrule the message of an error', () => {
    const attributes = { 'error.message': 'no' };
    expect(translate(makeSpan({ attributes })).exception).toBe('no');
    expect(translate(makeSpan({ attributes, status: { code: 1, message: '' } })).exception).toBeUndefined();
  });
});

describe('names of Weave', () => {
  it('come before all others', () => {
    const attributes = { 'wandb.thread_id': 'w', 'session.id': 's' };
    expect(translate(makeSpan({ attributes })).threadId).toBe('w');
  });
});
