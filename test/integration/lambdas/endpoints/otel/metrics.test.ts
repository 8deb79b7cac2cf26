import { gzipSync } from 'node:zlib';
import { ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { describe, expect, it } from 'vitest';
import { attributes, decodeAnswer, decodeStatus } from '../../../../support/otel/otel.ts';
import { bearer } from '../../../security/credentials.ts';
import { writerFor } from './writer.ts';

const protobuf = 'application/x-protobuf';
const json = 'application/json';

const writer = writerFor('metrics');

const send = (
  body: Uint8Array<ArrayBuffer> | string,
  headers: Readonly<Record<string, string>>,
): Promise<Response> =>
  fetch(`${writer.service.url}/otel/v1/metrics`, {
    method: 'POST',
    headers: { authorization: bearer(writer.key), ...headers },
    body,
  });

/** What OpenTelemetry's SDK sends of a counter, in protobuf. */
const counted = async (project: string): Promise<Uint8Array<ArrayBuffer>> => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const provider = new MeterProvider({
    resource: resourceFromAttributes({ 'svc.project_id': project }),
    readers: [new PeriodicExportingMetricReader({ exporter })],
  });
  provider.getMeter('shop').createCounter('orders').add(3, { region: 'eu' });
  await provider.forceFlush();
  const [metrics] = exporter.getMetrics();
  await provider.shutdown();
  if (!metrics) throw new Error('a counter was exported');
  return new Uint8Array(ProtobufMetricsSerializer.serializeRequest(metrics) ?? []);
};

/** A metric of each kind, one of them with two data points. */
const dataOfEachKind = [
  { sum: { dataPoints: [{}, {}] } },
  ...['gauge', 'histogram', 'exponentialHistogram', 'summary'].map((kind) => ({
    [kind]: { dataPoints: [{}] },
  })),
];

const toJson = (project: string, metrics: readonly object[] = []) =>
  JSON.stringify({
    resourceMetrics: [
      {
        resource: { attributes: attributes({ 'svc.project_id': project }) },
        scopeMetrics: [{ metrics }],
      },
    ],
  });

describe('metrics', () => {
  it('are dropped in each encoding and packing, as the answer says', async () => {
    const bytes = await counted('acme/metrics');
    for (const [body, headers] of [
      [bytes, { 'content-type': protobuf }],
      [new Uint8Array(gzipSync(bytes)), { 'content-type': protobuf, 'content-encoding': 'gzip' }],
      [new Uint8Array(), { 'content-type': protobuf }],
    ] as const) {
      const answer = await send(body, headers);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, protobuf]);
      // The response of each signal has the same fields, by their numbers.
      const decoded = decodeAnswer(new Uint8Array(await answer.arrayBuffer()));
      const dropped = { rejected: 1, message: expect.stringContaining('OTEL_METRICS_EXPORTER=none') };
      expect(decoded).toEqual(body.length > 0 ? dropped : { rejected: 0, message: '' });
    }
    const empty = await send(toJson('acme/metrics'), { 'content-type': json });
    expect([empty.status, await empty.text()]).toEqual([200, '{}\n']);
    const answer = await send(toJson('acme/metrics', dataOfEachKind), { 'content-type': json });
    expect(await answer.json()).toMatchObject({ partialSuccess: { rejectedDataPoints: '6' } });
  });

  it.each([
    ['a body that is no JSON', '{', json, 400, 3],
    ['a body that is no export', '{"resourceMetrics":7}', json, 400, 3],
    ['no project', '{"resourceMetrics":[{}]}', json, 400, 3],
    ["another's project", toJson('other/shop'), json, 403, 7],
    ['another content type', '{}', 'text/plain', 415, 3],
  ])('with %s are refused as spans are', async (_, body, type, status, code) => {
    const answer = await send(body, { 'content-type': type });
    expect([answer.status, ((await answer.json()) as { code: number }).code]).toEqual([status, code]);
  });

  it('that are no protobuf are refused in protobuf', async () => {
    const answer = await send(new Uint8Array([0x0a, 0x7f, 1]), { 'content-type': protobuf });
    expect(answer.status).toBe(400);
    expect(decodeStatus(Buffer.from(await answer.arrayBuffer()))).toMatchObject({ code: 3 });
  });
});
