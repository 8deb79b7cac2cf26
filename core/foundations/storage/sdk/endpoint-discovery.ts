/*
 * Takes the place of `@aws-sdk/middleware-endpoint-discovery` in the bundles (lib/bundles.ts). No
 * operation that we use discovers its endpoint. The cache for endpoints would be 10 KB of every
 * cold start.
 */

/** Where the SDK looks up whether to discover endpoints: nowhere. */
export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {
  environmentVariableSelector: (): undefined => undefined,
  configFileSelector: (): undefined => undefined,
  default: undefined,
};

/** Returns a client's configuration as it is. */
export const resolveEndpointDiscoveryConfig = <Config>(config: Config): Config => config;
