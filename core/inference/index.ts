export * from './endpoints.ts';
export { type Inference, type InferenceRequest, type PassedOn, passOn } from './pass-on.ts';
export { countRequest, type RateLimit } from './rate.ts';
export { Recording } from './recording.ts';
export { SecretKeys, secretsClient } from './secrets.ts';
export { parseUpstreams, type Upstream } from './upstream.ts';
