import {
  parseUpstreams,
  SecretKeys,
  secretsClient,
  type UpstreamConfig,
} from '../../../core/doors/inference/index.ts';

const { INFERENCE_UPSTREAMS, AWS_REGION = '' } = process.env;

/**
 * The upstreams, and the reader of their keys. Made once per container; no upstreams if the
 * environment has none.
 */
export const inference: UpstreamConfig = {
  upstreams: parseUpstreams(INFERENCE_UPSTREAMS || '[]', AWS_REGION),
  keys: new SecretKeys(secretsClient),
};
