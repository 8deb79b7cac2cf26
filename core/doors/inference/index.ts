export { type Attribution, attribute } from './attribution.ts';
export {
  type CachedRequest,
  keepAnswer,
  parseCacheTtl,
  readCachedAnswer,
} from './cache.ts';
export { SecretKeys, secretsClient } from './credentials.ts';
export { getEndUser } from './end-user.ts';
export { anthropicError, openAiError } from './error.ts';
export { type ForwardedAnswer, forward, type InferenceRequest, type UpstreamConfig } from './forward.ts';
export { getModel, type ListedModel, listModels, toAnthropic, toOpenAi } from './models.ts';
export { countRequest, type RateLimit } from './rate.ts';
export { Recording } from './recording.ts';
export { replay } from './replay.ts';
export * from './request.ts';
export {
  costAtMost,
  findMostExpensive,
  type LookAtLimits,
  neverReached,
  Spending,
  type Unpriced,
} from './spending.ts';
export { candidatesFor, parseUpstreams, type Upstream, unknownModel } from './upstream.ts';
export { askForUsage } from './usage.ts';
