/** An agent of the Vercel AI SDK. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { OpenTelemetry } from '@ai-sdk/otel';
import { isStepCount, registerTelemetry, ToolLoopAgent, tool } from 'ai';
import { z } from 'zod';
import { provider } from './tracing.mjs';

registerTelemetry(new OpenTelemetry({ runtimeContext: true, usage: true }));
const { OPENAI_BASE_URL, OPENAI_API_KEY, QUESTION } = process.env;
const model = createOpenAICompatible({
  name: 'scripted',
  baseURL: OPENAI_BASE_URL,
  apiKey: OPENAI_API_KEY,
  includeUsage: true,
});
const lookup_order = tool({
  description: 'Look up an order',
  inputSchema: z.object({ order_id: z.string() }),
  execute: async ({ order_id }) => `order ${order_id} is shipped`,
});
const agent = new ToolLoopAgent({
  id: 'order_agent',
  model: model('gpt-5-mini'),
  instructions: 'You look up orders.',
  tools: { lookup_order },
  stopWhen: isStepCount(5),
  telemetry: {
    isEnabled: true,
    functionId: 'order_agent',
    includeRuntimeContext: { sessionId: true, userId: true },
  },
  runtimeContext: { sessionId: 'chat-1', userId: 'ada' },
});
console.log((await agent.generate({ prompt: QUESTION })).text);
await provider.shutdown();
