import { otelTraces } from '../../api/otel.ts';

/** `/otel/v1/traces` where Weave's SDKs look for it. One function serves both. */
export const agentsOtelTraces = {
  ...otelTraces,
  path: '/agents/otel/v1/traces' as const,
  tag: 'weave' as const,
  operations: [
    {
      name: 'AgentsOtlpTraces',
      summary: "Report spans, as Weave's SDKs do",
      description:
        "Where Weave's SDKs send conversations, agents, turns and tools, from 0.54 on. It takes and answers what `/otel/v1/traces` does.",
      examples: {
        none: {
          summary: 'A resource without spans',
          body: {
            resourceSpans: [
              {
                resource: {
                  attributes: [{ key: 'weave.project_id', value: { stringValue: 'acme/shop' } }],
                },
              },
            ],
          },
          answer: {},
        },
      },
    },
  ],
};
