import { describe, expect, it } from 'vitest';
import { toUsage } from '../../../../../core/doors/inference/recording.ts';

describe('the usage of an answer', () => {
  it.each([
    [{ model: 'm', usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 } }, 'm', [2, 3, 5]],
    [{ model: 'm', usage: { input_tokens: 2, output_tokens: 3 } }, 'm', [2, 3, 5]],
    [{ usage: { prompt_tokens: 2, total_tokens: 2 } }, 'asked', [2, 0, 2]],
    [{ model: '', usage: {} }, 'asked', [0, 0, 0]],
  ])('%j is counted by its model', (answer, model, [prompt, completion, total]) => {
    expect(toUsage(answer as never, 'asked')).toEqual({
      [model]: { requests: 1, prompt_tokens: prompt, completion_tokens: completion, total_tokens: total },
    });
  });

  it.each([
    null,
    'text',
    [],
    { model: 7, usage: 'none' },
    { model: 'asked', usage: { input_tokens: 0, output_tokens: 0 } },
  ])('%j counts only the request', (answer) => {
    expect(toUsage(answer, 'asked')).toEqual({ asked: { requests: 1 } });
  });
});
