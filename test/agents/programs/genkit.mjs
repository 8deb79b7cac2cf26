/** A flow of Genkit. */
process.env.GENKIT_ENV = 'prod';
const { openAICompatible } = await import('@genkit-ai/compat-oai');
const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
const { BatchSpanProcessor } = await import('@opentelemetry/sdk-trace-base');
const { genkit, z } = await import('genkit');
const { enableTelemetry, flushTracing } = await import('genkit/tracing');

const { OPENAI_BASE_URL, OPENAI_API_KEY, QUESTION } = process.env;
const processor = new BatchSpanProcessor(new OTLPTraceExporter());
await enableTelemetry({ serviceName: 'orders', spanProcessors: [processor], instrumentations: [] });
const ai = genkit({
  plugins: [openAICompatible({ name: 'scripted', apiKey: OPENAI_API_KEY, baseURL: OPENAI_BASE_URL })],
});
const lookupOrder = ai.defineTool(
  {
    name: 'lookup_order',
    description: 'Look up an order',
    inputSchema: z.object({ order_id: z.string() }),
    outputSchema: z.string(),
  },
  async ({ order_id }) => `order ${order_id} is shipped`,
);
const flow = ai.defineFlow(
  { name: 'support', inputSchema: z.string(), outputSchema: z.string() },
  async (prompt) =>
    (
      await ai.generate({
        model: 'scripted/gpt-5-mini',
        system: 'You look up orders.',
        prompt,
        tools: [lookupOrder],
      })
    ).text,
);
console.log(await flow(QUESTION));
await processor.forceFlush();
await flushTracing?.();
