/*
 * Takes the place of `@aws-sdk/credential-provider-node` in the bundles (lib/bundles.ts). Lambda
 * puts a function's credentials into its environment. The code for files, SSO, processes and
 * instance metadata would be 135 KB of every cold start.
 */
export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';
