/**
 * A program that answers customers by the prompt `support`: a question a line, of which it prints the version that it
 * used, the model's answer and the call of its trace. It traces itself by OpenTelemetry, to the URL of its argument; the
 * variables of OpenAI's SDK say where its model is.
 */
import { createInterface } from 'node:readline';
import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { PennytraceClient } from 'pennytrace-client';
import { PromptSpanProcessor } from 'pennytrace-client/opentelemetry';

const exporter = new OTLPTraceExporter({ url: process.argv[2] });
const provider = new TracerProvider({
  spanProcessors: [new PromptSpanProcessor(), new SimpleSpanProcessor({ exporter })],
});
const tracer = provider.getTracer('support');
const client = new PennytraceClient({ cacheSeconds: 1 });

/** Asks the model, in a span as instrumentations make it. */
const chat = async (model, messages, context) => {
  const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': model };
  const span = tracer.startSpan('chat', { attributes }, context);
  const response = await fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model, messages }),
  });
  const { choices, usage } = await response.json();
  const { content } = choices[0].message;
  span.setAttributes({
    'gen_ai.input.messages': JSON.stringify(messages),
    'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', content }]),
    'gen_ai.usage.input_tokens': usage.prompt_tokens,
    'gen_ai.usage.output_tokens': usage.completion_tokens,
  });
  span.end();
  return { content, span };
};

for await (const question of createInterface({ input: process.stdin })) {
  const turn = tracer.startSpan('support.turn', {}, ROOT_CONTEXT);
  const prompt = await client.getPrompt('support', { fallback: [{ role: 'user', content: '{question}' }] });
  const messages = prompt.compile({ question });
  const { content, span } = await chat(prompt.config.model, messages, trace.setSpan(ROOT_CONTEXT, turn));
  turn.end();
  await provider.forceFlush();
  const { traceId, spanId } = span.spanContext();
  console.log(
    JSON.stringify({ version: prompt.versionIndex, answer: content, call: traceId.slice(16) + spanId }),
  );
}
await provider.shutdown();
