/**
 * The `extra_headers` that go to an upstream, in lower case: versions and betas of APIs, ids that a
 * provider repeats or routes by, trace context, and the app's name. None of them is a credential,
 * chooses an account or a model, or switches off what an operator has switched on
 * (docs/decisions/0246).
 */
export const passedHeaders: readonly string[] = [
  'anthropic-beta',
  'anthropic-version',
  'baggage',
  'http-referer',
  'idempotency-key',
  'openai-beta',
  'traceparent',
  'tracestate',
  'user-agent',
  'x-client-request-id',
  'x-grok-conv-id',
  'x-openrouter-categories',
  'x-openrouter-title',
  'x-request-id',
  'x-session-affinity',
  'x-session-id',
  'x-title',
];
