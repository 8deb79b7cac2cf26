import * as z from 'zod/mini';
import type { WireNames } from '../../core/foundations/wire/index.ts';
import { documented, projectId } from '../../core/foundations/wire/schema.ts';
import { field } from '../answers/fields.ts';
import type { Operations } from '../operation.ts';

const partialSuccess = z
  .object({
    rejectedSpans: z.optional(field(z.string(), 'How many spans were not taken, a 64-bit integer.')),
    errorMessage: z.optional(field(z.string(), 'Why, for each reason.')),
  })
  .register(documented, { name: 'OtlpPartialSuccess' });

const exampleOf = ({ otelProject }: WireNames) => ({
  resourceSpans: [
    {
      resource: {
        attributes: [{ key: otelProject, value: { stringValue: 'acme/shop' } }],
      },
      scopeSpans: [
        {
          scope: { name: 'shop' },
          spans: [
            {
              traceId: '5b8efff798038103d269b633813fc60c',
              spanId: 'eee19b7ec3c1b174',
              name: 'find_order',
              kind: 1,
              startTimeUnixNano: '1790847000200000000',
              endTimeUnixNano: '1790847000900000000',
              attributes: [{ key: 'order', value: { stringValue: '17' } }],
            },
          ],
        },
      ],
    },
  ],
});

/** What the document says of OTLP/HTTP. */
export const otlpOperations = (names: WireNames): Pick<Operations, '/otel/v1/traces'> => ({
  '/otel/v1/traces': [
    {
      name: 'OtlpTraces',
      tag: 'opentelemetry',
      summary: 'Report spans, as OTLP/HTTP',
      description:
        'Stores each span as a call. Set `OTEL_EXPORTER_OTLP_ENDPOINT` to this API with `/otel`, and the key in `OTEL_EXPORTER_OTLP_HEADERS`. The body may be packed with gzip or deflate. The project comes from the resource, else from the header `project_id`. Answers and errors come in the encoding of the request. Spans that cannot be taken are counted in `partialSuccess`, with the reason. The same export may be sent again.',
      form: 'otlp',
      answer: z.object({
        partialSuccess: z.optional(partialSuccess),
      }),
      headers: {
        project_id: {
          schema: projectId,
          description: 'The project of resources that name none, `<entity>/<project>`.',
        },
      },
      examples: { span: { summary: 'One span', body: exampleOf(names), answer: {} } },
    },
  ],
});
