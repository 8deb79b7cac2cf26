/** The plain SDK: GenAI attributes written by hand, JSON, children exported before parents. */
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import OpenAI from 'openai';
import { inSpan, startTracing } from './tracing.mjs';

const { tracer, provider, shutdown } = startTracing('plain-desk', new OTLPTraceExporter());
const openai = new OpenAI({ maxRetries: 0 });

const parts = (messages) =>
  JSON.stringify(messages.map(({ role, content }) => ({ role, parts: [{ type: 'text', content }] })));

const chat = (messages) => {
  const model = 'gpt-4o-mini';
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': model,
    'gen_ai.request.temperature': 0,
    'gen_ai.input.messages': parts(messages),
  };
  return inSpan(tracer, `chat ${model}`, attributes, async (span) => {
    const {
      model: answered,
      choices,
      usage,
    } = await openai.chat.completions.create({ model, messages, temperature: 0 });
    span.setAttributes({
      'gen_ai.response.model': answered,
      'gen_ai.usage.input_tokens': usage.prompt_tokens,
      'gen_ai.usage.output_tokens': usage.completion_tokens,
      'gen_ai.output.messages': parts([choices[0].message]),
    });
    return choices[0].message.content;
  });
};

const lookUp = (city) =>
  inSpan(
    tracer,
    'execute_tool get_weather',
    {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'get_weather',
      'gen_ai.tool.call.arguments': JSON.stringify({ city }),
    },
    async (span) => {
      if (city === 'Atlantis') throw new Error(`no weather for ${city}`);
      span.setAttribute('gen_ai.tool.call.result', '21 degrees and sunny');
      return '21 degrees and sunny';
    },
  );

const turn = (question, city) =>
  inSpan(
    tracer,
    'invoke_agent weather',
    {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'weather',
      'gen_ai.conversation.id': 'conv-1',
      'user.id': 'u-1',
      'gen_ai.input.messages': parts([{ role: 'user', content: question }]),
    },
    async (span) => {
      const weather = await lookUp(city);
      await provider.forceFlush();
      const text = await chat([{ role: 'user', content: `${question} ${weather}` }]);
      span.setAttribute('gen_ai.output.messages', parts([{ role: 'assistant', content: text }]));
    },
  );

await turn('Wie ist das Wetter in Zürich?', 'Zürich');
await turn('And in Atlantis?', 'Atlantis').catch(() => {});
await chat([{ role: 'user', content: 'simulate an outage' }]).catch(() => {});
await shutdown();
