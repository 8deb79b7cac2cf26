import { context, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { beforeAll, expect, it } from 'vitest';
import { type SharedService, sharedService } from '../../../support/service.ts';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

const exporters = { protobuf: ProtobufExporter, JSON: JsonExporter } as const;

const ways = Object.entries(exporters).flatMap(([name, Exporter]) =>
  (['none', 'gzip'] as const).map((compression) => ({ name, Exporter, compression })),
);

it.each(ways)('OpenTelemetry’s own SDK reports in $name, packed by $compression', async (way) => {
  const project = `acme/sdk-${way.name}-${way.compression}`;
  const exporter = new way.Exporter({
    url: `${service.url}/otel/v1/traces`,
    headers: { authorization: `Bearer ${service.key}` },
    compression: way.compression as never,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'svc.project_id': project, 'service.name': 'shop' }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer('test', '1.0');

  const turn = tracer.startSpan('turn', { attributes: { 'session.id': 'chat-1', tags: ['a', 'b'] } });
  const tool = tracer.startSpan(
    'tool',
    { attributes: { ratio: 0.5 } },
    trace.setSpan(context.active(), turn),
  );
  tool.recordException(new TypeError('no such order'));
  tool.setStatus({ code: SpanStatusCode.ERROR, message: 'failed' });
  tool.end();
  turn.end();
  await provider.forceFlush();
  await provider.shutdown();

  const ids = [turn, tool].map((span) => {
    const { traceId, spanId } = span.spanContext();
    return traceId.slice(16) + spanId;
  });
  const [turnId] = ids;
  const answer = await service.post('/calls/stream_query', {
    project_id: project,
    sort_by: [{ field: 'op_name', direction: 'desc' }],
  });
  const calls = (await answer.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(calls).toMatchObject([
    { id: turnId, op_name: 'turn', parent_id: null, thread_id: 'chat-1', turn_id: turnId, exception: null },
    {
      ...{ id: ids[1], op_name: 'tool', parent_id: turnId, thread_id: 'chat-1', turn_id: turnId },
      exception: expect.stringMatching(/^TypeError: no such order\n/),
      attributes: { ratio: 0.5, otel: { resource: { service: { name: 'shop' } } } },
    },
  ]);
  expect(calls[0].attributes.tags).toEqual(['a', 'b']);
});
