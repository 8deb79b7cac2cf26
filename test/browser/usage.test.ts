import { beforeAll, describe, expect, it } from 'vitest';
import { usages } from '../support/otel/usages.ts';
import { post, report } from './support/calls.ts';
import { pageUrl, useBrowser } from './support/visit.ts';

const visit = useBrowser();
const project = 'page/usage';
const at = encodeURIComponent(project);

/** Shapes by the ids of their calls: 6,600 tokens of a prompt, and 200 of an answer. */
const shown: Readonly<Record<string, string>> = {
  chat: 'OpenAI’s chat',
  responses: 'OpenAI’s responses',
  anthropic: 'Anthropic',
  converse: 'Bedrock’s Converse',
  weave: 'Weave, of Bedrock',
  otel: 'our endpoints of OpenTelemetry',
};
const names = Object.keys(shown);
const getUsage = (name: string): object => {
  const [, usage] = usages.find(([shape]) => shape === shown[name]) ?? expect.unreachable(name);
  return usage;
};

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
        summary: { usage: { m: getUsage(name) } },
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
      await head.getByText(/^\S+ cached(, \S+ reasoning)?$/).waitFor();
      // Cached tokens stand apart: they cost what others do here, and so does reasoning.
      await page.getByRole('row', { name: /^m 6,800 \$8\.60 .*5,000 \$5\.00/ }).waitFor();
      expect(await page.getByText('6.8K tok', { exact: true }).count()).toBeGreaterThan(0);
      expect(await page.getByText('6.8K tokens', { exact: true }).count()).toBe(2);

      await page.goto(`${pageUrl}trace?project=${at}&trace=${name}&as=story`);
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
