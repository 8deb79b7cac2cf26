import * as z from 'zod/mini';
import { documented, field, projectId } from '../foundations/wire/schema.ts';
import { reporting } from './calls.ts';
import { batch, endpoint, oneAnswer } from './endpoint.ts';

const partialSuccess = () =>
  z
    .object({
      rejectedSpans: field(z.optional(z.string()), 'How many spans were not taken, a 64-bit integer.'),
      errorMessage: field(z.optional(z.string()), 'Why, for each reason.'),
    })
    .register(documented, { name: 'OtlpPartialSuccess' });

const span = {
  traceId: '5b8efff798038103d269b633813fc60c',
  spanId: 'eee19b7ec3c1b174',
  name: 'find_order',
  kind: 1,
  startTimeUnixNano: '1790847000200000000',
  endTimeUnixNano: '1790847000900000000',
  attributes: [{ key: 'order', value: { stringValue: '17' } }],
};

const headers = () => ({
  project_id: field(projectId, 'The project of resources that name none, `<entity>/<project>`.'),
});

export const otelTraces = /* @__PURE__ */ endpoint({
  path: '/otel/v1/traces',
  scheme: 'any',
  role: 'write',
  shape: batch,
  stores: reporting,
  tag: 'opentelemetry',
  name: 'OtlpTraces',
  summary: 'Report spans, as OTLP/HTTP',
  description:
    'Stores each span as a call. Set `OTEL_EXPORTER_OTLP_ENDPOINT` to this API with `/otel`, and the key in `OTEL_EXPORTER_OTLP_HEADERS`. The body may be packed with gzip or deflate. The project comes from the resource, else from the header `project_id`. Answers and errors come in the encoding of the request. Spans that cannot be taken are counted in `partialSuccess`, with the reason. The same export may be sent again.',
  form: 'otlp',
  // Resources and a header name the projects.
  projects: () => [],
  answer: () =>
    z.object({
      partialSuccess: field(z.optional(partialSuccess()), 'What was not taken; absent if all was.'),
    }),
  headers,
  examples: {
    span: {
      summary: 'One span',
      body: {
        resourceSpans: [
          {
            resource: { attributes: [{ key: 'svc.project_id', value: { stringValue: 'acme/shop' } }] },
            scopeSpans: [{ scope: { name: 'shop' }, spans: [span] }],
          },
        ],
      },
      answer: {},
    },
  },
});

export const otelMetrics = /* @__PURE__ */ endpoint({
  path: '/otel/v1/metrics',
  scheme: 'any',
  role: 'write',
  shape: oneAnswer,
  stores: {},
  tag: 'opentelemetry',
  name: 'OtlpMetrics',
  summary: 'Take metrics, and drop them',
  description:
    'Answers exporters that send metrics beside spans, so that they log no errors. Nothing is kept of them. Encodings, projects and errors are those of `/otel/v1/traces`.',
  form: 'otlp',
  // Resources and a header name the projects.
  projects: () => [],
  answer: () => z.object({}),
  headers,
  examples: {
    none: {
      summary: 'A resource without metrics',
      body: {
        resourceMetrics: [
          { resource: { attributes: [{ key: 'svc.project_id', value: { stringValue: 'acme/shop' } }] } },
        ],
      },
      answer: {},
    },
  },
});
