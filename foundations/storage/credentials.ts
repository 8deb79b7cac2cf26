/*
 * Takes the place of `@aws-sdk/credential-provider-node` in the bundles (lib/bundles.ts): Lambda
 * puts a function's credentials into its environment.
 */
export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';
