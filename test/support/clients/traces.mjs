/**
 * A program that traces itself and uses the client of JavaScript: it prints which spans are marked by which prompt. With
 * an argument, it also exports its spans there. traces.py is the same in Python.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { context, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { getPrompt } from 'pennytrace-client';
import { PromptSpanProcessor } from 'pennytrace-client/opentelemetry';

const contexts = new AsyncLocalStorage();
context.setGlobalContextManager({
  active: () => contexts.getStore() ?? ROOT_CONTEXT,
  with: (active, run, self, ...args) => contexts.run(active, () => run.apply(self, args)),
  bind: (_, target) => target,
  enable() {},
  disable() {},
});

const spans = new InMemorySpanExporter();
const exporters = [spans, ...process.argv.slice(2).map((url) => new OTLPTraceExporter({ url }))];
const provider = new TracerProvider({
  spanProcessors: [
    ...exporters.map((exporter) => new SimpleSpanProcessor({ exporter })),
    new PromptSpanProcessor(),
  ],
});
trace.setGlobalTracerProvider(provider);
const tracer = trace.getTracer('test');

const inSpan = (name, attributes, run = () => {}) =>
  tracer.startActiveSpan(name, { attributes }, async (span) => {
    await sleep(1);
    await run(span);
    span.end();
  });
const model = (name, attributes = { 'gen_ai.operation.name': 'chat' }) => inSpan(name, attributes);
const get = (name) => getPrompt(name, { fallback: 'Hello' });
/** The context that awaits it is another one than that in which the prompt is compiled. */
const compile = async (name) => (await get(name)).compile();

await inSpan('request', {}, async () => {
  await model('before');
  await compile('one');
  await inSpan('agent', { 'gen_ai.operation.name': 'invoke_agent' }, async () => {
    await model('nested');
    await model('openinference', { 'openinference.span.kind': 'LLM' });
    await model('ai-sdk', { 'ai.operationId': 'ai.generateText.doGenerate' });
    await model('mlflow', { 'mlflow.spanType': '"CHAT_MODEL"' });
    await inSpan('tool', { 'gen_ai.operation.name': 'execute_tool' });
    await inSpan('embedding', { 'gen_ai.operation.name': 'embeddings' });
    await inSpan('http', {});
  });
  await inSpan('late', {}, (span) => span.setAttribute('gen_ai.operation.name', 'chat'));
  await model('own', { 'gen_ai.operation.name': 'chat', 'pennytrace.prompt.name': 'mine' });
  await compile('two');
  await model('second');
  await compile('none');
  await model('fallback');
  await inSpan('helper', {}, () => compile('one'));
  await model('after helper');
  (await get('two')).compile();
  await model('direct');
  await compile('one');
  await model('mixed');
  await Promise.all(
    ['one', 'two'].map(async (name) => {
      (await get(name)).compile();
      await sleep(20);
      await model(`branch ${name}`);
    }),
  );
});
await model('other trace');
await Promise.all(
  ['one', 'two'].map((name) =>
    inSpan(`parallel ${name}`, {}, async () => {
      await compile(name);
      await sleep(20);
      await model(`of ${name}`);
    }),
  ),
);

await provider.forceFlush();
const marks = spans.getFinishedSpans().map(({ name, attributes }) => {
  const { 'pennytrace.prompt.name': prompt, 'pennytrace.prompt.version': version } = attributes;
  return [name, [prompt ?? null, version ?? null]];
});
console.log(JSON.stringify(Object.fromEntries(marks)));
await provider.shutdown();
