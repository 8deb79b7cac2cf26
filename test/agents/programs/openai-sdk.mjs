/** The OpenAI SDK under an instrumentation; the tool's span is by hand. */
import { trace } from '@opentelemetry/api';
import OpenAI from 'openai';
import { provider } from './tracing.mjs';

const way = process.argv[2];
const { QUESTION } = process.env;
const { instrumentation, toolAttributes } =
  way === 'openllmetry'
    ? {
        instrumentation: new (await import('@traceloop/instrumentation-openai')).OpenAIInstrumentation(),
        toolAttributes: { 'traceloop.span.kind': 'tool', 'traceloop.entity.name': 'lookup_order' },
      }
    : {
        instrumentation: new (
          await import('@arizeai/openinference-instrumentation-openai')
        ).OpenAIInstrumentation(),
        toolAttributes: { 'openinference.span.kind': 'TOOL', 'tool.name': 'lookup_order' },
      };
instrumentation.setTracerProvider(provider);
instrumentation.manuallyInstrument(OpenAI);

const tracer = trace.getTracer('orders');
const inSpan = (name, attributes, run) =>
  tracer.startActiveSpan(name, { attributes }, async (span) => {
    try {
      return await run();
    } finally {
      span.end();
    }
  });

const client = new OpenAI({ maxRetries: 0 });
const model = 'gpt-5-mini';
const parameters = { type: 'object', properties: { order_id: { type: 'string' } }, required: ['order_id'] };
const tools = [
  { type: 'function', function: { name: 'lookup_order', description: 'Look up an order', parameters } },
];

await inSpan('POST /chat', { 'session.id': 'chat-1', 'user.id': 'ada' }, async () => {
  const messages = [
    { role: 'system', content: 'You look up orders.' },
    { role: 'user', content: QUESTION },
  ];
  const { choices } = await client.chat.completions.create({ model, messages, tools });
  const [call] = choices[0].message.tool_calls;
  const content = await inSpan(
    'lookup_order',
    toolAttributes,
    async () => `${call.function.arguments} is shipped`,
  );
  messages.push(choices[0].message, { role: 'tool', tool_call_id: call.id, content });
  const options = { stream: true, stream_options: { include_usage: true } };
  for await (const chunk of await client.chat.completions.create({ model, messages, tools, ...options }))
    process.stdout.write(chunk.choices[0]?.delta?.content ?? '');
});
await provider.shutdown();
