import { beforeAll, describe, expect, it } from 'vitest';
import { post, report } from './support/calls.ts';
import { pageUrl, useBrowser } from './support/visit.ts';

const visit = useBrowser();
const project = 'page/usage';
const at = encodeURIComponent(project);

/** 6,600 tokens of a prompt, of which 5,000 were cached, and 200 of an answer. */
const shapes: Readonly<Record<string, object>> = {
  chat: {
    prompt_tokens: 6600,
    completion_tokens: 200,
    total_tokens: 6800,
    prompt_tokens_details: { cached_tokens: 5000 },
    completion_tokens_details: { reasoning_tokens: 150 },
  },
  responses: {
    input_tokens: 6600,
    output_tokens: 200,
    total_tokens: 6800,
    input_tokens_details: { cached_tokens: 5000 },
    output_tokens_details: { reasoning_tokens: 150 },
  },
  anthropic: {
    input_tokens: 1000,
    output_tokens: 200,
    cache_read_input_tokens: 5000,
    cache_creation_input_tokens: 600,
  },
  converse: {
    inputTokens: 1000,
    outputTokens: 200,
    totalTokens: 1200,
    cacheReadInputTokens: 5000,
    cacheWriteInputTokens: 600,
  },
  otel: {
    requests: 1,
    input_tokens: 6600,
    output_tokens: 200,
    total_tokens: 6800,
    cache_read_input_tokens: 5000,
    cache_creation_input_tokens: 600,
    input_tokens_details: { cached_tokens: 5000 },
  },
};
const names = Object.keys(shapes);

beforeAll(async () => {
  await post('/cost/create', {
    project_id: project,
    costs: { m: { prompt_token_cost: 0.001, completion_token_cost: 0.01, effective_date: '2026-01-01' } },
  });
  await report(
    project,
    names.flatMap((name, i) => [
      {
        id: name,
        name: `Turn ${name}`,
        thread: `thread-${name}`,
        at: i * 1000,
        inputs: { question: 'Where is it?' },
        output: 'Here.',
      },
      {
        id: `${name}-model`,
        trace: name,
        parent: name,
        op: 'model.chat',
        at: i * 1000 + 10,
        inputs: { messages: [{ role: 'user', content: 'Where is it?' }] },
        output: { choices: [{ message: { role: 'assistant', content: 'Here.' } }] },
        summary: { usage: { m: shapes[name] } },
      },
    ]),
  );
});

// 6,600 × $0.001 + 200 × $0.01
const cost = '$8.60';

describe('the usage of a call', () => {
  it.each(names)(
    'in the shape of %s is the same in list, trace, call, Story, Compare and thread',
    async (name) => {
      const page = await visit(`traces?project=${at}`);
      const row = page.getByRole('row', { name: new RegExp(`Turn ${name}`) });
      await row.getByText('6,800').waitFor();
      await row.getByText(cost).waitFor();

      await page.goto(`${pageUrl}trace?project=${at}&trace=${name}&call=${name}-model&tab=usage`);
      const head = page.locator('.call-head');
      await head.getByText('6.8K tokens').waitFor();
      await head.getByText(cost).waitFor();
      await page.getByRole('row', { name: `m 6,600 200 6,800 ${cost}` }).waitFor();
      expect(await page.getByText('6.8K tok', { exact: true }).count()).toBeGreaterThan(0);
      expect(await page.getByText('6.8K tokens', { exact: true }).count()).toBe(2);

      await page.goto(`${pageUrl}trace?project=${at}&trace=${name}&story=true`);
      await page.getByText('6.8K tok', { exact: true }).first().waitFor();

      await page.goto(`${pageUrl}compare?project=${at}&left=${name}-model&right=chat-model`);
      await page.getByRole('row', { name: 'Input tokens 6,600 6,600' }).waitFor();
      await page.goto(`${pageUrl}compare?project=${at}&left=${name}&right=chat`);
      await page.getByRole('row', { name: 'Tokens with all below 6,800 6,800' }).waitFor();

      await page.goto(`${pageUrl}thread?project=${at}&thread=thread-${name}`);
      await page.getByText('6.8K tokens', { exact: true }).first().waitFor();
    },
  );
});
