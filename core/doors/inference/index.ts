export { SecretKeys, secretsClient } from './credentials.ts';
export { openAiError } from './error.ts';
export { type ForwardedAnswer, forward, type InferenceRequest, type UpstreamConfig } from './forward.ts';
export { countRequest, type RateLimit } from './rate.ts';
export { Recording } from './recording.ts';
export * from './request.ts';
export { costAtMost, dearestOf, type LookAtLimits, neverReached, Spending, type Unpriced } from './spending.ts';
export { candidatesFor, parseUpstreams, type Upstream } from './upstream.ts';
export { askForUsage } from './usage.ts';
