/** The AI SDK of Vercel: an agent with a tool, an object, and one value to embed. */
import { createOpenAI } from '@ai-sdk/openai';
import { OpenTelemetry } from '@ai-sdk/otel';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { embed, generateText, jsonSchema, registerTelemetry, stepCountIs, tool } from 'ai';
import { startTracing } from './tracing.mjs';

const { shutdown } = startTracing('ai-sdk-desk', new OTLPTraceExporter());
registerTelemetry(new OpenTelemetry());

const openai = createOpenAI({ baseURL: process.env.OPENAI_BASE_URL });
const telemetry = { isEnabled: true, functionId: 'weather' };
const inputSchema = jsonSchema({
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
});
const get_weather = tool({
  description: 'Weather',
  inputSchema,
  execute: async ({ city }) => `21 degrees in ${city}`,
});

await generateText({
  model: openai.chat('gpt-4o-mini'),
  prompt: 'What is the weather in Paris?',
  tools: { get_weather },
  stopWhen: stepCountIs(3),
  telemetry,
});
await embed({ model: openai.embedding('text-embedding-3-small'), value: 'rain', telemetry });
await generateText({
  model: openai.chat('gpt-4o-mini'),
  prompt: 'simulate an outage',
  maxRetries: 0,
  telemetry,
}).catch(() => {});
await shutdown();
