/**
 * A small agent that is traced with plain OpenTelemetry, by its conventions for generative AI. Its
 * tracing knows nothing of this service: the exporter reads from the environment where to send to.
 *
 *     OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:8787/otel \
 *     OTEL_EXPORTER_OTLP_HEADERS='authorization=Bearer%20svc_…,project_id=demo/weather' \
 *     npx node examples/otel-agent.ts
 *
 * With PENNYTRACE_URL and PENNYTRACE_KEY it also reads its calls back.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Attributes, context, type Span, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';

const provider = new TracerProvider({
  resource: resourceFromAttributes({ 'service.name': 'weather-agent' }),
  spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
});
const tracer = provider.getTracer('weather-agent');

/** Runs an operation as a span below another one. It is in error if the operation throws. */
const traced = async <T>(
  name: string,
  parent: Span | undefined,
  attributes: Attributes,
  operation: (span: Span) => Promise<T>,
): Promise<T> => {
  const around = parent ? trace.setSpan(context.active(), parent) : context.active();
  const span = tracer.startSpan(name, { attributes }, around);
  try {
    return await operation(span);
  } catch (error) {
    span.recordException(error instanceof Error ? error : String(error));
    span.setStatus({ code: SpanStatusCode.ERROR, message: String(error) });
    throw error;
  } finally {
    span.end();
  }
};

interface Message {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly content: string;
}

/** Messages as `gen_ai.input.messages` has them. */
const asParts = (messages: readonly Message[]): string =>
  JSON.stringify(messages.map(({ role, content }) => ({ role, parts: [{ type: 'text', content }] })));

/** Stands for a model: it puts the last message into a sentence. */
const chat = (messages: readonly Message[], parent: Span): Promise<string> =>
  traced(
    'chat scripted-model',
    parent,
    {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'scripted-model',
      'gen_ai.input.messages': asParts(messages),
    },
    async (span) => {
      await sleep(40);
      const content = `Here is what I found: ${messages.at(-1)?.content ?? ''}.`;
      span.setAttributes({
        'gen_ai.usage.input_tokens': JSON.stringify(messages).length >> 2,
        'gen_ai.usage.output_tokens': content.split(' ').length,
        'gen_ai.output.messages': asParts([{ role: 'assistant', content }]),
      });
      return content;
    },
  );

const forecasts: Readonly<Record<string, string>> = { Paris: '21 degrees and sunny' };

const getForecast = (city: string, parent: Span): Promise<string> =>
  traced(
    'execute_tool get_forecast',
    parent,
    {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'get_forecast',
      'gen_ai.tool.call.arguments': JSON.stringify({ city }),
    },
    async (span) => {
      await sleep(20);
      const forecast = forecasts[city];
      if (forecast === undefined) throw new Error(`no forecast for ${city}`);
      span.setAttribute('gen_ai.tool.call.result', forecast);
      return forecast;
    },
  );

/** One turn of a conversation. Returns the id of its trace. */
const turn = (city: string, conversation: string): Promise<string> =>
  traced(
    'invoke_agent weather',
    undefined,
    {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'weather',
      'gen_ai.conversation.id': conversation,
      'user.id': 'ada',
      'gen_ai.input.messages': asParts([{ role: 'user', content: `The weather in ${city}?` }]),
    },
    async (span) => {
      const question: Message = { role: 'user', content: `The weather in ${city}?` };
      const found = await getForecast(city, span).catch(String);
      const answer = await chat([question, { role: 'tool', content: found }], span);
      span.setAttribute('gen_ai.output.messages', asParts([{ role: 'assistant', content: answer }]));
      console.log(`user:  ${question.content}\nagent: ${answer}`);
      return span.spanContext().traceId;
    },
  );

interface AnsweredCall {
  readonly op_name: string;
  readonly attributes: { readonly kind: string };
  readonly summary: { readonly svc: { readonly status: string } };
}

/** Prints the calls of a trace: they have its id. */
const show = async (url: string, key: string, project: string, traceId: string): Promise<void> => {
  const response = await fetch(`${url}/calls/stream_query`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ project_id: project, filter: { trace_ids: [traceId] } }),
  });
  if (!response.ok) throw new Error(`the service answered ${response.status}: ${await response.text()}`);
  for (const line of (await response.text()).trim().split('\n')) {
    const { op_name: name, attributes, summary }: AnsweredCall = JSON.parse(line);
    console.log(`  ${name.padEnd(28)}${attributes.kind.padEnd(8)}${summary.svc.status}`);
  }
};

const conversation = `weather-${Date.now()}`;
console.log(`\nAn agent that is traced with OpenTelemetry (conversation ${conversation}):`);
const traceId = await turn('Paris', conversation);
await turn('Atlantis', conversation);
await provider.shutdown();

const {
  PENNYTRACE_URL: url,
  PENNYTRACE_KEY: key,
  PENNYTRACE_PROJECT: project = 'demo/weather',
} = process.env;
if (url !== undefined && key !== undefined) {
  console.log(`\nThe trace ${traceId} as calls of ${project}:`);
  await show(url, key, project, traceId);
}
