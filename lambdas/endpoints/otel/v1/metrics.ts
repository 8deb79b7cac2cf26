import { otelMetrics } from '../../../../api/otel.ts';
import { checkMetrics, encodeMetricsAnswer } from '../../../../core/doors/otel/index.ts';
import { otlpEndpoint } from '../endpoint.ts';

/** `POST /otel/v1/metrics`: OTLP/HTTP. Metrics are checked and dropped. */
export const handler = otlpEndpoint(
  otelMetrics,
  async ({ bytes, encoding, packing, maxBytes, selection }) => {
    return { rows: 0, rejected: await checkMetrics(bytes, encoding, packing, selection, maxBytes) };
  },
  encodeMetricsAnswer,
);
