/** An agent of Mastra whose tool a person has to approve, with its exporter for OpenTelemetry. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import { InMemoryStore } from '@mastra/core/storage';
import { createTool } from '@mastra/core/tools';
import { Observability } from '@mastra/observability';
import { OtelExporter } from '@mastra/otel-exporter';
import { z } from 'zod';

const { OPENAI_BASE_URL, OPENAI_API_KEY, QUESTION, PAUSE_S } = process.env;
const { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS } = process.env;
const headers = Object.fromEntries(
  OTEL_EXPORTER_OTLP_HEADERS.split(',').map((each) => each.split('=').map(decodeURIComponent)),
);
const model = createOpenAICompatible({
  name: 'scripted',
  baseURL: OPENAI_BASE_URL,
  apiKey: OPENAI_API_KEY,
  includeUsage: true,
});
const lookup_order = createTool({
  id: 'lookup_order',
  description: 'Look up an order',
  inputSchema: z.object({ order_id: z.string() }),
  requireApproval: true,
  execute: async () => ({ status: 'shipped' }),
});
const order_agent = new Agent({
  id: 'order_agent',
  name: 'order_agent',
  instructions: 'You look up orders.',
  model: model('gpt-5-mini'),
  tools: { lookup_order },
});
const endpoint = `${OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces`;
const exporter = new OtelExporter({ provider: { custom: { endpoint, protocol: 'http/protobuf', headers } } });
const mastra = new Mastra({
  agents: { order_agent },
  storage: new InMemoryStore(),
  observability: new Observability({ configs: { otel: { serviceName: 'orders', exporters: [exporter] } } }),
});
const metadata = { sessionId: 'chat-1', userId: 'ada' };
const agent = mastra.getAgent('order_agent');
const asked = await agent.generate(QUESTION, { tracingOptions: { metadata } });
await new Promise((resolve) => setTimeout(resolve, 1000 * Number(PAUSE_S)));
const { toolCallId } = asked.suspendPayload ?? {};
const said = await agent.approveToolCallGenerate({
  runId: asked.runId,
  toolCallId,
  tracingOptions: { metadata },
});
console.log(said.text);
await mastra.observability?.shutdown?.();
await mastra.shutdown?.();
process.exit(0);
