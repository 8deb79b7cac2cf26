/** Mastra: an agent with a tool, and a failure. */
import { createOpenAI } from '@ai-sdk/openai';
import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { Observability } from '@mastra/observability';
import { OtelExporter } from '@mastra/otel-exporter';
import { z } from 'zod';

const openai = createOpenAI({ baseURL: process.env.OPENAI_BASE_URL });
const get_weather = createTool({
  id: 'get_weather',
  description: 'Weather',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ report: `21 degrees in ${city}` }),
});
const weather = new Agent({
  id: 'weather',
  name: 'weather',
  instructions: 'Be brief.',
  model: openai.chat('gpt-4o-mini'),
  tools: { get_weather },
});
const endpoint = `${process.env.OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces`;
const exporter = new OtelExporter({
  provider: { custom: { endpoint, protocol: 'http/protobuf', headers: {} } },
});
const observability = new Observability({
  configs: { otel: { serviceName: 'mastra-desk', exporters: [exporter] } },
});
const mastra = new Mastra({ agents: { weather }, observability, logger: false });

const agent = mastra.getAgent('weather');
const tracingOptions = { metadata: { sessionId: 'sess-1', userId: 'u-1' } };
await agent.generate('What is the weather in Paris?', { tracingOptions });
const none = { maxRetries: 0, modelSettings: { maxRetries: 0 } };
await agent.generate('simulate an outage', { tracingOptions, ...none }).catch(() => {});
await exporter.shutdown();
await mastra.shutdown();
