import { describe, expect, it } from 'vitest';
import { type Answer, noAnswer, withChunk } from '../../../../../web/views/playground/trial.ts';

const foldChunks = (...chunks: readonly unknown[]): Answer => chunks.reduce<Answer>(withChunk, noAnswer);

const delta = (fields: object) => ({ choices: [{ delta: fields }] });

describe('an answer', () => {
  it('is put together from the pieces of a stream', () => {
    const answer = foldChunks(
      delta({ role: 'assistant', content: '' }),
      delta({ content: 'Hel' }),
      delta({ content: 'lo' }),
      { choices: [{ delta: {}, finish_reason: 'stop' }] },
      { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } },
    );
    expect(answer).toEqual({
      ...noAnswer,
      text: 'Hello',
      finish: 'stop',
      tokens: { input: 3, output: 2, cached: 0, reasoning: 0 },
    });
  });

  it('gathers calls of tools by their index', () => {
    const piece = (index: number, fields: object) => delta({ tool_calls: [{ index, ...fields }] });
    const answer = foldChunks(
      piece(0, { id: 'a', function: { name: 'find', arguments: '' } }),
      piece(0, { function: { arguments: '{"o":' } }),
      piece(1, { id: 'b', function: { name: 'list', arguments: '{}' } }),
      piece(0, { function: { arguments: '1}' } }),
      piece(9, { id: 'out of order' }),
    );
    expect(answer.toolCalls).toEqual([
      { id: 'a', function: { name: 'find', arguments: '{"o":1}' } },
      { id: 'b', function: { name: 'list', arguments: '{}' } },
    ]);
  });

  it('may come whole, or end in an error', () => {
    expect(foldChunks({ choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] }).text).toBe('Hi');
    expect(foldChunks(delta({ content: 'Hi' }), { error: { message: 'overloaded' } })).toMatchObject({
      text: 'Hi',
      error: 'overloaded',
    });
  });

  it('has what was refused as its text, and what was thought apart', () => {
    expect(foldChunks(delta({ refusal: 'I ' }), delta({ content: null, refusal: 'cannot.' })).text).toBe(
      'I cannot.',
    );
    expect(
      foldChunks(delta({ reasoning_content: 'H' }), delta({ reasoning: 'm' }), delta({ content: 'Sun' })),
    ).toMatchObject({ thinking: 'Hm', text: 'Sun' });
  });

  it('passes over what is no chunk', () => {
    expect(foldChunks(null, 1, 'x', {}, { choices: 1 }, { choices: [null] })).toEqual(noAnswer);
  });
});
