import * as z from 'zod/mini';
import { documented, field, projectId } from '../foundations/wire/schema.ts';
import { batch, endpoint, oneAnswer } from './endpoint.ts';

/** What was not taken of an export, as OTLP says it: the same for all signals but for a name. */
const exportAnswer = (name: string, rejected: string, what: string) => {
  const partialSuccess = z
    .object({
      [rejected]: field(z.optional(z.string()), `How many ${what} were not taken, a 64-bit integer.`),
      errorMessage: field(z.optional(z.string()), 'Why, for each reason.'),
    })
    .register(documented, { name });
  return z.object({
    partialSuccess: field(z.optional(partialSuccess), 'What was not taken; absent if all was.'),
  });
};

const resource = { attributes: [{ key: 'svc.project_id', value: { stringValue: 'acme/shop' } }] };

const span = {
  traceId: '5b8efff798038103d269b633813fc60c',
  spanId: 'eee19b7ec3c1b174',
  name: 'find_order',
  kind: 1,
  startTimeUnixNano: '1790847000200000000',
  endTimeUnixNano: '1790847000900000000',
  attributes: [{ key: 'order', value: { stringValue: '17' } }],
};

/**
 * Log records report calls, join them, and judge them. A call that another takes the place of goes.
 */
const joining = { calls: 'join', payloads: 'delete', bookkeeping: 'note', feedback: 'verdict' } as const;

/** Spans do so, too, and meet the others of their trace. */
const meeting = { ...joining, calls: 'meet' } as const;

const headers = () => ({
  project_id: field(projectId, 'The project of resources that name none, `<entity>/<project>`.'),
});

export const otelTraces = /* @__PURE__ */ endpoint({
  path: '/otel/v1/traces',
  scheme: 'any',
  role: 'report',
  tag: 'opentelemetry',
  shape: batch,
  stores: meeting,
  name: 'OtlpTraces',
  summary: 'Report spans, as OTLP/HTTP',
  description:
    'Stores each span as a call. Set `OTEL_EXPORTER_OTLP_ENDPOINT` to this API with `/otel`, and the key in `OTEL_EXPORTER_OTLP_HEADERS`. The body may be packed with gzip or deflate. The project comes from the resource, else from the header `project_id`. Answers and errors come in the encoding of the request. Spans of a coding agent meet its log records: one call for each operation. Spans that cannot be taken are counted in `partialSuccess`, with the reason; so are the technical ones of Codex. The same export may be sent again. A key with the role `report` only adds calls: their spans meet no others.',
  form: 'otlp',
  // Resources and a header name the projects.
  projects: () => [],
  headers,
  answer: () => exportAnswer('OtlpPartialSuccess', 'rejectedSpans', 'spans'),
  examples: {
    span: {
      summary: 'One span',
      body: {
        resourceSpans: [
          {
            resource,
            scopeSpans: [{ scope: { name: 'shop' }, spans: [span] }],
          },
        ],
      },
      answer: {},
    },
  },
});

const prompt = {
  timeUnixNano: '1790760601000000000',
  body: { stringValue: 'claude_code.user_prompt' },
  attributes: Object.entries({
    'session.id': 'session-1',
    'prompt.id': 'prompt-1',
    prompt: 'fix the build',
  }).map(([key, stringValue]) => ({ key, value: { stringValue } })),
};

export const otelLogs = /* @__PURE__ */ endpoint({
  path: '/otel/v1/logs',
  scheme: 'any',
  role: 'write',
  tag: 'opentelemetry',
  shape: batch,
  stores: { ...joining, calls: 'settle' },
  name: 'OtlpLogs',
  summary: 'Report log records, as OTLP/HTTP',
  description:
    'Records with the content of a request join the call of the span that they name, whichever comes first. Records of coding agents (Claude Code, Codex) become calls of a thread for each session, together with the spans of the agent. A `gen_ai.evaluation.result` becomes feedback on the call of its span, else of its `gen_ai.response.id`. All others are left out, and counted in `partialSuccess` with the reason. Encodings, projects and errors are those of `/otel/v1/traces`. The same export may be sent again.',
  form: 'otlp',
  // Resources and a header name the projects.
  projects: () => [],
  headers,
  answer: () => exportAnswer('OtlpLogsPartialSuccess', 'rejectedLogRecords', 'records'),
  examples: {
    prompt: {
      summary: 'A prompt of a coding agent',
      body: {
        resourceLogs: [
          {
            resource,
            scopeLogs: [{ scope: { name: 'com.anthropic.claude_code.events' }, logRecords: [prompt] }],
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
  role: 'report',
  tag: 'opentelemetry',
  shape: oneAnswer,
  stores: {},
  name: 'OtlpMetrics',
  summary: 'Take metrics, and drop them',
  description:
    'Accepts metrics that exporters send in addition to spans. Nothing is kept: `partialSuccess` counts the data points that were dropped. Encodings, projects and errors are those of `/otel/v1/traces`.',
  form: 'otlp',
  // Resources and a header name the projects.
  projects: () => [],
  headers,
  answer: () => exportAnswer('OtlpMetricsPartialSuccess', 'rejectedDataPoints', 'data points'),
  examples: {
    none: {
      summary: 'A resource without metrics',
      body: {
        resourceMetrics: [{ resource }],
      },
      answer: {},
    },
  },
});

/** The endpoints of this file. Their examples run in this order. */
export const otelRoutes = [otelTraces, otelLogs, otelMetrics] as const;
