/** OpenLLMetry's spans of the OpenAI SDK: a tool call, a stream, embeddings and a failure. */
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { OpenAIInstrumentation } from '@traceloop/instrumentation-openai';
import OpenAI from 'openai';
import { inSpan, startTracing } from './tracing.mjs';

const { tracer, provider, shutdown } = startTracing('openllmetry-desk', new OTLPTraceExporter());
const instrumentation = new OpenAIInstrumentation();
instrumentation.setTracerProvider(provider);
instrumentation.manuallyInstrument(OpenAI);

const openai = new OpenAI({ maxRetries: 0 });
const model = 'gpt-4o-mini';
const tool = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Current weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
};

await inSpan(tracer, 'turn 1', { 'session.id': 'sess-1', 'user.id': 'u-1' }, async () => {
  const question = { role: 'user', content: 'What is the weather in Paris?' };
  const { choices } = await openai.chat.completions.create({ model, messages: [question], tools: [tool] });
  const [{ message }] = choices;
  const result = { role: 'tool', tool_call_id: message.tool_calls[0].id, content: '21 degrees and sunny' };
  await openai.chat.completions.create({ model, messages: [question, message, result], tools: [tool] });
});
await inSpan(tracer, 'turn 2', { 'session.id': 'sess-1', 'user.id': 'u-1' }, async () => {
  const stream = await openai.chat.completions.create({
    model,
    messages: [{ role: 'user', content: 'Merci! 🌦' }],
    stream: true,
    stream_options: { include_usage: true },
  });
  for await (const _ of stream);
});
await openai.embeddings.create({
  model: 'text-embedding-3-small',
  input: ['rain', 'sun'],
  encoding_format: 'float',
});
await openai.chat.completions
  .create({ model, messages: [{ role: 'user', content: 'simulate an outage' }] })
  .catch(() => {});
await shutdown();
