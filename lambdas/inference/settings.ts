import {
  parseUpstreams,
  type RateLimit,
  SecretKeys,
  secretsClient,
  type UpstreamConfig,
} from '../../core/doors/inference/index.ts';
import { dynamodbClient } from '../../core/foundations/storage/index.ts';

const { INFERENCE_UPSTREAMS, INFERENCE_RATE, RATES_TABLE, AWS_REGION = '' } = process.env;

/**
 * The upstreams, and the reader of their keys. Made once per container; no upstreams if the
 * environment has none.
 */
export const inference: UpstreamConfig = {
  upstreams: parseUpstreams(INFERENCE_UPSTREAMS || '[]', AWS_REGION),
  keys: new SecretKeys(secretsClient),
};

/** How many requests a key may make; undefined for any number. */
export const rateLimit: RateLimit | undefined =
  INFERENCE_RATE && RATES_TABLE
    ? { table: { client: dynamodbClient(), name: RATES_TABLE }, perMinute: Number(INFERENCE_RATE) }
    : undefined;
