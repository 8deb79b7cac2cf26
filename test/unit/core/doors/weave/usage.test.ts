import { describe, expect, it } from 'vitest';
import { readTokens } from '../../../../../api/shared/usage.ts';
import { withCachedTokens } from '../../../../../core/doors/weave/usage.ts';
import type { JsonObject } from '../../../../../foundations/wire/index.ts';

/** What Anthropic answers. */
const own = {
  input_tokens: 1000,
  output_tokens: 200,
  cache_read_input_tokens: 5000,
  cache_creation_input_tokens: 600,
};
const output = { _type: 'Message', usage: { _type: 'Usage', ...own } };

const tokensIn = (usage: JsonObject, answer: JsonObject | null = output) => {
  const { usage: read } = withCachedTokens({ usage: { claude: usage }, status: 'ok' }, answer);
  return readTokens((read as { claude: object }).claude);
};
const expected = { prompt: 6600, cacheRead: 5000, cacheWrite: 600, completion: 200, total: 6800 };

describe('the usage of a call to Anthropic', () => {
  it('is the same whether an SDK adds cached tokens to the input or not', () => {
    expect(tokensIn({ requests: 1, ...own })).toMatchObject(expected);
    expect(tokensIn({ requests: 1, ...own, input_tokens: 6600 })).toMatchObject(expected);
  });

  it.each([
    ['without an output', null],
    ['with another output', { usage: 'none' }],
    ['with an output of its own names', { usage: { prompt_tokens: 6600 } }],
  ])('is what was reported %s', (_name, other) => {
    const summary = { usage: { claude: { ...own, input_tokens: 6600 }, other: null } };
    expect(withCachedTokens(summary, other)).toBe(summary);
  });
});
