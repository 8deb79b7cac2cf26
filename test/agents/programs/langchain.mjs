/** An agent of LangChain.js, by OpenInference. */
import { LangChainInstrumentation } from '@arizeai/openinference-instrumentation-langchain';
import * as callbacks from '@langchain/core/callbacks/manager';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent } from 'langchain';
import { z } from 'zod';
import { provider } from './tracing.mjs';

const instrumentation = new LangChainInstrumentation();
instrumentation.setTracerProvider(provider);
instrumentation.manuallyInstrument(callbacks);

const lookupOrder = tool(async ({ order_id }) => `order ${order_id} is shipped`, {
  name: 'lookup_order',
  description: 'Look up an order',
  schema: z.object({ order_id: z.string() }),
});
const agent = createAgent({
  name: 'order_agent',
  model: new ChatOpenAI({
    model: 'gpt-5-mini',
    maxRetries: 0,
    configuration: { baseURL: process.env.OPENAI_BASE_URL },
  }),
  tools: [lookupOrder],
  systemPrompt: 'You look up orders.',
});
const question = { messages: [{ role: 'user', content: process.env.QUESTION }] };
const { messages } = await agent.invoke(question, { metadata: { session_id: 'chat-1' } });
console.log(messages.at(-1).content);
await provider.shutdown();
