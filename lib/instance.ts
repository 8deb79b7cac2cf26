import { Aws, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';

/** An id that CDK leaves out of logical ids: the service is then all that the stack is about. */
export const defaultId = 'Default';

/**
 * The name of a service, for what has a name in the console. It is the stack's name, and the
 * service's path below the stack if others may be beside it. Two services of an account and region
 * never share one.
 *
 * @param service the construct of the whole service
 * @returns letters, digits and hyphens, of which the stack's name is a token
 */
export const instanceName = (service: Construct): string => {
  const { scopes } = service.node;
  const below = scopes.slice(scopes.indexOf(Stack.of(service)) + 1).map(({ node }) => node.id);
  const named = below.filter((id) => id !== defaultId).map((id) => id.replaceAll(/[^A-Za-z0-9]+/g, '-'));
  return [Aws.STACK_NAME, ...named].join('-');
};
