/** LangChain.js by OpenInference: a chain, a model with a tool, and the tool. */
import { LangChainInstrumentation } from '@arizeai/openinference-instrumentation-langchain';
import * as callbacks from '@langchain/core/callbacks/manager';
import { ChatPromptTemplate } from '@langchain/core/prompts';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { startTracing } from './tracing.mjs';

const { provider, shutdown } = startTracing('langchain-desk', new OTLPTraceExporter());
const instrumentation = new LangChainInstrumentation();
instrumentation.setTracerProvider(provider);
instrumentation.manuallyInstrument(callbacks);

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const weather = tool(async ({ city }) => `21 degrees in ${city}`, {
  name: 'get_weather',
  description: 'Weather',
  schema,
});
const model = new ChatOpenAI({
  model: 'gpt-4o-mini',
  temperature: 0.3,
  maxRetries: 0,
  configuration: { baseURL: process.env.OPENAI_BASE_URL },
});
const config = { metadata: { session_id: 'thread-1' } };

const prompt = ChatPromptTemplate.fromMessages([
  ['system', 'Be brief.'],
  ['human', '{question}'],
]);
await prompt.pipe(model).invoke({ question: 'Grüße aus Köln' }, { ...config, runName: 'chain' });
const asked = await model.bindTools([weather]).invoke('What is the weather in Paris?', config);
await weather.invoke(asked.tool_calls[0], config);
await model.invoke('simulate an outage', config).catch(() => {});
await shutdown();
