import type { FunctionSpec } from './template/stack.ts';

/**
 * The key that all webhooks of the local service are signed with, `whsec_` and base64: it is no secret.
 */
export const localSigningKey = `whsec_${Buffer.from('the local service, and no other!').toString('base64')}`;

/** URLs of webhooks by their names, the same for all projects. */
export type LocalWebhooks = Readonly<Record<string, string>>;

/**
 * Has the function of alerts tell webhooks in place of those in Systems Manager, which does not run
 * locally, and link to this service.
 *
 * @param url of the service, without a slash at its end
 */
export const withWebhooks = (
  functions: readonly FunctionSpec[],
  url: string,
  webhooks: LocalWebhooks,
): readonly FunctionSpec[] => {
  const secrets = Object.entries(webhooks).map(([name, to]) => [name, { url: to, key: localSigningKey }]);
  const environment = { WEBHOOKS: JSON.stringify(Object.fromEntries(secrets)), SERVICE_URL: url };
  return functions.map((spec) =>
    'WEBHOOKS_PREFIX' in spec.environment
      ? { ...spec, environment: { ...spec.environment, ...environment } }
      : spec,
  );
};
