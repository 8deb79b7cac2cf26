/*
 * Takes the place of `@aws-sdk/middleware-endpoint-discovery` in the bundles (lib/bundles.ts): none
 * of the operations that are used here discovers its endpoint, and the cache for endpoints would be
 * 10 KB of every cold start.
 */

/** Where the SDK would look whether endpoints are to be discovered: nowhere. */
export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {
  environmentVariableSelector: (): undefined => undefined,
  configFileSelector: (): undefined => undefined,
  default: undefined,
};

/** Gives a client's configuration as it is. */
export const resolveEndpointDiscoveryConfig = <Config>(config: Config): Config => config;
