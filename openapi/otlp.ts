import { type ErrorStatus, errorTexts, headersOf } from './errors.ts';
import type { Operation } from './operation.ts';
import { requestExamples } from './response.ts';
import { refTo } from './schema.ts';

const protobuf = (message: string) => ({ schema: { description: `A \`${message}\` in protobuf.` } });

const definitions = 'https://github.com/open-telemetry/opentelemetry-proto';

/** The body of an OTLP export, in each of its encodings. */
export const otlpRequest = (operation: Operation) => ({
  required: true,
  description: `An \`ExportTraceServiceRequest\` as ${definitions} defines it.`,
  content: {
    'application/x-protobuf': protobuf('ExportTraceServiceRequest'),
    'application/json': {
      schema: {
        type: 'object',
        properties: {
          resourceSpans: {
            type: 'array',
            description: 'Resources, each with its spans by scope.',
            items: { type: 'object' },
          },
        },
      },
      examples: requestExamples(operation),
    },
  },
});

/**
 * Statuses that API Gateway answers too. It knows one shape for all endpoints, whatever they take.
 */
const ofGateway: readonly ErrorStatus[] = [401, 413, 429, 500, 502, 503, 504];

const status = {
  type: 'object',
  description: 'A `google.rpc.Status`.',
  properties: {
    code: { type: 'integer', description: 'A code of `google.rpc.Code`.' },
    message: { type: 'string', description: 'What is wrong, and what to do about it.' },
  },
};

/** An error of an OTLP endpoint, in the encoding of the request. */
export const otlpError = (httpStatus: ErrorStatus) => ({
  description: errorTexts[httpStatus],
  headers: headersOf(httpStatus),
  content: {
    'application/json': {
      schema: ofGateway.includes(httpStatus) ? { anyOf: [status, refTo('Error')] } : status,
    },
    'application/x-protobuf': protobuf('google.rpc.Status'),
  },
});
